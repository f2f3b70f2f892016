package health

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// boss is a drive at a BOSS card.
const boss = sys + "/Storage/AHCI.Slot.2-1/Drives/Disk.Direct.0-0:AHCI.Slot.2-1"

const (
	ok       = v1alpha1.HealthOK
	warning  = v1alpha1.HealthWarning
	critical = v1alpha1.HealthCritical
	unknown  = v1alpha1.HealthUnknown
)

func row(domain rules.Domain, state v1alpha1.HealthState, message string) v1alpha1.DomainHealth {
	return v1alpha1.DomainHealth{Domain: string(domain), State: state, Message: message}
}

// TestReadUsual: a server that is well takes less than a pass may.
func TestReadUsual(t *testing.T) {
	g := NewWithT(t)
	bmc := usual()
	w := newWatch(t, bmc)
	rows := w.pass(1)
	for _, domain := range rules.Domains {
		g.Expect(rows[domain]).To(Equal(row(domain, ok, "")))
	}
	g.Expect(bmc.count("")).To(Equal(11))
	rows = w.pass(1)
	g.Expect(rows[rules.Log].State).To(Equal(ok))
	g.Expect(bmc.count("")).To(Equal(9), "where the log is, is known then")
	g.Expect(w.alerts).To(BeEmpty())
}

// TestReadFaults: what is wrong is found, in the forms that BMCs have.
func TestReadFaults(t *testing.T) {
	subsystems := map[string]any{
		box:                object{"ThermalSubsystem": link(box + "/TS"), "PowerSubsystem": link(box + "/PS")},
		box + "/TS":        object{"Status": stat("Enabled", "OK", "Critical"), "Fans": link(box + "/TS/Fans"), "LeakDetection": link(box + "/TS/Leaks")},
		box + "/TS/Fans":   members(box+"/TS/Fans/1", box+"/TS/Fans/2"),
		box + "/TS/Fans/1": object{"Name": "Fan 1", "Status": stat("Enabled", "OK", "")},
		box + "/TS/Fans/2": object{"Name": "Fan 2", "Status": stat("Enabled", "Critical", "")},
		box + "/TS/Leaks":  object{"Status": stat("Enabled", "OK", "OK")},
		box + "/PS":        object{"Status": stat("Enabled", "OK", ""), "PowerSupplies": link(box + "/PS/Supplies")},
		sys + "/Storage/R": object{"Status": stat("Enabled", "OK", "OK")},
	}
	with := func(more map[string]any) map[string]any {
		all := maps.Clone(subsystems)
		maps.Copy(all, more)
		return all
	}
	thermal := func(fans, temperatures any) map[string]any {
		return map[string]any{box + "/Thermal": object{"Fans": fans, "Temperatures": temperatures}}
	}
	for name, c := range map[string]struct {
		change map[string]any
		domain rules.Domain
		state  v1alpha1.HealthState
		says   string
	}{
		"a fan in the list": {thermal([]object{{"FanName": "Fan 7", "Status": stat("Enabled", "Critical", "")}}, nil), rules.Cooling, critical, "Fan 7 reports Critical"},
		"a fan that is too slow": {
			thermal([]object{{"Name": "Fan 1", "Reading": "300", "ReadingUnits": "RPM", "LowerThresholdCritical": 600, "Status": stat("Enabled", "OK", "")}}, nil),
			rules.Cooling, critical, "Fan 1 reads 300 RPM, its lower critical limit is 600",
		},
		"heat": {
			thermal(nil, []object{{"Name": "Inlet", "ReadingCelsius": 50.5, "UpperThresholdCritical": 45, "Status": stat("Enabled", "OK", "")}}),
			rules.Cooling, critical, "Inlet reads 50.5 Cel, its upper critical limit is 45",
		},
		"a sensor that is absent": {
			thermal([]object{{"Name": "Fan 1", "Reading": nil, "LowerThresholdCritical": 600, "Status": stat("Absent", "", "")}, {"Name": "Fan 2", "Status": stat("Enabled", "OK", "")}}, nil),
			rules.Cooling, ok, "",
		},
		"a fan of the newer resource": {subsystems, rules.Cooling, critical, "Fan 2 reports Critical"},
		"supplies that say nothing":   {with(map[string]any{box + "/PS/Supplies": members()}), rules.Power, ok, ""},
		"fans that are sensors": {
			map[string]any{
				box: object{"Sensors": link(box + "/Sensors")}, box + "/Sensors": members("/s/1", "/s/2"),
				"/s/1": object{
					"Name": "fan_1", "ReadingType": "Rotational", "Reading": 100, "ReadingUnits": "RPM",
					"Thresholds": object{"LowerCritical": object{"Reading": 600}}, "Status": stat("Enabled", "OK", ""),
				},
				"/s/2": object{"Name": "volt", "ReadingType": "Voltage", "Reading": 1, "Status": stat("Enabled", "Critical", "")},
			},
			rules.Cooling, critical, "fan_1 reads 100 RPM, its lower critical limit is 600",
		},
		"a supply, HPE": {
			map[string]any{box + "/Power": object{"PowerSupplies": []object{{
				"Name": "HpeServerPowerSupply", "Status": stat("Enabled", "OK", ""),
				"Oem": object{"Hpe": object{"PowerSupplyStatus": object{"State": "Unknown"}}},
			}}}},
			rules.Power, critical, "HpeServerPowerSupply has a status that the BMC calls Unknown",
		},
		"a supply, AMI": {
			map[string]any{box + "/Power": object{"PowerSupplies": []object{{"Name": "PSU", "Status": object{"State": "Present", "Health": nil}}}}},
			rules.Power, ok, "",
		},
		"a drive behind a rollup": {
			map[string]any{
				sys + "/Storage/R": object{"Name": "RAID", "Status": stat("Enabled", "OK", "Warning"), "Drives": []object{link("/d/1"), link("/d/2")}},
				"/d/2":             object{"Name": "Drive 2", "Status": stat("Enabled", "OK", ""), "FailurePredicted": true},
			},
			rules.Storage, warning, "Drive 2 predicts its failure",
		},
		"a volume behind a rollup": {
			map[string]any{
				sys + "/Storage/R":   object{"Name": "RAID", "Status": stat("Enabled", "OK", "Warning"), "Volumes": link(sys + "/Storage/R/V")},
				sys + "/Storage/R/V": members("/v/1"), "/v/1": object{"Name": "Volume 1", "Status": stat("Enabled", "Warning", "")},
			},
			rules.Storage, warning, "Volume 1 reports Warning",
		},
		"a controller in the list": {
			map[string]any{sys + "/Storage/R": object{"Name": "RAID", "Status": stat("Enabled", "OK", ""), "StorageControllers": []object{{"Name": "PERC", "Status": stat("Enabled", "Critical", "")}}}},
			rules.Storage, critical, "PERC reports Critical",
		},
		"a controller with a resource of its own": {
			map[string]any{
				sys + "/Storage/R":               object{"Name": "RAID", "Status": stat("Enabled", "OK", ""), "Controllers": link(sys + "/Storage/R/Controllers")},
				sys + "/Storage/R/Controllers":   members(sys + "/Storage/R/Controllers/1"),
				sys + "/Storage/R/Controllers/1": object{"Name": "MR416i-p", "Status": stat("Enabled", "Critical", "")},
			},
			rules.Storage, critical, "MR416i-p reports Critical",
		},
		"a turning disk has no wear (check_redfish#150)": {
			map[string]any{
				sys + "/Storage/R": object{"Name": "RAID", "Status": stat("Enabled", "OK", ""), "Drives": []object{link("/d/1"), link("/d/2")}},
				"/d/1":             object{"Name": "Disk 1", "MediaType": "HDD", "Status": stat("Enabled", "OK", ""), "PredictedMediaLifeLeftPercent": 0},
			},
			rules.Storage, ok, "",
		},
		"a drive at a BOSS card": { // check_redfish#165
			map[string]any{
				sys + "/Storage/R": object{"Name": "BOSS-S1", "Status": stat("Enabled", "OK", ""), "Drives": []object{link(boss)}},
				boss: object{
					"Name": "SSD 0", "MediaType": "SSD", "Status": stat("Enabled", "OK", ""), "PredictedMediaLifeLeftPercent": 0,
					"Oem": object{"Dell": object{"DellPhysicalDisk": object{"AvailableSparePercent": nil}}},
				},
			},
			rules.Storage, ok, "",
		},
		"one at a newer card, whose spare blocks are known": {
			map[string]any{
				sys + "/Storage/R": object{"Name": "BOSS-N1", "Status": stat("Enabled", "OK", ""), "Drives": []object{link(sys + "/Storage/BOSS.SL.12-1/Drives/Disk.Direct.0-0:BOSS.SL.12-1")}},
				sys + "/Storage/BOSS.SL.12-1/Drives/Disk.Direct.0-0:BOSS.SL.12-1": object{
					"Name": "SSD 0", "MediaType": "SSD", "Status": stat("Enabled", "OK", ""), "PredictedMediaLifeLeftPercent": 0,
					"Oem": object{"Dell": object{"DellPhysicalDisk": object{"AvailableSparePercent": 4}}},
				},
			},
			rules.Storage, warning, "SSD 0 has 4 % of its life left",
		},
		"one that its iDRAC does not call well": {
			map[string]any{
				sys + "/Storage/R": object{"Name": "BOSS-S1", "Status": stat("Enabled", "OK", ""), "Drives": []object{link(boss)}},
				boss:               object{"Name": "SSD 0", "MediaType": "SSD", "Status": stat("Enabled", "Warning", ""), "PredictedMediaLifeLeftPercent": 0},
			},
			rules.Storage, critical, "SSD 0 has no life left",
		},
		"a worn one": {
			map[string]any{
				sys + "/Storage/R": object{"Name": "RAID", "Status": stat("Enabled", "OK", ""), "Drives": []object{link("/d/1"), link("/d/2")}},
				"/d/1":             object{"Name": "Disk 1", "MediaType": "SSD", "Status": stat("Enabled", "OK", ""), "PredictedMediaLifeLeftPercent": 0},
			},
			rules.Storage, critical, "Disk 1 has no life left",
		},
		"no part behind a rollup": {
			map[string]any{sys + "/Storage/R": object{"Name": "RAID", "Status": stat("Enabled", "OK", "Critical")}}, rules.Storage, critical, "RAID reports Critical",
		},
		"a drive that cannot be read hides no other": {
			map[string]any{sys + "/Storage/R": object{"Name": "RAID", "Status": stat("Enabled", "OK", ""), "Drives": []object{link("/d/1"), link("/d/2")}}, "/d/1": 400},
			rules.Storage, ok, "",
		},
		"a module of memory": {
			map[string]any{
				sys + "/Memory/2": object{"Name": "Memory", "DeviceLocator": "DIMM A2", "Status": stat("Enabled", "Critical", "")},
				sys: func() object {
					o := maps.Clone(usual().resources[sys].(object))
					o["MemorySummary"] = object{"Status": object{"Health": "Critical"}} // Fujitsu gives no rollup
					return o
				}(),
			},
			rules.Memory, critical, "DIMM A2 reports Critical",
		},
		"no summary": {
			map[string]any{
				sys + "/Memory/1": object{"DeviceLocator": "DIMM A1", "Status": stat("Enabled", "Warning", "")},
				sys: func() object {
					o := maps.Clone(usual().resources[sys].(object))
					delete(o, "MemorySummary")
					return o
				}(),
			},
			rules.Memory, warning, "DIMM A1 reports Warning",
		},
		"a resource that fails": {map[string]any{box + "/Thermal": 400}, rules.Cooling, unknown, "status 400"},
		"a link to nowhere":     {map[string]any{box + "/Thermal": 404, box: object{"Thermal": link(box + "/Thermal")}}, rules.Cooling, unknown, "the BMC shows nothing of it"},
		"types that are wrong": {
			map[string]any{box + "/Power": object{"PowerSupplies": object{"Name": 5, "Status": stat("Enabled", "Warning", ""), "Oem": "x"}}},
			rules.Power, warning, "5 reports Warning",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			rows := newWatch(t, usual().set(c.change)).pass(3)
			g.Expect(rows[c.domain].State).To(Equal(c.state), rows[c.domain].Message)
			if c.says == "" {
				g.Expect(rows[c.domain].Message).To(BeEmpty())
			} else {
				g.Expect(rows[c.domain].Message).To(ContainSubstring(c.says))
			}
		})
	}
}

// TestReadManyDrives: what does not fit into one pass is read in the next ones, a bad
// one is found, confirmed at once, and forgotten when it was pulled.
func TestReadManyDrives(t *testing.T) {
	g := NewWithT(t)
	bmc := usual()
	var drives []object
	for i := range 40 {
		path := fmt.Sprintf("/many/%d", i)
		drives = append(drives, link(path))
		bmc.resources[path] = object{"Name": fmt.Sprintf("Drive %d", i), "Status": stat("Enabled", "OK", "")}
	}
	bmc.resources["/many/33"] = object{"Name": "Drive 33", "Status": stat("Enabled", "Critical", "")}
	all := object{"Name": "RAID", "Status": stat("Enabled", "OK", ""), "Drives": drives}
	bmc.resources[sys+"/Storage/R"] = all
	w := newWatch(t, bmc)
	read := map[string]bool{}
	for passes := 1; !w.past.Pending(); passes++ {
		w.pass(1)
		for _, p := range w.last.Parts {
			g.Expect(read[p.ID] && p.Kind == rules.Drive).To(BeFalse(), "a drive comes again before all had their turn")
			read[p.ID] = true
		}
		g.Expect(passes).To(BeNumerically("<", 40))
	}
	rows := w.pass(1)
	g.Expect(rows[rules.Storage]).To(Equal(row(rules.Storage, critical, "Drive 33 reports Critical")))
	g.Expect(w.alerts).To(HaveLen(1))

	bmc.set(map[string]any{"/many/33": 404})
	rows = w.pass(2)
	g.Expect(rows[rules.Storage].State).To(Equal(ok))
}

// TestReadOffAndSilent: an off host costs few requests; a silent BMC is said to be.
func TestReadOffAndSilent(t *testing.T) {
	g := NewWithT(t)
	bmc := usual()
	on := bmc.resources[sys]
	off := maps.Clone(on.(object))
	off["PowerState"] = "Off"
	bmc.set(map[string]any{sys: off})
	w := newWatch(t, bmc)
	rows := w.pass(1)
	g.Expect(rows[rules.Cooling]).To(Equal(row(rules.Cooling, unknown, "the host is off")))
	g.Expect(rows[rules.Log].State).To(Equal(ok))
	g.Expect(bmc.count(box)).To(BeZero())

	bmc.set(map[string]any{sys: on})
	rows = w.pass(1)
	g.Expect(rows[rules.Cooling].State).To(Equal(ok))

	bmc.set(map[string]any{sys: 401})
	rows = w.pass(1)
	for _, domain := range rules.Domains {
		g.Expect(rows[domain].State).To(Equal(unknown))
		g.Expect(rows[domain].Message).To(ContainSubstring("status 401"))
	}
	_, err := Read(t.Context(), w.c, Options{})
	g.Expect(err).To(MatchError(errNoSystem))
}

// TestReadHarmful: old iDRACs restart when some chassis are read.
func TestReadHarmful(t *testing.T) {
	g := NewWithT(t)
	bmc := usual()
	s := maps.Clone(bmc.resources[sys].(object))
	s["Links"] = object{"Chassis": []object{link("/redfish/v1/Chassis/RAID.Integrated.1-1"), link("/redfish/v1/Chassis/Enclosure.Internal.0-1"), link(box)}}
	bmc.set(map[string]any{sys: s})
	w := newWatch(t, bmc)
	w.report.Quirks = quirks.New().Match(quirks.Identity{Vendor: "Dell", Manager: "iDRAC8"})
	g.Expect(w.pass(1)[rules.Cooling].State).To(Equal(ok))
	g.Expect(bmc.count("/redfish/v1/Chassis/RAID") + bmc.count("/redfish/v1/Chassis/Enclosure")).To(BeZero())
}

// TestReadEnds: a BMC that stops answering in mid pass is not asked on.
func TestReadEnds(t *testing.T) {
	g := NewWithT(t)
	bmc := usual()
	at, asked := "", map[string]bool{}
	handler := breaks(t, bmc, &at)
	w := newWatch(t, http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, box) {
			at = "/"
		}
		if at != "" {
			asked[r.URL.Path] = true
		}
		handler.ServeHTTP(out, r)
	}))
	w.pass(1)
	g.Expect(asked).To(HaveLen(1))
	at = ""
	rows := w.pass(1)
	g.Expect(rows[rules.Cooling].State).To(Equal(unknown))
	g.Expect(rows[rules.Storage].State).To(Equal(unknown))
	g.Expect(rows[rules.Storage].Message).To(ContainSubstring("broke the connection"))
	g.Expect(asked).To(HaveLen(2), "one question more, as it may be that resource alone")
	g.Expect(bmc.count(sys + "/Memory")).To(BeZero())
}

// breaks breaks the connection where a path begins so.
func breaks(t *testing.T, bmc http.Handler, prefix *string) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if *prefix == "" || !strings.HasPrefix(r.URL.Path, *prefix) {
			bmc.ServeHTTP(out, r)
			return
		}
		hijacked, _, err := out.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_ = hijacked.Close()
	})
}

// TestReadOneResourceThatHangs: the others are read all the same.
func TestReadOneResourceThatHangs(t *testing.T) {
	g := NewWithT(t)
	at := entries
	w := newWatch(t, breaks(t, usual(), &at))
	rows := w.pass(2)
	g.Expect(rows[rules.Log].State).To(Equal(unknown))
	g.Expect(rows[rules.Log].Message).To(ContainSubstring("broke the connection"))
	for _, domain := range rules.Domains {
		if domain != rules.Log {
			g.Expect(rows[domain]).To(Equal(row(domain, ok, "")))
		}
	}
	at = box // of which two sections are read: neither keeps the others from their turn
	w = newWatch(t, breaks(t, usual(), &at))
	rows = w.pass(4)
	g.Expect(rows[rules.Cooling].State).To(Equal(unknown))
	g.Expect(rows[rules.Power].State).To(Equal(unknown))
	g.Expect(rows[rules.Storage].State).To(Equal(ok))
	g.Expect(rows[rules.Memory].State).To(Equal(ok))
}

// TestWhatIsNotReadAnyMoreIsNotOK: a BMC answers for its system still, and for nothing else.
func TestWhatIsNotReadAnyMoreIsNotOK(t *testing.T) {
	g := NewWithT(t)
	at := ""
	bmc := usual()
	w := newWatch(t, breaks(t, bmc, &at))
	rows := w.pass(2)
	for _, domain := range rules.Domains {
		g.Expect(rows[domain].State).To(Equal(ok))
	}
	s := maps.Clone(bmc.resources[sys].(object))
	s["MemorySummary"], s["ProcessorSummary"] = nil, nil
	for _, name := range []string{"Memory", "Processors", "Storage", "LogServices"} {
		s[name] = link("/gone/" + name)
	}
	s["Links"] = object{"Chassis": []object{link("/gone/box")}}
	bmc.set(map[string]any{sys: s})
	w.past.Logs, at = nil, "/gone"
	rows = w.pass(2)
	for _, domain := range []rules.Domain{rules.Cooling, rules.Power, rules.Storage, rules.Memory, rules.Processor} {
		g.Expect(rows[domain].State).To(Equal(unknown), string(domain))
		g.Expect(rows[domain].Message).To(ContainSubstring("broke the connection"))
	}
}
