package validations_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestAHostCannotFloodItsCluster: a report of megabytes is looked at after every
// reply of every host of the cluster.
func TestAHostCannotFloodItsCluster(t *testing.T) {
	g := NewWithT(t)
	remote := wire.ConnectivityRemoteHost{HostID: "b"}
	for i := range 50_000 {
		remote.L2Connectivity = append(remote.L2Connectivity,
			wire.L2Connectivity{RemoteIPAddress: "192.0.2.7", RemoteMAC: fmt.Sprintf("52:54:%08x", i)}, wire.L2Connectivity{RemoteIPAddress: fmt.Sprint(i), RemoteMAC: "52:54:00:00:00:01"})
	}
	report, err := json.Marshal(wire.ConnectivityReport{RemoteHosts: []wire.ConnectivityRemoteHost{remote, remote}})
	g.Expect(err).NotTo(HaveOccurred())
	member := validations.Decode(&wire.Host{ID: "a", Connectivity: string(report)}, validations.Known{}).Member()
	g.Expect(member.Strangers).To(And(ContainElement(validations.Stranger{Address: "192.0.2.7", MAC: "52:54:00000000"}), HaveLen(1000)))
}

func TestSubnetsOfAHost(t *testing.T) {
	for name, tc := range map[string]struct {
		addresses []string
		says      string
	}{
		"apart":              {[]string{"192.0.2.5/25", "192.0.2.130/25", "2001:db8::1/64"}, ""},
		"twice the same":     {[]string{"192.0.2.5/24", "192.0.2.6/24"}, ""},
		"single addresses":   {[]string{"192.0.2.5/24", "192.0.2.6/32", "2001:db8::1/64", "2001:db8::2/128"}, ""},
		"one in the other":   {[]string{"192.0.2.130/25", "192.0.2.5/24"}, "192.0.2.0/24 (eth1) and 192.0.2.128/25 (eth0)"},
		"others in between":  {[]string{"10.0.0.1/8", "192.0.2.1/24", "10.9.0.1/16", "10.1.0.1/24"}, "10.0.0.0/8 (eth0) and 10.1.0.0/24 (eth3)"},
		"the same beginning": {[]string{"2001:db8::1/64", "2001:db8::2/48"}, "2001:db8::/48 (eth1) and 2001:db8::/64 (eth0)"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			in := good()
			in.Cluster.Cluster.OpenshiftVersion = "4.20.1"
			in.Inventory.Interfaces = nil
			for i, a := range tc.addresses {
				in.Inventory.Interfaces = append(in.Inventory.Interfaces, wire.Interface{Name: fmt.Sprint("eth", i), Ipv4Addresses: []string{a}})
			}
			result := result(validations.Host(in, validations.Lists{}), string(wire.HostValidationIDNonOverlappingSubnets))
			if tc.says == "" {
				g.Expect(result.Status).To(Equal(validations.Success), result.Message)
				return
			}
			g.Expect(result.Status).To(Equal(validations.Failure))
			g.Expect(result.Message).To(ContainSubstring(tc.says))
		})
	}
}

func TestAMessageIsShortWhateverTheHostSays(t *testing.T) {
	g := NewWithT(t)
	in := good()
	in.Inventory.Hostname = strings.Repeat("ü", 1<<20)
	said := result(validations.Host(in, validations.Lists{}), "hostname-valid")
	g.Expect(said.Status).To(Equal(validations.Failure))
	g.Expect(len(said.Message)).To(BeNumerically("<=", 1000))
	g.Expect(utf8.ValidString(said.Message)).To(BeTrue())
}

// TestAClockOfAnotherAge: differences of more than 292 years are all the same number,
// whose negative is itself.
func TestAClockOfAnotherAge(t *testing.T) {
	g := NewWithT(t)
	in := good()
	in.Host.Timestamp = -1 << 40
	g.Expect(result(validations.Host(in, validations.Lists{}), string(wire.HostValidationIDTimeSyncedBetweenHostAndService)).Status).To(Equal(validations.Failure))
	early := in.Member().ClockAhead
	in.Host.Timestamp = 1 << 40
	g.Expect(in.Member().ClockAhead-early).To(BeNumerically(">", 0), "their difference is one, too")
}
