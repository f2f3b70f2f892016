package address_test

import (
	"encoding/json"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/ironic"
)

const system = "/redfish/v1/Systems/1"

func TestParse(t *testing.T) {
	redfish := address.Interfaces{Boot: "ipxe", Firmware: "redfish", Inspect: "redfish", RAID: "redfish"}
	media := address.Interfaces{Boot: "redfish-virtual-media", Firmware: "redfish", Inspect: "redfish", RAID: "redfish"}
	idrac := address.Interfaces{
		Boot: "ipxe", Firmware: "redfish", BIOS: "idrac-redfish", Inspect: "idrac-redfish", Management: "idrac-redfish",
		Power: "idrac-redfish", Vendor: "idrac-redfish", RAID: "idrac-redfish",
	}
	idracMedia := idrac
	idracMedia.Boot = "idrac-redfish-virtual-media"
	ipmi := address.Interfaces{Boot: "ipxe", RAID: "no-raid"}
	ipmiInfo := func(host, port string) map[string]any {
		return map[string]any{"ipmi_address": host, "ipmi_port": port, "ipmi_priv_level": "ADMINISTRATOR"}
	}
	redfishInfo := func(base, system string) map[string]any {
		m := map[string]any{"redfish_address": base}
		if system != "" {
			m["redfish_system_id"] = system
		}
		return m
	}
	cases := map[string]struct {
		driver     string
		interfaces address.Interfaces
		info       map[string]any
		iso, mac   bool
	}{
		"ipmi://192.0.2.1":                     {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("192.0.2.1", "623")},
		"ipmi://bmc.example.com:6230":          {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("bmc.example.com", "6230")},
		"ipmi:192.0.2.1":                       {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("192.0.2.1", "623")},
		"192.0.2.1":                            {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("192.0.2.1", "623")},
		"192.0.2.1:6230":                       {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("192.0.2.1", "6230")},
		"bmc.example.com":                      {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("bmc.example.com", "623")},
		"bmc.example.com:6230":                 {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("bmc.example.com", "6230")},
		"localhost:6230":                       {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("localhost", "6230")},
		"2001:db8::1":                          {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("2001:db8::1", "623")},
		"[2001:db8::1]:6230":                   {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("2001:db8::1", "6230")},
		"ipmi://[2001:db8::1]":                 {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("2001:db8::1", "623")},
		"libvirt://192.0.2.1:6233/":            {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("192.0.2.1", "6233"), mac: true},
		"ipmi://192.0.2.1?privilegelevel=USER": {driver: "ipmi", interfaces: ipmi, info: map[string]any{"ipmi_address": "192.0.2.1", "ipmi_port": "623", "ipmi_priv_level": "USER"}},

		"redfish://192.0.2.1" + system:                                {driver: "redfish", interfaces: redfish, info: redfishInfo("https://192.0.2.1", system)},
		"redfish:192.0.2.1" + system:                                  {driver: "redfish", interfaces: redfish, info: redfishInfo("https://192.0.2.1", system)},
		"redfish+http://192.0.2.1:8000" + system:                      {driver: "redfish", interfaces: redfish, info: redfishInfo("http://192.0.2.1:8000", system)},
		"redfish+https://192.0.2.1" + system:                          {driver: "redfish", interfaces: redfish, info: redfishInfo("https://192.0.2.1", system)},
		"redfish://[2001:db8::1]:8443" + system:                       {driver: "redfish", interfaces: redfish, info: redfishInfo("https://[2001:db8::1]:8443", system)},
		"redfish://192.0.2.1":                                         {driver: "redfish", interfaces: redfish, info: redfishInfo("https://192.0.2.1", "")},
		"redfish://192.0.2.1/redfish/v1":                              {driver: "redfish", interfaces: redfish, info: redfishInfo("https://192.0.2.1", "")},
		"redfish://192.0.2.1/redfish/v1/":                             {driver: "redfish", interfaces: redfish, info: redfishInfo("https://192.0.2.1", "")},
		"redfish://user:hidden@192.0.2.1" + system:                    {driver: "redfish", interfaces: redfish, info: redfishInfo("https://192.0.2.1", system)},
		"ilo5-redfish://192.0.2.1" + system:                           {driver: "redfish", interfaces: redfish, info: redfishInfo("https://192.0.2.1", system)},
		"idrac-redfish://192.0.2.1" + system:                          {driver: "idrac", interfaces: idrac, info: redfishInfo("https://192.0.2.1", system)},
		"redfish-virtualmedia://192.0.2.1" + system:                   {driver: "redfish", interfaces: media, info: redfishInfo("https://192.0.2.1", system), iso: true},
		"redfish-virtualmedia+http://192.0.2.1:8000" + system:         {driver: "redfish", interfaces: media, info: redfishInfo("http://192.0.2.1:8000", system), iso: true},
		"ilo5-virtualmedia://192.0.2.1" + system:                      {driver: "redfish", interfaces: media, info: redfishInfo("https://192.0.2.1", system), iso: true},
		"idrac-virtualmedia://192.0.2.1" + system:                     {driver: "idrac", interfaces: idracMedia, info: redfishInfo("https://192.0.2.1", system), iso: true},
		"redfish-virtualmedia+http://[::1]:8000" + system:             {driver: "redfish", interfaces: media, info: redfishInfo("http://[::1]:8000", system), iso: true},
		"redfish-virtualmedia://[fe80::1%25eth0]" + system:            {driver: "redfish", interfaces: media, info: redfishInfo("https://[fe80::1%25eth0]", system), iso: true},
		"redfish-virtualmedia+https://[fe80::1%25eth0]:8443" + system: {driver: "redfish", interfaces: media, info: redfishInfo("https://[fe80::1%25eth0]:8443", system), iso: true},
		"ipmi://[fe80::1%25eth0]:6230":                                {driver: "ipmi", interfaces: ipmi, info: ipmiInfo("fe80::1%eth0", "6230")},
		"redfish-uefihttp://192.0.2.1/redfish/v1": {
			driver: "redfish", iso: true, info: redfishInfo("https://192.0.2.1", "/redfish/v1"),
			interfaces: address.Interfaces{Boot: "redfish-https", Firmware: "redfish", Inspect: "redfish", RAID: "redfish"},
		},
	}
	seen := map[string]bool{}
	for raw, c := range cases {
		t.Run(raw, func(t *testing.T) {
			e := NewWithT(t)
			a, err := address.Parse(raw)
			e.Expect(err).NotTo(HaveOccurred())
			seen[a.Scheme] = true
			e.Expect(a.Driver).To(Equal(c.driver))
			e.Expect(a.Interfaces).To(Equal(c.interfaces))
			e.Expect(a.Location()).To(Equal(c.info))
			e.Expect(a.BootsISO).To(Equal(c.iso))
			e.Expect(a.NeedsMAC).To(Equal(c.mac))
			e.Expect(a.SecureBoot).To(Equal(a.Family == address.Redfish))
		})
	}
	for _, scheme := range address.Schemes() {
		NewWithT(t).Expect(seen).To(HaveKey(scheme), "a scheme without a case")
	}
}

func TestParseRefuses(t *testing.T) {
	cases := map[string]string{
		"":                             "empty",
		"foo://192.0.2.1":              "Unknown BMC type 'foo' for address foo://192.0.2.1",
		"idrac://192.0.2.1":            "Unknown BMC type 'idrac'",
		"ipmi+http://192.0.2.1":        "Unknown BMC type 'ipmi+http'",
		"redfish+ftp://192.0.2.1":      "Unknown BMC type 'redfish+ftp'",
		"redfish://":                   "no valid host name",
		"redfish://bad_host!/x":        "no valid host name",
		"redfish://-bad.example.com":   "no valid host name",
		"redfish://host:port":          "invalid port",
		"redfish://192.0.2.1:65536/x":  "port 65536",
		"ipmi://192.0.2.1:0":           "port 0",
		"192.0.2.1:99999":              "port 99999",
		"redfish://u:topsecret@h%zz/x": "cannot be read",
	}
	for raw, want := range cases {
		t.Run(raw, func(t *testing.T) {
			e := NewWithT(t)
			_, err := address.Parse(raw)
			e.Expect(err).To(MatchError(ContainSubstring(want)))
			e.Expect(err.Error()).NotTo(ContainSubstring("topsecret"))
		})
	}
}

func TestDriverInfo(t *testing.T) {
	credentials := address.Credentials{Username: "admin", Password: "secret"}
	cases := map[string]struct {
		raw     string
		options address.Options
		want    map[string]any
	}{
		"redfish": {raw: "redfish://192.0.2.1" + system, want: map[string]any{
			"redfish_address":   "https://192.0.2.1",
			"redfish_system_id": system, "redfish_username": "admin", "redfish_password": "secret",
		}},
		"redfish, certificates not verified": {
			raw: "redfish://192.0.2.1", options: address.Options{DisableCertificateVerification: true},
			want: map[string]any{"redfish_address": "https://192.0.2.1", "redfish_username": "admin", "redfish_password": "secret", "redfish_verify_ca": false},
		},
		"ipmi": {raw: "ipmi://192.0.2.1", want: map[string]any{
			"ipmi_address": "192.0.2.1", "ipmi_port": "623",
			"ipmi_priv_level": "ADMINISTRATOR", "ipmi_username": "admin", "ipmi_password": "secret",
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := NewWithT(t)
			a, err := address.Parse(c.raw)
			e.Expect(err).NotTo(HaveOccurred())
			e.Expect(a.DriverInfo(credentials, c.options)).To(Equal(c.want))
		})
	}
}

func TestInterfacesConvert(t *testing.T) {
	got := ironic.Interfaces(address.Interfaces{Boot: "ipxe", RAID: "no-raid"})
	NewWithT(t).Expect(got).To(Equal(ironic.Interfaces{Boot: "ipxe", RAID: "no-raid"}))
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"ipmi://192.0.2.1:623", "redfish+http://[::1]:8000/redfish/v1/Systems/1", "redfish:h/p?q#f", "redfish://[fe80::1%25eth0]:1/x",
		"host:1", "a:b", "[::1]:1", "::1", "%", "://", "libvirt:",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		a, err := address.Parse(raw)
		if err != nil {
			return
		}
		e := NewWithT(t)
		e.Expect(a.Host()).NotTo(BeEmpty())
		e.Expect(a.Host()).NotTo(ContainSubstring("/"))
		e.Expect(a.Driver).NotTo(BeEmpty())
		info := a.DriverInfo(address.Credentials{}, address.Options{})
		_, err = json.Marshal(info)
		e.Expect(err).NotTo(HaveOccurred())
		if a.Family == address.Redfish {
			base, _ := info["redfish_address"].(string)
			e.Expect(base).To(HavePrefix("http"))
			again, err := address.Parse(a.Scheme + "+" + base)
			e.Expect(err).NotTo(HaveOccurred())
			e.Expect(again.DriverInfo(address.Credentials{}, address.Options{})["redfish_address"]).To(Equal(base))
		}
	})
}
