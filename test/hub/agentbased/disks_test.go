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

	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/lab/pki"
	"github.com/ironflow/ironflow/test/livesystem"
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
