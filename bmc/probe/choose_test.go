package probe

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/lenient"
)

func systemWith(path string, boots bool) found[system] {
	f := found[system]{path: path}
	f.value.Boot.Set, f.value.Boot.Value.Target = boots, lenient.Present(boots)
	return f
}

func TestChooseSystem(t *testing.T) {
	broken := found[system]{path: "/redfish/v1/Systems/broken", err: errors.New("no")}
	for name, c := range map[string]struct {
		systems []found[system]
		want    int
		remark  string
	}{
		"the only one": {[]found[system]{systemWith("/redfish/v1/Systems/1", false)}, 0, ""},
		"the one that boots": {
			[]found[system]{systemWith("/redfish/v1/Systems/gpu", false), systemWith("/redfish/v1/Systems/host", true)},
			1, "name /redfish/v1/Systems/host in the address",
		},
		"DGX and its baseboard": {
			[]found[system]{systemWith("/redfish/v1/Systems/HGX_Baseboard_0", true), systemWith("/redfish/v1/Systems/DGX", true)},
			1, "name /redfish/v1/Systems/DGX in the address",
		},
		"two that boot":                        {[]found[system]{systemWith("/redfish/v1/Systems/a", true), systemWith("/redfish/v1/Systems/b", true)}, 0, "the first was taken"},
		"none that boots":                      {[]found[system]{systemWith("/redfish/v1/Systems/a", false), systemWith("/redfish/v1/Systems/b", false)}, 0, "none with a boot override"},
		"one that cannot be read, and another": {[]found[system]{broken, systemWith("/redfish/v1/Systems/b", true)}, 1, "/redfish/v1/Systems/b"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			index, remark := chooseSystem(c.systems)
			g.Expect(index).To(Equal(c.want))
			g.Expect(remark).To(ContainSubstring(c.remark))
			g.Expect(remark == "").To(Equal(c.remark == ""))
		})
	}
}

func TestChooseManager(t *testing.T) {
	g := NewWithT(t)
	with := func(version string, shell bool) found[manager] {
		f := found[manager]{path: "/m"}
		f.value.FirmwareVersion, f.value.CommandShell.ServiceEnabled = lenient.String(version), lenient.Bool(shell)
		return f
	}
	failed := found[manager]{path: "/m", err: errors.New("no")}
	g.Expect(chooseManager([]found[manager]{with("", false), with("3.0", true)})).To(Equal(1), "an empty one is passed over")
	g.Expect(chooseManager([]found[manager]{with("1.0", false), with("3.0", true)})).To(Equal(1), "a console decides")
	g.Expect(chooseManager([]found[manager]{failed, with("", false)})).To(Equal(1))
	g.Expect(chooseManager([]found[manager]{failed})).To(Equal(-1))
	g.Expect(chooseManager(nil)).To(Equal(-1))
}

func TestChooseRegistry(t *testing.T) {
	at := func(ids ...string) []string {
		for i := range ids {
			ids[i] = "/redfish/v1/Registries/" + ids[i]
		}
		return ids
	}
	for name, c := range map[string]struct {
		name  string
		paths []string
		want  string
	}{
		"the same":                  {"BiosAttributeRegistry.v1_0_0", at("Base", "BiosAttributeRegistry.v1_0_0"), "BiosAttributeRegistry.v1_0_0"},
		"the same before another":   {"BiosAttributeRegistry.v1_0_3", at("BiosAttributeRegistry.v1_0_0", "BiosAttributeRegistry.v1_0_3"), "BiosAttributeRegistry.v1_0_3"},
		"another version":           {"BiosAttributeRegistry.v1_0_3", at("ManagerAttributeRegistry.v1_0_0", "BiosAttributeRegistry.v1_0_0"), "BiosAttributeRegistry.v1_0_0"},
		"not another name":          {"BiosAttributeRegistryA42.v1_1_20", at("BiosAttributeRegistryU30.v1_1_20"), ""},
		"none is named":             {"", at("Base", "BiosAttributeRegistry"), "BiosAttributeRegistry"},
		"none is named, none there": {"", at("Base", "NetworkAttributeRegistry"), ""},
		"with a slash at the end":   {"BiosAttributeRegistryA42.v1_1_20", at("BiosAttributeRegistryA42.v1_1_20/"), "BiosAttributeRegistryA42.v1_1_20/"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want != "" {
				c.want = "/redfish/v1/Registries/" + c.want
			}
			NewWithT(t).Expect(chooseRegistry(c.name, c.paths)).To(Equal(c.want))
		})
	}
}

func TestSlotRank(t *testing.T) {
	slots := []string{"RDOC1", "Remote1", "EXT1", "Floppy1", "1", "CD1"}
	slices.SortStableFunc(slots, func(a, b string) int { return slotRank("/x/"+a) - slotRank("/x/"+b) })
	NewWithT(t).Expect(slots).To(Equal([]string{"CD1", "EXT1", "1", "RDOC1", "Remote1", "Floppy1"}))
}

// TestSpread: a sample of any size takes both ends, and each index comes once.
func TestSpread(t *testing.T) {
	g := NewWithT(t)
	g.Expect(spread(24)[:5]).To(Equal([]int{0, 23, 12, 6, 18}))
	for n := 1; n < 70; n++ {
		sorted := slices.Sorted(slices.Values(spread(n)))
		g.Expect(sorted).To(Equal(inOrder(n)))
	}
}

// TestPendingSettings: some vendors list the changes alone, others all settings.
func TestPendingSettings(t *testing.T) {
	parse := func(text string) (m map[string]json.RawMessage) {
		NewWithT(t).Expect(json.Unmarshal([]byte(text), &m)).To(Succeed())
		return m
	}
	current := parse(`{"A": "Enabled", "B": 1, "C": null, "D": true}`)
	for waiting, want := range map[string]int{
		`{}`:                0,
		`{"A": "Enabled"}`:  0,
		`{"A": "Disabled"}`: 1,
		`{"A": "Enabled", "B": 1.0, "C": null, "D": true}`: 0,
		`{"A": "Enabled", "B": "1", "C": "x", "D": false}`: 2, // a number that is written as a text is no change
		`{"B": "2", "D": "true", "A": {}}`:                 2,
		`{"E": 1}`:                                         1,
	} {
		NewWithT(t).Expect(pendingSettings(current, parse(waiting))).To(Equal(want), waiting)
	}
}

func TestJobsThatWait(t *testing.T) {
	for state, want := range map[string]bool{
		"Completed": false, "CompletedWithErrors": false, "Failed": false, "Exception": false, "Killed": false, "Cancelled": false, "RebootCompleted": false,
		"Scheduled": true, "Running": true, "New": true, "Downloading": true, "Pending": true, "Paused": true, "": false,
	} {
		NewWithT(t).Expect(waits(job{JobState: lenient.String(state)})).To(Equal(want), state)
	}
}

func TestProblem(t *testing.T) {
	var foreign, raw drive
	foreign.Oem.Dell.DellPhysicalDisk.RaidStatus, raw.Oem.Dell.DellPhysicalDisk.RaidStatus = "Foreign", "NonRAID"
	for want, d := range map[string]drive{
		"":                    {Status: health{Health: "OK", State: "Enabled"}},
		"in a critical state": {Status: health{Health: "Critical"}},
		"predicted to fail":   {FailurePredicted: true},
		"disabled":            {Status: health{State: "Disabled"}},
		"foreign":             foreign,
		"not in RAID mode":    raw,
	} {
		NewWithT(t).Expect(problem(d)).To(Equal(want))
	}
}
