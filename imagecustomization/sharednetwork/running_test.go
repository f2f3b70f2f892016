package sharednetwork_test

import (
	"testing"
	"time"

	"github.com/coreos/ignition/v2/config/v3_2"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/sharednetwork"
	"github.com/ironflow/ironflow/test/ignitioncheck"
)

// TestWithoutInitrd: a medium that somebody else makes has the networks in its Ignition.
func TestWithoutInitrd(t *testing.T) {
	g := NewWithT(t)
	own := []byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,hello"}}]}}`)
	same, err := sharednetwork.WithoutInitrd(own, nil, time.Minute)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(same).To(Equal(own), "nothing to add")

	raw, err := sharednetwork.WithoutInitrd(own, sharednetwork.Entries(hosts, 20*time.Second), 20*time.Second)
	g.Expect(err).NotTo(HaveOccurred())
	ignitioncheck.Valid(t, raw)
	config, problems, err := v3_2.Parse(raw)
	g.Expect(err).NotTo(HaveOccurred(), "%v", problems)
	modes := map[string]int{}
	for _, f := range config.Storage.Files {
		if f.Mode != nil {
			modes[f.Path] = *f.Mode
		}
	}
	g.Expect(modes).To(Equal(map[string]int{
		"/etc/assisted/network/host0/eth0.nmconnection": 0o600, "/etc/assisted/network/host0/mac_interface.ini": 0o600,
		"/etc/assisted/network/host1/eth0.nmconnection": 0o600, "/etc/assisted/network/host1/bond0.nmconnection": 0o600,
		"/etc/assisted/network/host1/mac_interface.ini": 0o600, "/usr/local/bin/pre-network-manager-config.sh": 0o755,
	}))
	g.Expect(config.Storage.Files).To(ContainElement(HaveField("Path", "/etc/motd")))
	g.Expect(config.Systemd.Units).To(HaveLen(1))
	g.Expect(*config.Systemd.Units[0].Enabled).To(BeTrue())
	g.Expect(*config.Systemd.Units[0].Contents).To(And(
		ContainSubstring("DISCOVERY_DELAY_SECONDS=20\n"), ContainSubstring("TimeoutStartSec=80\n"), ContainSubstring(" /etc/NetworkManager/system-connections\n")))

	again, err := sharednetwork.WithoutInitrd(own, sharednetwork.Entries(hosts, 20*time.Second), 20*time.Second)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(raw), "the same hosts give the same bytes")
	_, err = sharednetwork.WithoutInitrd([]byte("x"), sharednetwork.Entries(hosts, 0), 0)
	g.Expect(err).To(HaveOccurred())
}
