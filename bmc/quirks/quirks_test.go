package quirks_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/quirks"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// ids are the names of the rows that apply.
func ids(t *quirks.Table, id quirks.Identity) []string {
	var list []string
	for _, q := range t.Match(id) {
		list = append(list, q.ID)
	}
	return list
}

func TestMatch(t *testing.T) {
	cases := map[string]struct {
		id      quirks.Identity
		has     []string
		without []string
	}{
		"iDRAC9 before its media boot": {
			id:      quirks.Identity{Vendor: "Dell", Model: "PowerEdge R740", Manager: "iDRAC9", Version: "5.10.50.00"},
			has:     []string{"dell-idrac9-media-boot", "dell-idrac-oem-media", "dell-times"},
			without: []string{"dell-idrac9-idrac-scheme", "dell-idrac10-slot-1", "dell-idrac9-html5-console"},
		},
		"iDRAC9 with it": {
			id:      quirks.Identity{Vendor: "Dell", Model: "PowerEdge R750", Manager: "iDRAC9", Version: "7.00.00.00"},
			has:     []string{"dell-idrac9-idrac-scheme", "dell-idrac9-media-at-system"},
			without: []string{"dell-idrac9-media-boot", "dell-idrac-oem-media"},
		},
		"iDRAC9 of the console's fault": {
			id:  quirks.Identity{Vendor: "Dell", Manager: "iDRAC9", Version: "4.40.00.00"},
			has: []string{"dell-idrac9-html5-console"},
		},
		"iDRAC10": {
			id:      quirks.Identity{Vendor: "Dell", Model: "PowerEdge R770", Manager: "iDRAC10", Version: "1.20.50.50"},
			has:     []string{"dell-idrac10-oem-media", "dell-idrac10-slot-1", "dell-no-etag-on-actions", "dell-idrac10-power-conflict"},
			without: []string{"dell-idrac9-media-boot", "dell-idrac-oem-media"},
		},
		"a version that is not known is in no range": {
			id:      quirks.Identity{Vendor: "Dell", Manager: "iDRAC9"},
			has:     []string{"dell-times"},
			without: []string{"dell-idrac9-media-boot", "dell-idrac-oem-media", "dell-idrac9-idrac-scheme"},
		},
		"iLO 5 as the vendor writes it": {
			id:      quirks.Identity{Vendor: "HPE", Model: "ProLiant DL385 Gen10 Plus v2", Manager: "iLO5", Version: "iLO 5 v2.72"},
			has:     []string{"hpe-ilo5-no-raid", "hpe-eject-needs-body"},
			without: []string{"hpe-ilo6-raid", "hpe-gen9-boot-mode"},
		},
		"iLO 6 before RAID": {
			id:      quirks.Identity{Vendor: "HPE", Manager: "iLO 6", Version: "1.56"},
			has:     []string{"hpe-ilo6-raid", "hpe-ilo6-volume-form"},
			without: []string{"hpe-ilo5-no-raid"},
		},
		"iLO 6 with RAID": {
			id:      quirks.Identity{Vendor: "HPE", Manager: "iLO 6", Version: "1.57"},
			without: []string{"hpe-ilo6-raid"},
		},
		"Lenovo": {
			id:  quirks.Identity{Vendor: "Lenovo", Model: "ThinkSystem SR675 V3", Manager: "XCC", Version: "TGBT42S 2.83 2023-07-05"},
			has: []string{"lenovo-media-by-patch", "lenovo-sr675-restart", "lenovo-xcc-etag-required"},
		},
		"Supermicro X12": {
			id:      quirks.Identity{Vendor: "Supermicro", Model: "X12DPG-QT6"},
			has:     []string{"supermicro-media-image-only", "supermicro-plain-media-url"},
			without: []string{"supermicro-x10-no-boot-mode", "supermicro-x13-no-eject-while-empty"},
		},
		"OpenBMC of NVIDIA": {
			id:  quirks.Identity{Vendor: "NVIDIA", Model: "GB200 NVL", Manager: "OpenBMC", Version: "24.12-8"},
			has: []string{"openbmc-media-schemes", "nvidia-no-simple-update", "nvidia-registry-bounds"},
		},
		"DGX": {
			id:  quirks.Identity{Vendor: "AMI", Model: "DGX H100", Version: "23.11.20"},
			has: []string{"ami-no-expand", "nvidia-dgx-media-credentials", "ami-full-boot-override"},
		},
		"ZT": {id: quirks.Identity{Vendor: "ZT Systems"}, has: []string{"zt-one-at-a-time"}},
	}
	table := quirks.New()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got := ids(table, c.id)
			for _, id := range c.has {
				g.Expect(got).To(ContainElement(id))
			}
			for _, id := range c.without {
				g.Expect(got).NotTo(ContainElement(id))
			}
		})
	}
}

func TestNothingIsSaidOfAnUnknownBMC(t *testing.T) {
	NewWithT(t).Expect(quirks.New().Match(quirks.Identity{})).To(BeEmpty())
}

func TestApplied(t *testing.T) {
	g := NewWithT(t)
	for _, q := range quirks.New().Match(quirks.Identity{Vendor: "Dell", Model: "R770", Manager: "iDRAC10", Version: "1.0"}) {
		switch q.ID {
		case "dell-no-etag-on-actions":
			g.Expect(q.Applied).To(BeTrue(), "Ironflow's client does it")
			g.Expect(q.Effect).To(Equal("no-etag"))
			g.Expect(q.Value).To(Equal("actions"))
		case "dell-idrac10-slot-1":
			g.Expect(q.Applied).To(BeTrue(), "Ironic does it")
		case "dell-media-detached":
			g.Expect(q.Applied).To(BeFalse(), "a person does it")
		}
		g.Expect(q.Advice).NotTo(BeEmpty())
	}
}

// TestTable holds the built-in rows to their rules.
func TestTable(t *testing.T) {
	rows := quirks.New().Rows()
	used := map[quirks.Effect]bool{}
	for _, r := range rows {
		t.Run(r.ID, func(t *testing.T) {
			g := NewWithT(t)
			used[r.Effect] = true
			g.Expect(r.Source).NotTo(BeEmpty())
			g.Expect(r.Advice).To(HaveSuffix("."))
			if r.Effect == quirks.KnownBadVersion {
				g.Expect(r.Firmware).NotTo(BeEmpty(), "a version is bad, not all of them")
			}
			if r.General() {
				return
			}
			again := quirks.New().Match(quirks.Identity{Vendor: "none", Model: "none", Manager: "none", Version: "0.0.1"})
			for _, q := range again {
				g.Expect(q.ID).NotTo(Equal(r.ID), "it applies to a BMC that nobody makes")
			}
		})
	}
	g := NewWithT(t)
	g.Expect(len(rows)).To(BeNumerically(">=", 70))
	for _, e := range quirks.Effects {
		if !slices.Contains([]quirks.Effect{quirks.SessionOrBasic, quirks.RecommendedDriver, quirks.ImageSize}, e.Effect) { // these are for sites
			g.Expect(used).To(HaveKey(e.Effect), "an effect that no row has")
		}
	}
}

// TestTheSimulatorPlaysTheRows: each switch that a row names is there, and the simulator
// has none without a row: what no real BMC is known for proves nothing.
func TestTheSimulatorPlaysTheRows(t *testing.T) {
	g := NewWithT(t)
	switches := map[string]bool{}
	for _, info := range simulator.Quirks {
		switches[string(info.Quirk)] = true
	}
	named := map[string]bool{}
	for _, r := range quirks.New().Rows() {
		if r.Simulator == "" {
			g.Expect(r.Effect).To(BeElementOf(quirks.KnownBadVersion, quirks.RecommendedScheme), "%s: nothing plays it", r.ID)
			continue
		}
		for name := range strings.SplitSeq(r.Simulator, ",") {
			named[name] = true
			g.Expect(switches).To(HaveKey(name), r.ID)
		}
	}
	for name := range switches {
		g.Expect(named).To(HaveKey(name), "the simulator plays it, and no row has it: give it one, with the BMC that is known for it, or remove it")
	}
}

func TestSiteRows(t *testing.T) {
	g := NewWithT(t)
	site, err := quirks.Parse([]byte(`
- id: dell-idrac9-media-boot
  vendor: Dell
  manager: iDRAC9
  firmware: "<5.00.00.00"
  effect: known-bad-version
  value: 5.00.00.00 for VirtualMediaCD
  advice: We have tried 5.00.00.00, and it boots.
- id: rack-7
  vendor: "*"
  model: /^R7[45]0/
  effect: session-or-basic
  value: basic
  advice: Sessions leak here.
`))
	g.Expect(err).NotTo(HaveOccurred())
	table := quirks.New(site)
	got := ids(table, quirks.Identity{Vendor: "Dell", Model: "R740xd", Manager: "iDRAC9", Version: "5.10.50.00"})
	g.Expect(got).NotTo(ContainElement("dell-idrac9-media-boot"), "the site's row replaces ours")
	g.Expect(got[len(got)-1]).To(Equal("rack-7"))
	g.Expect(ids(table, quirks.Identity{Vendor: "HPE", Model: "DL380"})).NotTo(ContainElement("rack-7"))
	g.Expect(ids(quirks.New(), quirks.Identity{Vendor: "Dell", Manager: "iDRAC9", Version: "5.10.50.00"})).
		To(ContainElement("dell-idrac9-media-boot"), "other tables stay as they are")
}

func TestParseRefuses(t *testing.T) {
	row := func(change ...string) string {
		m := map[string]any{"id": "x", "vendor": "Dell", "effect": "advice-only", "advice": "Do."}
		for i := 0; i < len(change); i += 2 {
			m[change[i]] = change[i+1]
		}
		raw, _ := json.Marshal([]any{m})
		return string(raw)
	}
	cases := map[string]struct{ text, want string }{
		"no YAML":              {"a: [", "is no YAML"},
		"no list":              {"rows: []", "begin each row with a dash"},
		"no row":               {"- 5", "row 1: it is no list of members"},
		"null":                 {"- null", "row 1: it is no list of members"},
		"twice the same key":   {"- id: a\n  id: b", "is no YAML"},
		"unknown member":       {row("firmwre", "<1.0"), "row 1 (x): firmwre: there is no such member: use one of id, vendor"},
		"a number":             {"- id: x\n  vendor: Dell\n  effect: advice-only\n  advice: 5", "row 1 (x): advice: it is no text: put it between quotes"},
		"no id":                {row("id", ""), "row 1: id: \"\" is no name"},
		"odd id":               {row("id", "X y"), "row 1 (X y): id:"},
		"no effect":            {row("effect", ""), `row 1 (x): effect: "" is not one: use one of wait, retry`},
		"unknown effect":       {row("effect", "explode"), `effect: "explode" is not one`},
		"no advice":            {row("advice", ""), "row 1 (x): advice: it is empty"},
		"value without one":    {row("value", "5"), "value: the effect advice-only has none"},
		"no value":             {row("effect", "wait"), `value: "" is no duration`},
		"odd duration":         {row("effect", "wait", "value", "soon"), "write it as 10s"},
		"odd retry":            {row("effect", "retry", "value", "3"), "write it as 6x10s"},
		"odd size":             {row("effect", "image-size", "value", "0"), "write it as 1024"},
		"odd version":          {row("effect", "known-bad-version", "value", "new"), "is no version"},
		"no capability":        {row("effect", "not-supported", "value", "Flying"), `value: "Flying" is none of VirtualMediaCD`},
		"no capability, bad":   {row("effect", "known-bad-version", "value", "1.0 for Flying"), `value: "Flying" is none of`},
		"odd login":            {row("effect", "session-or-basic", "value", "token"), "none of session, basic"},
		"odd path":             {row("effect", "skip-path", "value", "/x"), "does not begin with /redfish/"},
		"range without a sign": {row("firmware", "6.0"), `firmware: "6.0" has no sign`},
		"range of words":       {row("firmware", "<new"), "names no version"},
		"odd glob":             {row("model", "[x"), "model: the pattern"},
		"odd expression":       {row("model", "/(/"), "model: the regular expression"},
		"empty alternative":    {row("vendor", "Dell|"), "vendor:"},
		"another's work":       {row("by", "ironflow"), "by: Ironflow does not apply the effect advice-only"},
		"nobody":               {row("by", "me"), `by: "me" is none of`},
		"everything":           {row("vendor", ""), "row 1 (x): it says of no BMC that it is meant"},
		"too long":             {row("advice", strings.Repeat("x", 1025)), "advice: it is longer"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := quirks.Parse([]byte(c.text))
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}

func TestParseNamesAllFaults(t *testing.T) {
	g := NewWithT(t)
	_, err := quirks.Parse([]byte("- id: a\n  vendor: Dell\n  effect: nap\n  advice: ''\n- id: a\n  effect: advice-only\n  advice: Do.\n  vender: HPE\n"))
	g.Expect(err).To(HaveOccurred())
	for _, want := range []string{`row 1 (a): effect: "nap"`, "row 1 (a): advice:", "row 2 (a): vender:", "row 2 (a): id: row 1 has it"} {
		g.Expect(err.Error()).To(ContainSubstring(want))
	}
}

func TestReadingQuirks(t *testing.T) {
	g := NewWithT(t)
	dell := quirks.New().Match(quirks.Identity{Vendor: "Dell", Manager: "iDRAC8", Version: "2.70.70.70"})
	g.Expect(quirks.Skips(dell, "/redfish/v1/Chassis/RAID.Integrated.1-1")).To(BeTrue())
	g.Expect(quirks.Skips(dell, "/redfish/v1/Chassis/Enclosure.Internal.0-1/Sensors")).To(BeTrue(), "what is below it, too")
	g.Expect(quirks.Skips(dell, "/redfish/v1/Chassis/System.Embedded.1")).To(BeFalse())
	bad := quirks.BadVersions(dell)
	g.Expect(bad).To(HaveLen(1))
	g.Expect(bad[0].Mends).To(Equal("2.75.75.75"))
	g.Expect(bad[0].Capability).To(Equal("VirtualMediaCD"))

	bmc := quirks.New().Match(quirks.Identity{Manager: "OpenBMC"})
	g.Expect(quirks.Values(bmc, quirks.ImageScheme)).To(Equal([]string{"https", "smb"}))
	g.Expect(quirks.Has(bmc, quirks.NoExpand)).To(BeFalse())
	ilo := quirks.New().Match(quirks.Identity{Vendor: "HPE", Manager: "iLO 5"})
	g.Expect(quirks.NotSupported(ilo, quirks.VolumeCreation)).To(HaveField("ID", "hpe-ilo5-no-raid"))
	g.Expect(quirks.NotSupported(ilo, quirks.SecureBoot)).To(BeNil())
}

func FuzzParseRows(f *testing.F) {
	f.Add([]byte("- id: a\n  vendor: /x/\n  effect: wait\n  value: 1s\n  advice: Wait.\n"))
	f.Add([]byte(`[{"id":"a","manager":"b|c","firmware":">=1.0,<2","effect":"skip-path","value":"/redfish/v1/*","advice":"No."}]`))
	f.Add([]byte("- {}"))
	f.Add([]byte("&a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := quirks.Parse(text)
		if err != nil {
			return
		}
		g := NewWithT(t)
		raw, err := json.Marshal(rows)
		g.Expect(err).NotTo(HaveOccurred())
		again, err := quirks.Parse(raw)
		g.Expect(err).NotTo(HaveOccurred(), "what was read can be written and read")
		g.Expect(again).To(HaveLen(len(rows)))
		quirks.New(rows).Match(quirks.Identity{Vendor: "Dell", Model: "R750", Manager: "iDRAC9", Version: "6.0"})
	})
}
