//go:build e2e

package agentbased

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// installs takes an image of three hosts from their boot to the last one's reboot.
func (s *site) installs() {
	s.Helper()
	s.decides()
	for i := range s.hosts {
		want := ""
		if i == 0 {
			want = "BOOTSTRAP_HOST_MAC=\"" + mac(0) + "\"\n"
		}
		s.Expect(s.holds(i, "/etc/assisted/node0")).To(Equal(want), "host %d", i)
	}
	s.startHub()
	s.register()
	for i := range s.hosts {
		s.agents = append(s.agents, s.boot(i))
	}
	s.oneshot("agent-installer-client", "configure")
	s.start(s.hosts[0], nil, "ironflow-agent-based", "start-cluster-installation")
	watch := s.waitFor()
	s.reaches(0, wire.HostStageRebooting)
	s.Expect([]wire.HostStage{s.stage(1), s.stage(2)}).To(HaveEach(wire.HostStageRebooting), "before node zero")
	for _, a := range s.agents {
		s.ends(a)
	}
	s.ends(watch)
	zero := s.zero()
	s.Expect([]any{zero.Bootstrap, string(zero.Role), zero.InstallationDiskPath}).To(Equal([]any{true, "master", "/dev/nvme0n1"}))
}

// TestIPv6Alone: no host of the image has another address.
func TestIPv6Alone(t *testing.T) {
	t.Parallel()
	var hosts [][]card
	for i := range 3 {
		hosts = append(hosts, []card{{"eno1", mac(i), "edge", []string{six.address(i) + "/64"}, "2001:db8:1::1"}})
	}
	s := imaged(t, six.input(3, "eno1"), hosts)
	s.installs()
	s.Expect(s.url).To(Equal("http://[2001:db8:1::10]:8090/"))
	s.Expect(s.holds(1, "/etc/NetworkManager/system-connections/eno1.nmconnection")).To(ContainSubstring("2001:db8:1::11/64"))
}

// TestTwoCards: the rendezvous address is on the second card of the hosts, the way out over the
// first one, and the image calls the card by another name than the kernel does.
func TestTwoCards(t *testing.T) {
	t.Parallel()
	var hosts [][]card
	for i := range 3 {
		hosts = append(hosts, []card{
			{"eno1", fmt.Sprintf("52:54:00:00:01:%02x", i+1), "storage", []string{fmt.Sprintf("203.0.113.%d/24", 10+i)}, "203.0.113.1"},
			{"eno2", mac(i), "edge", []string{four.address(i) + "/24"}, ""},
		})
	}
	s := imaged(t, four.input(3, "lan"), hosts)
	s.installs()
	s.Expect(s.url).To(Equal("http://198.51.100.10:8090/"))
	s.Expect(s.holds(2, "/etc/NetworkManager/system-connections/lan.nmconnection")).To(And(ContainSubstring("mac-address="+mac(2)), ContainSubstring("198.51.100.12/24")))
}
