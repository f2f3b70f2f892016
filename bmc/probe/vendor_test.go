package probe

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/lenient"
)

func TestVersionOf(t *testing.T) {
	for written, want := range map[string]string{
		"6.00.30.00":                      "6.00.30.00",
		"7.10.50.00":                      "7.10.50.00",
		"1.20.50.50":                      "1.20.50.50",
		"iLO 5 v2.72":                     "2.72",
		"iLO 6 v1.57 Feb 15 2024":         "1.57",
		"2.72 Sep 04 2022":                "2.72",
		"TGBT42S 2.83 2023-07-05":         "2.83",
		"AFBT58B 5.70 2025-08-11":         "5.70",
		"11.01.01":                        "11.01.01",
		"01.73.11":                        "01.73.11",
		"23.11.20":                        "23.11.20",
		"GB200Nvl-24.12-8":                "24.12-8",
		"BF-24.10-10":                     "24.10-10",
		"GH200-24.05-2":                   "24.05-2",
		"24.12-8":                         "24.12-8",
		"2.14.0-dev":                      "2.14.0",
		"v2.14.0":                         "2.14.0",
		" 3.55 ":                          "3.55",
		"BIOS Date: 10/01/2023 Ver (2.1)": "2.1",
		"20230705":                        "20230705",
		"NA":                              "",
		"":                                "",
	} {
		t.Run(written, func(t *testing.T) { NewWithT(t).Expect(versionOf(written)).To(Equal(want)) })
	}
}

func TestVendorOf(t *testing.T) {
	oem := func(names ...string) lenient.Map[json.RawMessage] {
		m := lenient.Map[json.RawMessage]{}
		for _, name := range names {
			m[name] = json.RawMessage(`{}`)
		}
		return m
	}
	for name, c := range map[string]struct {
		root    serviceRoot
		system  system
		manager manager
		chassis chassis
		want    string
	}{
		"Dell by its root":                  {root: serviceRoot{Vendor: "Dell"}, system: system{Manufacturer: "Dell Inc."}, want: "Dell"},
		"Dell by its product":               {root: serviceRoot{Product: "Integrated Dell Remote Access Controller"}, want: "Dell"},
		"HPE":                               {root: serviceRoot{Vendor: "HPE"}, want: "HPE"},
		"HPE by an old Oem":                 {root: serviceRoot{Oem: oem("Hp")}, want: "HPE"},
		"HPE by its product":                {root: serviceRoot{Product: "ProLiant DL360 Gen9"}, want: "HPE"},
		"HPE in full":                       {system: system{Manufacturer: "Hewlett Packard Enterprise"}, want: "HPE"},
		"Lenovo":                            {root: serviceRoot{Vendor: "Lenovo"}, want: "Lenovo"},
		"Supermicro without Vendor":         {root: serviceRoot{Oem: oem("Supermicro")}, want: "Supermicro"},
		"Supermicro in words":               {system: system{Manufacturer: "Super Micro Computer, Inc."}, want: "Supermicro"},
		"AMI's firmware on another's board": {root: serviceRoot{Vendor: "AMI"}, system: system{Manufacturer: "NVIDIA"}, want: "AMI"},
		"American Megatrends":               {root: serviceRoot{Vendor: "American Megatrends International"}, want: "AMI"},
		"NVIDIA, however it is written":     {root: serviceRoot{Vendor: "Nvidia"}, want: "NVIDIA"},
		"NVIDIA's OpenBMC":                  {root: serviceRoot{Vendor: "NVIDIA"}, manager: manager{Model: "OpenBmc"}, want: "NVIDIA"},
		"OpenBMC of nobody known":           {system: system{Manufacturer: "Wiwynn"}, manager: manager{Model: "OpenBmc"}, want: "OpenBMC"},
		"known by the chassis alone":        {chassis: chassis{Manufacturer: "Lite-On Technology"}, want: "Lite-On Technology"},
		"another vendor":                    {root: serviceRoot{Vendor: "Huawei"}, want: "Huawei"},
		"another with a known beginning":    {system: system{Manufacturer: "HPC Systems"}, want: "HPC Systems"},
		"a placeholder":                     {root: serviceRoot{Vendor: "To be filled by O.E.M."}, system: system{Manufacturer: "ZT Systems"}, want: "ZT Systems"},
		"nobody":                            {},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(vendorOf(c.root, c.system, c.manager, c.chassis)).To(Equal(c.want))
		})
	}
}

func TestManagerModelOf(t *testing.T) {
	for name, c := range map[string]struct {
		vendor, model, firmware, want string
	}{
		"12th generation":         {dell, "12G Monolithic", "2.65.65.65", "iDRAC8"},
		"13th generation":         {dell, "13G Monolithic", "2.75.75.75", "iDRAC8"},
		"14th generation":         {dell, "14G Monolithic", "4.40.00.00", "iDRAC9"},
		"15th generation":         {dell, "15G Monolithic", "6.00.30.00", "iDRAC9"},
		"16th generation":         {dell, "16G Monolithic", "7.10.50.00", "iDRAC9"},
		"17th generation":         {dell, "17G Monolithic", "1.20.50.50", "iDRAC10"},
		"Dell says it itself":     {dell, "iDRAC 10", "1.20.50.50", "iDRAC10"},
		"Dell says something new": {dell, "Modular", "1.0", "Modular"},
		"iLO":                     {hpe, "iLO 5", "iLO 5 v2.72", "iLO 5"},
		"iLO by its firmware":     {hpe, "", "iLO 6 v1.57", "iLO 6"},
		"XCC":                     {lenovo, "Lenovo XClarity Controller", "TGBT42S 2.83 2023-07-05", "XCC"},
		"XCC2":                    {lenovo, "Lenovo XClarity Controller 2", "AFBT58B 5.70 2025-08-11", "XCC2"},
		"Supermicro":              {supermicro, "ASPEED", "11.01.01", "ASPEED"},
		"OpenBMC":                 {nvidia, "OpenBmc", "24.12-8", "OpenBMC"},
		"AMI":                     {ami, "AST2600", "23.11.20", "AST2600"},
		"nothing":                 {"", "NA", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			m := manager{Model: lenient.String(c.model), FirmwareVersion: lenient.String(c.firmware)}
			NewWithT(t).Expect(managerModelOf(c.vendor, m)).To(Equal(c.want))
		})
	}
}

func TestSerialOf(t *testing.T) {
	g := NewWithT(t)
	s := system{SKU: "TAG0001", SerialNumber: " CNFCP0001 "}
	g.Expect(serialOf(dell, s)).To(Equal("TAG0001"), "Dell's SerialNumber is the board's")
	g.Expect(serialOf(hpe, s)).To(Equal("CNFCP0001"))
	g.Expect(serialOf(dell, system{SKU: "NA", SerialNumber: "CNFCP0001"})).To(Equal("CNFCP0001"))
	g.Expect(serialOf("", system{SerialNumber: "To Be Filled By O.E.M."})).To(BeEmpty())
}

func FuzzVersion(f *testing.F) {
	for _, seed := range []string{"6.00.30.00", "iLO 5 v2.72", "TGBT42S 2.83 2023-07-05", "GB200Nvl-24.12-8", "1.", ".1", "v", "1.2.3.4.5.6-", "NA", "\x00\xff1.2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := versionOf(text)
		if bounded(got) != got || versionOf(got) != got {
			t.Errorf("the version %q of %q is no version itself", got, text)
		}
	})
}

func FuzzVendor(f *testing.F) {
	for _, seed := range []string{"Dell Inc.", "Hp", "Hewlett Packard Enterprise", "Super Micro Computer", "AMI", " nvidia ", "N/A", "Hp Hp Hp", ".", "\u2028Dell"} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, vendor, model string) {
		name, _ := commonName(vendor)
		if again, _ := commonName(name); again != name {
			t.Errorf("the name %q of %q has another name: %q", name, vendor, again)
		}
		m := manager{Model: lenient.String(model), FirmwareVersion: lenient.String(vendor)}
		for _, v := range []string{dell, hpe, lenovo, ""} {
			if got := bounded(managerModelOf(v, m)); !utf8.ValidString(got) || utf8.RuneCountInString(got) > mostWords+2 {
				t.Errorf("the model %q cannot be shown", got)
			}
		}
	})
}

func FuzzProductKeys(f *testing.F) {
	for _, seed := range []string{`{"ProductKey":{"Node":{"LicenseName":"SFT-OOB-LIC"}}}`, `{"ProductKey":[]}`, `{"ProductKey":{"Node":{"LicenseName":7}}}`, `no`, `[`, ``} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range productKeys(lenient.List[lenient.String]{lenient.String(text), lenient.String(text)}) {
			if name == "" || bounded(name) != name {
				t.Errorf("%q is no name of a licence", name)
			}
		}
	})
}

func FuzzRegistry(f *testing.F) {
	f.Add("BiosAttributeRegistry.v1_0_3", "/redfish/v1/Registries/BiosAttributeRegistry.v1_0_0")
	f.Add("", "/redfish/v1/Registries/BiosAttributeRegistry/")
	f.Add(".", "/")
	f.Fuzz(func(t *testing.T, name, path string) {
		if got := chooseRegistry(name, []string{path}); got != "" && got != path {
			t.Errorf("%q was not offered", got)
		}
	})
}
