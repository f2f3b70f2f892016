package preflight_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
	"github.com/ironflow/ironflow/bmc/preflight"
)

// FuzzCheck: reports and registries come out of BMCs, wishes from users. Whatever they
// hold, a verdict ends, is bounded, and is the same again.
func FuzzCheck(f *testing.F) {
	for _, c := range []test{raidCases["too few disks"], settingCases["greyed out"], updateCases["an image that is too old"]} {
		w, m := plain(), able()
		c.wishes(&w)
		wishes, _ := json.Marshal(w)
		report, _ := json.Marshal(m.report)
		f.Add(wishes, report, []byte(`{"RegistryEntries": {"Attributes": [{"AttributeName": "Turbo", "Type": "Enumeration"}]}}`), []byte(`{"Attributes": {"Turbo": "On", "Cores": 8}}`))
	}
	f.Add([]byte(`{"Volumes": [{"Level": "6+0", "SizeGiB": 9000000000, "Count": -5}]}`), []byte(`{"storage": [{"id": "a", "drives": [{"id": "b", "capacityBytes": -1}]}]}`), []byte(`{}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, rawWishes, rawReport, rawRegistry, rawSettings []byte) {
		var w preflight.Wishes
		var report v1alpha1.BMCReport
		if json.Unmarshal(rawWishes, &w) != nil || json.Unmarshal(rawReport, &report) != nil {
			return
		}
		registry, _ := bios.ParseRegistry(rawRegistry)
		settings, _ := bios.ParseSettings(rawSettings, nil)
		g := NewWithT(t)
		mismatches := preflight.Check(w, &report, registry, settings)
		g.Expect(len(mismatches)).To(BeNumerically("<=", 64))
		for _, m := range mismatches {
			g.Expect(utf8.RuneCountInString(m.Message)).To(BeNumerically("<", 1000))
			g.Expect(m.Kind).NotTo(BeEmpty())
			g.Expect(m.Field).NotTo(BeEmpty())
		}
		g.Expect(preflight.Check(w, &report, registry, settings)).To(Equal(mismatches))
	})
}
