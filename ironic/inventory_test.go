package ironic_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// inventoryOf answers for the inventory of any node, and leaves all else to a server.
type inventoryOf struct {
	http.RoundTripper
	stored string
}

// RoundTrip implements http.RoundTripper.
func (i inventoryOf) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/inventory") {
		return i.RoundTripper.RoundTrip(r)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(strings.NewReader(i.stored)),
	}, nil
}

// TestAValueOfAnotherTypeIsLostAlone: Ironic stores what ramdisks, inspection hooks and BMCs
// report as it comes.
func TestAValueOfAnotherTypeIsLostAlone(t *testing.T) {
	g := NewWithT(t)
	s := simulator.New(simulator.Options{})
	t.Cleanup(s.Close)
	const stored = `{
			"inventory": {
				"hostname": 7, "bmc_address": null, "boot": "uefi",
				"cpu": {"architecture": "x86_64", "count": null, "frequency": "2400.0000", "flags": ["vmx", 3, null]},
				"memory": {"physical_mb": 32256.0},
				"system_vendor": {"manufacturer": "ACME", "firmware": []},
				"disks": [{"name": "/dev/sda", "serial": 123456, "size": null, "rotational": "0"}, "broken", {"name": "/dev/sdb", "size": 5, "wwn": {}}],
				"interfaces": [{"name": "eno1", "mac_address": "52:54:00:00:00:0A", "speed_mbps": 2500.0, "has_carrier": true}, null]
			},
			"plugin_data": {"all_interfaces": {"eno1": {"pxe_enabled": "true"}, "eno2": "?"}, "parsed_lldp": {"eno1": {"switch_port_vlans": [null, {"id": "7"}]}, "eno2": null}}
		}`
	gateway, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: inventoryOf{s.Transport(), stored}})
	g.Expect(err).NotTo(HaveOccurred())
	inv, err := gateway.Inventory(t.Context(), "n1")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(inv).To(Equal(&ironic.Inventory{
		Hostname: "7", MemoryMiB: 32256, System: ironic.SystemInfo{Manufacturer: "ACME"},
		CPU:   ironic.CPUInfo{Architecture: "x86_64", MHz: 2400, Flags: []string{"3", "vmx"}},
		Disks: []ironic.DiskInfo{{Name: "/dev/sda", Serial: "123456"}, {Name: "/dev/sdb", SizeBytes: 5}},
		NICs: []ironic.NICInfo{{
			Name: "eno1", MAC: "52:54:00:00:00:0a", SpeedMbps: 2500, Carrier: true, PXE: true,
			LLDP: ironic.LLDPInfo{VLANs: []ironic.VLANInfo{{ID: 7}}},
		}},
	}))
}
