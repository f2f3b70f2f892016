package preflight_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// all are the cases of all rules.
func all(t *testing.T) map[string]test {
	t.Helper()
	cases := map[string]test{}
	for _, some := range []map[string]test{bootCases, raidCases, settingCases, updateCases} {
		for name, c := range some {
			if _, twice := cases[name]; twice {
				name += " (again)"
			}
			cases[name] = c
		}
	}
	return cases
}

// world are the wishes and the machine of a case.
func (c test) world() (preflight.Wishes, *machine) {
	w, m := plain(), able()
	if c.wishes != nil {
		c.wishes(&w)
	}
	if c.machine != nil {
		c.machine(m)
	}
	return w, m
}

func (c test) check() (preflight.Wishes, []v1alpha1.Mismatch) {
	w, m := c.world()
	return w, preflight.Check(w, &m.report, m.registry, m.settings)
}

func TestCheck(t *testing.T) {
	seen := map[string]bool{}
	for name, c := range all(t) {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, mismatches := c.check()
			var got []string
			var messages strings.Builder
			for _, m := range mismatches {
				got = append(got, m.Kind+" "+m.Field+" "+m.Reason)
				messages.WriteString(m.Message + "\n")
				seen[m.Reason] = true
				g.Expect(m.Message).To(HaveSuffix("."))
				g.Expect(m.Message).NotTo(ContainSubstring("secret"))
			}
			g.Expect(got).To(Equal(c.want), messages.String())
			for _, part := range c.says {
				g.Expect(strings.ToLower(messages.String())).To(ContainSubstring(strings.ToLower(part)))
			}
		})
	}
	for _, r := range preflight.Reasons {
		NewWithT(t).Expect(seen).To(HaveKey(r.Name), "a reason without a case")
	}
}

// TestEachRuleMatters: without a rule, the verdict on some case is another one.
func TestEachRuleMatters(t *testing.T) {
	type verdict struct {
		wishes  preflight.Wishes
		machine *machine
		want    int
	}
	var verdicts []verdict
	for _, c := range all(t) {
		if len(c.want) > 0 {
			w, m := c.world()
			verdicts = append(verdicts, verdict{w, m, len(c.want)})
		}
	}
	for rule := range preflight.Rules {
		missed := slices.ContainsFunc(verdicts, func(v verdict) bool {
			return len(preflight.CheckWithout(rule, v.wishes, &v.machine.report, v.machine.registry, v.machine.settings)) < v.want
		})
		NewWithT(t).Expect(missed).To(BeTrue(), "no case needs rule %d of the table", rule)
	}
}

// TestUnknownIsNoMismatch: every case passes where nothing is known of the machine, but
// for wishes that are wrong by themselves.
func TestUnknownIsNoMismatch(t *testing.T) {
	alone := map[string]bool{}
	for _, r := range preflight.Reasons {
		alone[r.Name] = r.Alone
	}
	unknown := v1alpha1.BMCReport{Storage: []v1alpha1.StorageReport{{ID: "S", CreatesVolumes: v1alpha1.Unknown}}, BIOS: &v1alpha1.BIOSReport{}}
	for _, c := range probe.Capabilities {
		unknown.Capabilities = append(unknown.Capabilities, v1alpha1.Capability{Name: c.Name, State: v1alpha1.Unknown})
	}
	for name, c := range all(t) {
		t.Run(name, func(t *testing.T) {
			w, _ := c.check()
			for _, report := range []*v1alpha1.BMCReport{nil, {}, &unknown} {
				for _, m := range preflight.Check(w, report, nil, nil) {
					NewWithT(t).Expect(alone[m.Reason]).To(BeTrue(), "%s: %s", m.Reason, m.Message)
				}
			}
		})
	}
	t.Run("any sound wishes", rapid.MakeCheck(func(t *rapid.T) {
		w := sound(t)
		for _, report := range []*v1alpha1.BMCReport{nil, {}, &unknown} {
			if mismatches := preflight.Check(w, report, nil, nil); len(mismatches) > 0 {
				t.Fatalf("%v", mismatches)
			}
		}
	}))
}

// sound draws wishes that some machine meets.
func sound(t *rapid.T) preflight.Wishes {
	word := rapid.StringMatching(`[A-Z][a-z]{1,8}[0-9]?`).Filter(func(s string) bool {
		lower := strings.ToLower(s)
		return !strings.Contains(lower, "tpm") && !strings.Contains(lower, "password")
	})
	addresses := []preflight.Address{
		{Scheme: "redfish-virtualmedia", Boot: preflight.VirtualMedia, Redfish: true},
		{Scheme: "idrac-virtualmedia", Boot: preflight.VirtualMedia, Redfish: true},
		{Scheme: "redfish", Boot: preflight.Network, Redfish: true},
		{Scheme: "redfish-uefihttp", Boot: preflight.HTTPBoot, Redfish: true},
	}
	w := preflight.Wishes{
		Address: rapid.SampledFrom(addresses).Draw(t, "address"), BootMode: rapid.SampledFrom([]string{"", "UEFI", "UEFISecureBoot"}).Draw(t, "mode"),
		LiveImage: preflight.LiveImage{Scheme: rapid.SampledFrom([]string{"", "http", "https", "nfs"}).Draw(t, "scheme"), Query: rapid.Bool().Draw(t, "query"), Bytes: rapid.Int64Min(0).Draw(t, "bytes")},
		Firmware:  map[string]bool{"sriovEnabled": rapid.Bool().Draw(t, "sriov")},
		Settings:  map[string]any{},
	}
	for _, name := range rapid.SliceOfNDistinct(word, 0, 5, rapid.ID).Draw(t, "settings") {
		if w.Settings[name] = any(rapid.Int().Draw(t, "number")); rapid.Bool().Draw(t, "text") {
			w.Settings[name] = rapid.String().Draw(t, "value")
		}
	}
	disks := map[string]int{"0": 3, "1": 2, "5": 4, "6": 4, "1+0": 6, "5+0": 6, "6+0": 8}
	for i := range rapid.IntRange(0, 3).Draw(t, "volumes") {
		level := rapid.SampledFrom(slices.Sorted(maps.Keys(disks))).Draw(t, "level")
		v := preflight.Volume{Level: level, SizeGiB: rapid.IntRange(1, 1<<40).Draw(t, "size"), Count: disks[level], Name: fmt.Sprint(i)}
		if rapid.Bool().Draw(t, "named") {
			v.Controller, v.SizeGiB = word.Draw(t, "controller"), 0
			for d := range v.Count {
				v.Disks = append(v.Disks, fmt.Sprint("disk-", i, "-", d))
			}
		}
		w.Volumes = append(w.Volumes, v)
	}
	for range rapid.IntRange(0, 2).Draw(t, "updates") {
		w.Updates = append(w.Updates, preflight.Update{
			Component: rapid.SampledFrom([]string{"bmc", "bios", "nic:1"}).Draw(t, "component"), URL: "https://192.0.2.9/" + word.Draw(t, "path"),
			Version: rapid.SampledFrom([]string{"", "1.0"}).Draw(t, "version"), Bytes: rapid.Int64Min(0).Draw(t, "bytes"),
		})
	}
	return w
}

// TestOrderAndBound: a verdict has its mismatches by object, and not too many.
func TestOrderAndBound(t *testing.T) {
	g := NewWithT(t)
	w, m := plain(), able()
	update(preflight.Update{Component: "cpld", URL: "https://192.0.2.9/x"})(&w)
	set("Wings", "x")(&w)
	raid(preflight.Volume{Level: "2", SizeGiB: 1})(&w)
	var kinds []string
	for _, mismatch := range preflight.Check(w, &m.report, m.registry, m.settings) {
		kinds = append(kinds, mismatch.Kind)
	}
	g.Expect(kinds).To(Equal([]string{"BareMetalHost", "HostFirmwareSettings", "HostFirmwareComponents"}))

	for i := range 100 {
		w.Settings[fmt.Sprint("Wing", i)] = strings.Repeat("x", 10_000)
	}
	mismatches := preflight.Check(w, &m.report, m.registry, m.settings)
	g.Expect(mismatches).To(HaveLen(64))
	g.Expect(mismatches[63].Message).To(HaveSuffix("(And 39 more mismatches.)"))
	for _, mismatch := range mismatches {
		g.Expect(len(mismatch.Message)).To(BeNumerically("<", 1000))
	}
}

func TestCapabilitiesAreTheProbes(t *testing.T) {
	var names []string
	for _, c := range probe.Capabilities {
		names = append(names, c.Name)
	}
	for _, name := range append([]string{"RAID", "StorageDiscovered", "UpdateLicence"}, quirks.Capabilities...) {
		NewWithT(t).Expect(names).To(ContainElement(name))
	}
}

func TestDigest(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]string{}
	for name, c := range all(t) {
		w, _ := c.check()
		again, _ := c.check()
		g.Expect(preflight.Digest(w)).To(Equal(preflight.Digest(again)), name)
		g.Expect(preflight.Digest(w)).To(HaveLen(32))
		seen[preflight.Digest(w)] = name
	}
	g.Expect(len(seen)).To(BeNumerically(">", 90), "other wishes have other digests")
	keep, none := plain(), plain()
	none.Volumes = []preflight.Volume{}
	g.Expect(preflight.Digest(keep)).NotTo(Equal(preflight.Digest(none)), "to keep volumes is not to clear them")
	moved := plain()
	moved.LiveImage.Address = "http://192.0.2.9/built-anew.iso"
	g.Expect(preflight.Digest(moved)).To(Equal(preflight.Digest(keep)), "where nobody weighs it, a live image is like the next")
	g.Expect(preflight.Digest(moved, moved.LiveImage.Address)).NotTo(Equal(preflight.Digest(moved, "http://192.0.2.9/b.iso")))
	g.Expect(preflight.Digest(moved, "a", "b")).NotTo(Equal(preflight.Digest(moved, "ab")))
}

func TestLiveImageAt(t *testing.T) {
	cases := map[string]preflight.LiveImage{
		"https://192.0.2.9/a.iso":     {Scheme: "https", Bytes: 5},
		"HTTP://192.0.2.9/a.iso?x":    {Scheme: "http", Query: true, Bytes: 5},
		"http://192.0.2.9/a=b.iso":    {Scheme: "http", Query: true, Bytes: 5},
		"":                            {Bytes: 5},
		"a.iso":                       {Bytes: 5},
		"http://192.0.2.9/%zz?secret": {Bytes: 5},
	}
	for address, want := range cases {
		want.Address = address
		NewWithT(t).Expect(preflight.LiveImageAt(address, 5)).To(Equal(want), address)
	}
}
