package lan

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestConfiguration(t *testing.T) {
	g := NewWithT(t)
	golden := filepath.Join("testdata", "dnsmasq.conf")
	got := configuration([]segment{
		{device: "ifabcd", prefix: netip.MustParsePrefix("172.22.0.1/24"), dhcp: DHCP{
			Hosts:  []Host{{MAC: "52:54:00:00:00:01", Address: netip.MustParseAddr("172.22.0.10"), Name: "host-0"}, {MAC: "52:54:00:00:00:02", Address: netip.MustParseAddr("172.22.0.11")}},
			Script: "http://172.22.0.1:8080/boot.ipxe", HTTPBoot: "http://172.22.0.1:8080/boot.efi",
		}},
		{device: "ifabcd-v7", prefix: netip.MustParsePrefix("10.7.16.1/20")},
		{device: "ifabcd-v8", prefix: netip.MustParsePrefix("10.8.0.1/28"), dhcp: DHCP{Off: true}},
	}, map[string]netip.Addr{"hub.example": netip.MustParseAddr("172.22.0.1"), "api.example": netip.MustParseAddr("172.22.0.5")}, "/run/leases")
	if os.Getenv("UPDATE") != "" {
		g.Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
		g.Expect(os.WriteFile(golden, []byte(got), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(golden)
	g.Expect(err).NotTo(HaveOccurred(), "UPDATE=1 writes it")
	g.Expect(got).To(Equal(string(want)))
}

func TestLeases(t *testing.T) {
	g := NewWithT(t)
	g.Expect(parseLeases("1700000000 52:54:00:00:00:01 172.22.0.10 host-0 *\nduid 00:01\n\n1 x nonsense *\n")).To(Equal(
		[]lease{{mac: "52:54:00:00:00:01", address: netip.MustParseAddr("172.22.0.10")}}))
}

func TestOptions(t *testing.T) {
	valid := netip.MustParsePrefix("192.168.9.1/24")
	for name, o := range map[string]Options{
		"a newline in a name":        {Names: map[string]netip.Addr{"a\nconf-file=/etc/shadow": {}}},
		"a host outside":             {DHCP: DHCP{Hosts: []Host{{MAC: "52:54:00:00:00:01", Address: netip.MustParseAddr("10.0.0.1")}}}},
		"an address with an option":  {DHCP: DHCP{Script: "http://192.168.9.1/a,tag:x"}},
		"an IPv6 network":            {Prefix: netip.MustParsePrefix("fd00::1/64")},
		"a network too small":        {Prefix: netip.MustParsePrefix("10.0.0.1/30")},
		"a VLAN without an id":       {VLANs: []VLAN{{Prefix: valid}}},
		"a VLAN without a network":   {VLANs: []VLAN{{ID: 7}}},
		"no folder":                  {},
		"a host with a name of more": {DHCP: DHCP{Hosts: []Host{{MAC: "52:54:00:00:00:01", Address: netip.MustParseAddr("192.168.9.2"), Name: "a,b"}}}},
	} {
		t.Run(name, func(t *testing.T) {
			if !o.Prefix.IsValid() {
				o.Prefix = valid
			}
			if name != "no folder" {
				o.Dir = "/run/x"
			}
			_, err := o.complete()
			NewWithT(t).Expect(err).To(HaveOccurred())
		})
	}
	o, err := Options{Dir: "/run/x"}.complete()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(o.Prefix).To(Equal(defaultPrefix))
}

// TestTags shows that a frame of the VLAN comes back as it went, and others do not.
func TestTags(t *testing.T) {
	g := NewWithT(t)
	frame := []byte("ddddddssssss\x08\x00payload")
	with := tagged(frame, 7)
	g.Expect(with).To(Equal([]byte("ddddddssssss\x81\x00\x00\x07\x08\x00payload")))
	g.Expect(untagged(with, 7)).To(Equal(frame))
	g.Expect(untagged([]byte("ddddddssssss\x81\x00\xa0\x07\x08\x00priority"), 7)).To(Equal([]byte("ddddddssssss\x08\x00priority")))
	g.Expect(untagged(with, 8)).To(BeNil())
	g.Expect(untagged(frame, 7)).To(BeNil())
	g.Expect(untagged(with[:14], 7)).To(BeNil())
	g.Expect(tagged(frame[:12], 7)).To(BeNil())
}
