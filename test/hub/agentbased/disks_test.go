//go:build e2e

package agentbased

import (
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/vishvananda/netlink"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/program"
	"github.com/ironflow/ironflow/test/lab/pki"
	"github.com/ironflow/ironflow/test/livesystem"
	"github.com/ironflow/ironflow/test/needs"
)

// TestDisksAreWritten: the hosts of an automated installation write their disks by the real
// coreos-installer, node zero's last, and each has the Ignition that the hub has made for it.
// Nothing is a dry run: what the agents find is what the machines have.
func TestDisksAreWritten(t *testing.T) {
	livesystem.Need(t)
	input := four.dynamic(3) // DHCP is played here
	input["hostconfig/zero/root-device-hints.yaml"] = "deviceName: /dev/sda\n"
	input["hub.env"] = "IRONFLOW_HUB_STAGE_TIMEOUTS=Rebooting=20s\n" // nobody comes back from a restart that is not done
	r := newRack(t, units.Automated, input, "--rendezvous-ip", four.address(0))
	image := fixture(t)
	systems := r.lives(image)
	r.reach(r.machines[0], four.address(0))
	for _, m := range r.machines {
		r.starts(m)
	}
	r.Eventually(r.statuses, 2*patience, look).Should(And(HaveLen(3), HaveEach(wire.HostStatusInstalled)), r.journals)
	for i, s := range systems {
		r.written(i, s, image)
	}
}

// TestDisksOfAddedNodesAreWritten: each host of that workflow writes its disk for the running
// cluster, whose endpoint is played, and is added.
func TestDisksOfAddedNodesAreWritten(t *testing.T) {
	livesystem.Need(t)
	authority, err := pki.New("machine-config-server")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	input := nodes(3)
	input["nodes-config.yaml"] = strings.ReplaceAll(input["nodes-config.yaml"], "/dev/nvme0n1", "/dev/sda")
	input["clusterconfig/worker-ignition-endpoint.json"] = `{"url": "https://` + endpoint + `/config/worker", "ca_certificate": "` + base64.StdEncoding.EncodeToString(authority.PEM) + `"}`
	r := newRack(t, units.AddNodes, input)
	image := fixture(t)
	systems := r.lives(image)
	r.serves(authority)
	for _, m := range r.machines {
		r.starts(m)
	}
	for i, s := range systems {
		r.reach(s.Machine, four.address(i))
		r.Eventually(r.statuses, 2*patience, look).Should(And(HaveLen(1), HaveKeyWithValue(mac(i), wire.HostStatusAddedToExistingCluster)), r.journals)
		r.written(i, s, image)
	}
}

// endpoint is that of a running cluster, from which hosts that join get their configuration.
const endpoint = "198.51.100.3:22623"

// serves plays it, at the cable's first machine.
func (r *rack) serves(authority *pki.Authority) {
	r.Helper()
	ns, zero := r.namespace(r.machines[0])
	defer func() { _ = ns.Close() }() // it was only looked through
	defer zero.Close()
	card, err := zero.LinkByName("eno1")
	r.Expect(err).NotTo(HaveOccurred())
	host, _, _ := strings.Cut(endpoint, ":")
	address, err := netlink.ParseAddr(host + "/32")
	r.Expect(err).NotTo(HaveOccurred())
	r.Expect(zero.AddrAdd(card, address)).To(Succeed())
	pair, err := authority.Server(host)
	r.Expect(err).NotTo(HaveOccurred())
	certificate, err := tls.X509KeyPair(pair.Cert, pair.Key)
	r.Expect(err).NotTo(HaveOccurred())
	server := &http.Server{
		ReadHeaderTimeout: time.Minute, TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"ignition":{"version":"3.2.0"}}`))
		}),
	}
	listener := r.machines[0].ListenAt(r.T, endpoint)
	go func() { _ = server.ServeTLS(listener, "", "") }()
	r.Cleanup(func() { _ = server.Close() })
}

// smallHosts are settings of a hub for hosts that are smaller than a release needs, and have neither the time nor a registry.
const smallHosts = "HW_VALIDATOR_REQUIREMENTS=" + program.SmallHosts + "\nDISABLED_HOST_VALIDATIONS=" + program.DisabledChecks + "\n"

// hasImages is a container engine that has each image already.
const hasImages = `case "$1 $2" in
"image exists") ;;
"image inspect") echo 400000000 ;;
*) exit 125 ;;
esac
`

// TestDisksOfAppliancesAreWritten: machines of one factory image get their settings from a
// medium each. Two write their disks; node zero, which is the bootstrap host of their release,
// pretends to.
func TestDisksOfAppliancesAreWritten(t *testing.T) {
	livesystem.Need(t)
	r := newRack(t, units.Appliance, map[string]string{}, "--release-image", factoryRelease)
	image := fixture(t)
	medium := needs.LoopDevice(t, r.medium(factoryRelease, smallHosts))
	r.machines = append(r.machines, r.factory(0))
	var systems []*livesystem.System
	for i := 1; i < 3; i++ {
		s := r.live(i, image)
		s.Script(t, "/usr/local/bin/podman", hasImages)
		r.manufactured(s.Machine)
		systems, r.machines = append(systems, s), append(r.machines, s.Machine)
	}
	r.cableCards()
	for _, m := range r.machines {
		r.attach(m, medium)
	}
	r.Eventually(func() string { return r.holdsOn(0, places.RendezvousHost) }, patience, look).Should(ContainSubstring("NODE_ZERO_IP"), r.journals)
	r.reach(r.machines[0], four.address(0))
	r.Eventually(r.statuses, 2*patience, look).Should(And(HaveLen(3), HaveEach(wire.HostStatusInstalled)), r.journals)
	for i, s := range systems {
		r.written(i+1, s, image)
	}
}
