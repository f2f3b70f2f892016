package health

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/health/rules"
)

func states(r rules.Reading) map[string]string {
	out := map[string]string{}
	for _, p := range r.Parts {
		v, _ := rules.Assess(p)
		out[p.Name] = string(v.State)
	}
	return out
}

// all reads everything, within so many requests.
func (w *watch) all(requests int) rules.Reading {
	w.t.Helper()
	reading, err := Read(w.t.Context(), w.c, Options{Report: w.report, Requests: requests, Everything: true, Now: func() time.Time { return noon }})
	NewWithT(w.t).Expect(err).NotTo(HaveOccurred())
	return reading
}

// TestManyStorages: HPE shows each NVMe drive as a storage of its own (capture of a
// DL385 Gen10 Plus v2: 17 of them, the drive in the 15th has failed).
func TestManyStorages(t *testing.T) {
	g := NewWithT(t)
	bmc := usual()
	var paths []string
	for i := range 17 {
		path := fmt.Sprintf("%s/Storage/DA%02d", sys, i)
		paths = append(paths, path)
		health := "OK"
		if i == 14 {
			health = "Critical"
		}
		bmc.resources[path] = object{"Name": fmt.Sprintf("NVMe %d", i), "Status": stat("Enabled", health, ""), "Drives": []object{link(path + "/d")}}
		bmc.resources[path+"/d"] = object{"Name": fmt.Sprintf("Drive %d", i), "Status": stat("Enabled", health, "")}
	}
	bmc.resources[sys+"/Storage"] = members(paths...)
	w := newWatch(t, bmc)
	reading := w.all(1000)
	g.Expect(states(reading)).To(HaveKeyWithValue("Drive 14", "Critical"))
	g.Expect(reading.Left).To(BeEmpty())
	// In a cluster: within a day of passes.
	rows := w.pass(40)
	g.Expect(rows[rules.Storage].State).To(Equal(critical), "%v", rows[rules.Storage])
}

// TestAPageOfStoragesThatCannotBeRead hides none of the page before it.
func TestAPageOfStoragesThatCannotBeRead(t *testing.T) {
	g := NewWithT(t)
	first := sys + "/Storage/RAID"
	page := members(first)
	page["Members@odata.count"], page["Members@odata.nextLink"] = 2, sys+"/Storage?$skip=1"
	bmc := usual().set(map[string]any{
		sys + "/Storage": page, sys + "/Storage?$skip=1": 500,
		first:        object{"Name": "RAID", "Status": stat("Enabled", "Critical", ""), "Drives": []object{link(first + "/d")}},
		first + "/d": object{"Name": "Drive 7", "Status": stat("Enabled", "Critical", "")},
	})
	w := newWatch(t, bmc)
	g.Expect(states(w.all(1000))).To(HaveKeyWithValue("Drive 7", "Critical"))
	g.Expect(w.pass(3)[rules.Storage].State).To(Equal(critical))
}

// TestDrivesOfManyStorages: only the drive itself shows that it fails; all of them have
// their turn before one comes again, and it is confirmed by the next pass.
func TestDrivesOfManyStorages(t *testing.T) {
	for name, rollup := range map[string]string{"that say nothing of them": "", "that call them well": "OK"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			bmc := usual()
			var paths []string
			drives := 0
			for i := range 11 {
				path := fmt.Sprintf("%s/Storage/%02d", sys, i)
				paths = append(paths, path)
				var links []object
				for d := range 5 {
					drive := fmt.Sprintf("/bay/%02d.%d", i, d)
					links = append(links, link(drive))
					bmc.resources[drive] = object{"Name": "Drive " + drive, "Status": stat("Enabled", "OK", "")}
					drives++
				}
				bmc.resources[path] = object{"Name": path, "Status": stat("Enabled", "OK", rollup), "Drives": links}
			}
			bmc.resources["/bay/09.3"] = object{"Name": "Drive 9.3", "Status": stat("Enabled", "OK", ""), "FailurePredicted": true}
			bmc.resources[sys+"/Storage"] = members(paths...)
			w := newWatch(t, bmc)
			read := map[string]int{}
			passes := 0
			for ; !w.past.Pending() && passes < 60; passes++ {
				w.pass(1)
				for _, p := range w.last.Parts {
					if p.Kind == rules.Drive {
						read[p.ID]++
					}
				}
			}
			g.Expect(read).To(HaveKey("/bay/09.3"))
			g.Expect(read).To(HaveEach(BeNumerically("<=", 2)), "one comes again before the others")
			rows := w.pass(1)
			g.Expect(rows[rules.Storage].State).To(Equal(warning))
			g.Expect(rows[rules.Storage].Message).To(Equal("Drive 9.3 predicts its failure"))
			bmc.resources["/bay/09.3"] = object{"Name": "Drive 9.3", "Status": stat("Enabled", "OK", "")}
			rows = w.pass(2)
			g.Expect(rows[rules.Storage].State).To(Equal(ok), "it was replaced")
		})
	}
}

// manyChassis is a machine of so many chassis with the older resources.
func manyChassis(n int) *tree {
	bmc := usual()
	s := maps.Clone(bmc.resources[sys].(object))
	var links []object
	for i := range n {
		path := fmt.Sprintf("/redfish/v1/Chassis/C%d", i)
		links = append(links, link(path))
		bmc.resources[path] = object{"Thermal": link(path + "/Thermal"), "Power": link(path + "/Power")}
		bmc.resources[path+"/Thermal"] = object{"Fans": []object{{"Name": "Fan 1", "Status": stat("Enabled", "OK", "")}}}
		bmc.resources[path+"/Power"] = object{"PowerSupplies": []object{{"Name": "PSU 1", "Status": stat("Enabled", "OK", "")}}}
	}
	s["Links"] = object{"Chassis": links}
	bmc.resources[sys] = s
	return bmc
}

// TestManyChassis: those of a rack of accelerators take more requests than a pass has;
// a fault in the last one is found, and the parts of the system have their turn too.
func TestManyChassis(t *testing.T) {
	g := NewWithT(t)
	bmc := manyChassis(9)
	bmc.resources["/redfish/v1/Chassis/C8/Thermal"] = object{"Fans": []object{{"Name": "Fan 1", "Status": stat("Enabled", "Critical", "")}}}
	bmc.resources["/d/2"] = object{"Name": "Drive 2", "Status": stat("Enabled", "Critical", "")}
	w := newWatch(t, bmc)
	rows := w.pass(1)
	g.Expect(rows[rules.Cooling]).To(Equal(row(rules.Cooling, unknown, rules.NotYet)), "most of them were not read")
	g.Expect(w.past.Touring).To(BeTrue())
	rows = w.pass(15)
	g.Expect(rows[rules.Cooling].State).To(Equal(critical))
	g.Expect(rows[rules.Power]).To(Equal(row(rules.Power, ok, "")))
	g.Expect(rows[rules.Storage].State).To(Equal(critical))
	g.Expect(w.past.Touring).To(BeFalse())
	// What is bad stays so while it is not looked at, and others of its name are well.
	g.Expect(w.pass(7)[rules.Cooling].State).To(Equal(critical))
	g.Expect(states(w.all(1000))).To(HaveKeyWithValue("Drive 2", "Critical"))
	g.Expect(w.all(1000).Left).To(BeEmpty())

	bmc.set(map[string]any{"/redfish/v1/Chassis/C8/Thermal": object{"Fans": []object{{"Name": "Fan 2", "Status": stat("Enabled", "OK", "")}}}})
	g.Expect(w.pass(10)[rules.Cooling].State).To(Equal(ok), "the bad one is not listed any more")
}

// TestAChassisThatIsNotThere hides none of the others.
func TestAChassisThatIsNotThere(t *testing.T) {
	g := NewWithT(t)
	bmc := manyChassis(2)
	bmc.resources["/redfish/v1/Chassis/C0"] = 404
	bmc.resources["/redfish/v1/Chassis/C1/Power"] = object{"PowerSupplies": []object{{"Name": "PSU 1", "Status": stat("Enabled", "Critical", "")}}}
	rows := newWatch(t, bmc).pass(3)
	g.Expect(rows[rules.Cooling].State).To(Equal(ok))
	g.Expect(rows[rules.Power].State).To(Equal(critical))
}

// TestPartsOfOneName: a good one hides no bad one, in two chassis or in one list.
func TestPartsOfOneName(t *testing.T) {
	bad, good := object{"Name": "Fan", "Status": stat("Enabled", "Critical", "")}, object{"Name": "Fan", "Status": stat("Enabled", "OK", "")}
	for name, fans := range map[string][2][]object{"in two chassis": {{bad}, {good}}, "in a list": {{bad, good}, {good}}} {
		t.Run(name, func(t *testing.T) {
			bmc := manyChassis(2)
			for i, list := range fans {
				bmc.resources[fmt.Sprintf("/redfish/v1/Chassis/C%d/Thermal", i)] = object{"Fans": list}
			}
			NewWithT(t).Expect(newWatch(t, bmc).pass(3)[rules.Cooling].State).To(Equal(critical))
		})
	}
}

// TestAGroupOfWhichNothingWasReadIsNotOK: other parts of the domain are well, and say
// nothing of it.
func TestAGroupOfWhichNothingWasReadIsNotOK(t *testing.T) {
	subsystem := func(member string, more object) map[string]any {
		out := map[string]any{
			box:                      object{"ThermalSubsystem": link(box + "/TS"), "PowerSubsystem": link(box + "/PS"), "Sensors": link(box + "/Sensors")},
			box + "/TS":              object{"Fans": link(box + "/Fans"), "LeakDetection": link(box + "/Leaks")},
			box + "/Fans":            members("/part/fan"),
			box + "/Leaks":           object{"LeakDetectors": link(box + "/Detectors")},
			box + "/Detectors":       members("/part/leak"),
			box + "/PS":              object{"PowerSupplies": link(box + "/Supplies")},
			box + "/Supplies":        members("/part/supply"),
			box + "/Sensors":         members("/part/sensor"),
			"/part/fan":              object{"Name": "Fan", "Status": stat("Enabled", "OK", "")},
			"/part/leak":             object{"Name": "Leak", "Status": stat("Enabled", "OK", "")},
			"/part/supply":           object{"Name": "PSU", "Status": stat("Enabled", "OK", "")},
			"/part/sensor":           object{"Name": "Inlet", "ReadingType": "Temperature", "Reading": 20, "Status": stat("Enabled", "OK", "")},
			sys + "/Storage/R/other": nil,
		}
		maps.Copy(out, more)
		if member != "" {
			out[member] = 400
		}
		return out
	}
	without := func(member string) object {
		o := maps.Clone(usual().resources[sys].(object))
		delete(o, member)
		return o
	}
	drives := object{"Name": "RAID", "Status": stat("Enabled", "OK", ""), "Drives": []object{link("/d/1"), link("/d/2")}}
	for name, c := range map[string]struct {
		change map[string]any
		domain rules.Domain
		says   string
	}{
		"drives":                  {map[string]any{sys + "/Storage/R": drives, "/d/1": 400, "/d/2": 400}, rules.Storage, "status 400"},
		"a storage":               {map[string]any{sys + "/Storage": members(sys+"/Storage/R", sys+"/Storage/S"), sys + "/Storage/S": 400}, rules.Storage, "status 400"},
		"storages, not listed":    {map[string]any{sys + "/Storage": object{"Members@odata.count": 2}}, rules.Storage, errBeyond.Error()},
		"storages, in other form": {map[string]any{sys + "/Storage": object{"Members": "none", "Members@odata.count": 2}}, rules.Storage, errBeyond.Error()},
		"modules of memory":       {map[string]any{sys: without("MemorySummary"), sys + "/Memory/1": 400, sys + "/Memory/2": 400}, rules.Memory, "status 400"},
		"modules, not listed":     {map[string]any{sys: without("MemorySummary"), sys + "/Memory": object{"Members@odata.count": 8}}, rules.Memory, errBeyond.Error()},
		"fans":                    {subsystem("/part/fan", nil), rules.Cooling, "status 400"},
		"leak detectors":          {subsystem("/part/leak", nil), rules.Cooling, "status 400"},
		"supplies":                {subsystem("/part/supply", nil), rules.Power, "status 400"},
		"sensors":                 {subsystem("/part/sensor", map[string]any{box + "/Fans": members()}), rules.Cooling, "status 400"},
		"volumes": {map[string]any{
			sys + "/Storage/R": object{"Name": "RAID", "Status": stat("Enabled", "OK", ""), "Volumes": link("/v")},
			"/v":               members("/v/1"),
			"/v/1":             400,
		}, rules.Storage, "status 400"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			bmc := usual().set(c.change)
			rows := newWatch(t, bmc).pass(4)
			g.Expect(rows[c.domain].State).To(Equal(unknown), rows[c.domain].Message)
			g.Expect(rows[c.domain].Message).To(ContainSubstring(c.says))
		})
	}
	g := NewWithT(t)
	for domain, row := range newWatch(t, usual().set(subsystem("", nil))).pass(4) {
		g.Expect(row.State).To(Equal(ok), "%s: %s", domain, row.Message)
	}
}

// TestWhatWasLeftOutIsSaid to whoever looks at everything.
func TestWhatWasLeftOutIsSaid(t *testing.T) {
	many := func(n int) object {
		var paths []string
		for i := range n {
			paths = append(paths, fmt.Sprintf("/m/%d", i))
		}
		return members(paths...)
	}
	for name, c := range map[string]struct {
		change   map[string]any
		requests int
		domain   rules.Domain
		left     rules.Left
	}{
		"for want of requests": {map[string]any{sys + "/Memory": many(50)}, 30, rules.Memory, rules.Left{Parts: 30, Why: errSpent.Error()}},
		"as they are too many": {map[string]any{sys + "/Memory": many(maxMembers + 7)}, 5000, rules.Memory, rules.Left{Parts: 7, Why: errBeyond.Error()}},
		"as they are not listed": {
			map[string]any{sys + "/Memory": object{"Members": []object{link(sys + "/Memory/1")}, "Members@odata.count": 16}},
			500,
			rules.Memory,
			rules.Left{Parts: 15, Why: errBeyond.Error()},
		},
		"as one cannot be read": {map[string]any{"/d/2": 400}, 500, rules.Storage, rules.Left{Parts: 1, Why: "status 400"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			left := newWatch(t, usual().set(c.change)).all(c.requests).Left[c.domain]
			g.Expect(left.Parts).To(Equal(c.left.Parts))
			g.Expect(left.Why).To(ContainSubstring(c.left.Why))
		})
	}
}

// TestAListShowsNoGroupAsOKThatWasNotRead: neither does a person who looks see it so.
func TestAListShowsNoGroupAsOKThatWasNotRead(t *testing.T) {
	g := NewWithT(t)
	drives := object{"Name": "RAID", "Status": stat("Enabled", "OK", ""), "Drives": []object{link("/d/1"), link("/d/2")}}
	reading := newWatch(t, usual().set(map[string]any{sys + "/Storage/R": drives, "/d/1": 400, "/d/2": 400})).all(500)
	g.Expect(Parts(reading)).To(ContainElement(And(HaveField("Name", "RAID"), HaveField("State", unknown), HaveField("Shows", ContainSubstring("status 400")))))
	reading = newWatch(t, usual().set(map[string]any{sys + "/Storage/R": drives, "/d/1": 400})).all(500)
	g.Expect(Parts(reading)).NotTo(ContainElement(HaveField("State", unknown)))
}

// TestPagesOfAList: further pages are followed in either form of their link, and one that
// leads back ends it.
func TestPagesOfAList(t *testing.T) {
	for name, next := range map[string]string{"Members@odata.nextLink": "/page/2", "@odata.nextLink": "/page/2"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			bmc := usual()
			o := maps.Clone(bmc.resources[sys].(object))
			delete(o, "MemorySummary")
			first, second := members(sys+"/Memory/1"), members(sys+"/Memory/2")
			first[name], first["Members@odata.count"] = next, 2
			second[name], second["Members@odata.count"] = sys+"/Memory", 2
			bmc.set(map[string]any{sys: o, sys + "/Memory": first, "/page/2": second})
			bmc.resources[sys+"/Memory/2"] = object{"DeviceLocator": "DIMM A2", "Status": stat("Enabled", "Critical", "")}
			w := newWatch(t, bmc)
			rows := w.pass(3)
			g.Expect(rows[rules.Memory].State).To(Equal(critical))
			g.Expect(strings.Join(bmc.asked, " ")).To(ContainSubstring("/page/2"))
		})
	}
}
