package probe_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/probe"
)

// details are the details of a report's capabilities.
func details(r *v1alpha1.BMCReport) map[string]string {
	out := map[string]string{}
	for _, c := range r.Capabilities {
		out[c.Name] = c.Detail
	}
	return out
}

// bays lets the storage of the fixture of Dell have so many bays in these states; more are
// of the state that is last.
func bays(f *fixture, n int, states ...string) {
	var links []any
	for i := range n {
		path := fmt.Sprintf("%s/Drives/%d", dellRAID, i)
		links = append(links, linkTo(path))
		f.Resources[path] = map[string]any{"Id": fmt.Sprint(i), "CapacityBytes": 1000, "Status": map[string]any{"State": states[min(i, len(states)-1)], "Health": "OK"}}
	}
	f.Resources[dellRAID].(map[string]any)["Drives"] = links
	f.Resources[dellSystem+"/Storage"] = written(dellSystem+"/Storage", []any{"RAID.Slot.1-1"})
}

// TestEmptyBaysAreNoDrives: a Supermicro GB300 lists nine bays as drives, all of them
// Absent (capture in spyroot/redfish_ctl); an HPE DL380a has one more than drives.
func TestEmptyBaysAreNoDrives(t *testing.T) {
	g := NewWithT(t)
	f := load(t, "nvidia-gb200")
	f.Resources["/Systems/System_0/Storage/1/Drives/NVMe_0"].(map[string]any)["Status"] = map[string]any{"State": "Absent"}
	report, err := examine(t, f, probe.Options{Requests: -1})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(states(report)).To(HaveKeyWithValue(probe.Drives, v1alpha1.No))

	for name, c := range map[string]struct {
		bays     []string
		requests int
		state    v1alpha1.CapabilityState
		detail   string
	}{
		"nine, all of them empty":       {[]string{"Absent"}, -1, v1alpha1.No, ""},
		"in another spelling":           {[]string{"absent"}, -1, v1alpha1.No, ""},
		"with one drive":                {[]string{"Enabled", "Absent"}, -1, v1alpha1.Yes, "1"},
		"with drives that are disabled": {[]string{"Disabled", "Absent"}, -1, v1alpha1.Yes, "1"},
		"of which few are looked at":    {[]string{"Absent"}, 23, v1alpha1.Unknown, ""},
		"of which none is looked at":    {[]string{"Absent"}, 22, v1alpha1.Unknown, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, "dell-idrac9")
			bays(f, 9, c.bays...)
			report, err := examine(t, f, probe.Options{Requests: c.requests})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(states(report)).To(HaveKeyWithValue(probe.Drives, c.state))
			g.Expect(details(report)).To(HaveKeyWithValue(probe.Drives, c.detail))
		})
	}
}

// TestAbsentControllersAndVolumesAreNone, as bays without a drive.
func TestAbsentControllersAndVolumesAreNone(t *testing.T) {
	g := NewWithT(t)
	f := load(t, "dell-idrac9")
	absent := map[string]any{"State": "Absent"}
	f.Resources[dellSystem+"/Storage"] = written(dellSystem+"/Storage", []any{"RAID.Slot.1-1"})
	raid := f.Resources[dellRAID].(map[string]any)
	delete(raid, "Controllers")
	raid["StorageControllers"] = []any{
		map[string]any{"Model": "none", "SupportedRAIDTypes": []any{"RAID6"}, "Status": absent},
		map[string]any{"Model": "PERC", "SupportedRAIDTypes": []any{"RAID1"}},
	}
	f.Resources[dellRAID+"/Volumes"] = written(dellRAID+"/Volumes", []any{"a", "b"})
	f.Resources[dellRAID+"/Volumes/a"] = map[string]any{"Id": "a", "Status": absent}
	f.Resources[dellRAID+"/Volumes/b"] = map[string]any{"Id": "b", "RAIDType": "RAID1"}
	report, err := examine(t, f, probe.Options{Requests: -1})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(details(report)).To(HaveKeyWithValue(probe.RAID, "RAID1"))
	g.Expect(report.Storage).To(HaveLen(1))
	g.Expect(report.Storage[0].Name).To(Equal("PERC"))
	g.Expect(report.Storage[0].Controllers).To(Equal(1))
	g.Expect(report.Storage[0].Volumes).To(ConsistOf(HaveField("ID", "b")))
}

// TestAddressOfNoSystem: the address names a manager, or the list of systems
// (metal3-io/baremetal-operator#896).
func TestAddressOfNoSystem(t *testing.T) {
	for name, path := range map[string]string{
		"a manager":                dellManager,
		"the list of systems":      "/Systems",
		"the service":              "",
		"a storage":                dellRAID,
		"the BIOS":                 dellSystem + "/Bios",
		"a system that is not":     "/Systems/1",
		"a system of another make": "/systems/Self",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			report, err := examine(t, load(t, "dell-idrac9"), probe.Options{System: redfishRoot + path})
			g.Expect(err).To(MatchError(ContainSubstring(redfishRoot+dellSystem)), "%+v", report)
			g.Expect(err).To(MatchError(probe.ErrWrongSystem))
		})
	}
	for name, change := range map[string]func(f *fixture){
		"a system by its type": func(f *fixture) {
			f.Resources[dellSystem] = map[string]any{"@odata.type": "#ComputerSystem.v1_5_0.ComputerSystem"}
		},
		"one that says nothing":      func(f *fixture) { f.Resources[dellSystem] = map[string]any{} },
		"a list that cannot be read": func(f *fixture) { f.Resources["/Systems"] = json500 },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, "dell-idrac9")
			change(f)
			_, err := examine(t, f, probe.Options{System: redfishRoot + dellSystem})
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
	t.Run("a BMC without systems", func(t *testing.T) {
		f := load(t, "dell-idrac9")
		delete(f.Resources, "/Systems")
		_, err := examine(t, f, probe.Options{System: redfishRoot + dellManager})
		NewWithT(t).Expect(err).To(MatchError(And(ContainSubstring("look at /redfish/v1/Systems"), ContainSubstring(dellManager))))
	})
	t.Run("one that may not be read", func(t *testing.T) {
		f := load(t, "dell-idrac9")
		f.Errors = map[string]struct {
			Status  int    `json:"status"`
			ID      string `json:"id"`
			Message string `json:"message"`
		}{dellSystem: {Status: 403}}
		_, err := examine(t, f, probe.Options{System: redfishRoot + dellSystem})
		NewWithT(t).Expect(client.KindOf(err)).To(Equal(client.Refused), "it is no other system's fault")
	})
}

// json500 is a body that is no collection.
var json500 = map[string]any{"Members": "none"}

// storages gives the fixture of Dell so many storages with a drive each.
func storages(f *fixture, n int) {
	ids := []any{}
	for i := range n {
		id := "DA" + string(rune('A'+i))
		ids = append(ids, map[string]any{"@odata.id": redfishRoot + dellSystem + "/Storage/" + id})
		f.Resources[dellSystem+"/Storage/"+id] = map[string]any{"Id": id, "Drives": []any{map[string]any{"@odata.id": redfishRoot + dellSystem + "/Storage/" + id + "/Drives/0"}}}
		f.Resources[dellSystem+"/Storage/"+id+"/Drives/0"] = map[string]any{"Id": "0", "CapacityBytes": 1000, "Status": map[string]any{"State": "Enabled", "Health": "OK"}}
	}
	f.Resources[dellSystem+"/Storage"] = map[string]any{"Members": ids}
}

// TestManyStorages: 17 storages with one drive each; all are read where the requests
// have no bound.
func TestManyStorages(t *testing.T) {
	g := NewWithT(t)
	f := load(t, "dell-idrac9")
	storages(f, 17)
	report, err := examine(t, f, probe.Options{Requests: -1})
	g.Expect(err).NotTo(HaveOccurred())
	drives := 0
	for _, s := range report.Storage {
		drives += len(s.Drives)
	}
	g.Expect(drives).To(Equal(17), "%v", report.Remarks)
	g.Expect(details(report)).To(HaveKeyWithValue(probe.Drives, "17"))
	g.Expect(strings.Join(report.Remarks, " ")).NotTo(ContainSubstring("not read"))

	// Within a bound as many as it allows, and what was left out is said.
	report, err = examine(t, f, probe.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(report.Requests).To(BeNumerically("<=", probe.DefaultRequests))
	g.Expect(report.Storage).To(HaveLen(17))
	g.Expect(report.Remarks).To(ContainElement(MatchRegexp(`^\d+ of 17 storage subsystems were not read`)))
	g.Expect(states(report)).To(HaveKeyWithValue(probe.RAID, v1alpha1.Unknown))
	g.Expect(details(report)[probe.Drives]).To(HavePrefix("at least "))
}

// TestWhatWasNotReadIsNotNo: of a list that was read in part nobody knows what it lacks.
func TestWhatWasNotReadIsNotNo(t *testing.T) {
	noRAID := map[string]any{"SupportedRAIDTypes": []any{}}
	for name, c := range map[string]struct {
		change   func(f *fixture)
		requests int
		unknown  []string
		remark   string
	}{
		"storages that are counted only": {
			func(f *fixture) {
				f.Resources[dellSystem+"/Storage"] = map[string]any{"Members": []any{}, "Members@odata.count": 4}
			}, -1, []string{probe.RAID, probe.VolumeCreation, probe.Drives}, "4 of 4 storage subsystems were not read",
		},
		"storages for which there is no request": {
			func(f *fixture) { storages(f, 17) }, 6, []string{probe.RAID, probe.VolumeCreation, probe.Drives}, "17 of 17 storage subsystems were not read",
		},
		"storages of which one is read, but not its drive": {
			func(f *fixture) { storages(f, 17) }, 17, []string{probe.RAID, probe.VolumeCreation, probe.Drives}, "16 of 17 storage subsystems were not read",
		},
		"controllers beyond those that were read": {
			func(f *fixture) {
				storages(f, 1)
				path := dellSystem + "/Storage/DAA"
				f.Resources[path].(map[string]any)["Controllers"] = linkTo(path + "/Controllers")
				f.Resources[path+"/Controllers"] = written(path+"/Controllers", []any{"0", "1", "2"})
				for i := range 2 {
					f.Resources[fmt.Sprintf("%s/Controllers/%d", path, i)] = noRAID
				}
				f.Resources[path+"/Controllers/2"] = map[string]any{"SupportedRAIDTypes": []any{"RAID1"}}
			}, 0, []string{probe.RAID}, "",
		},
		"a controller that cannot be read": {
			func(f *fixture) {
				storages(f, 1)
				path := dellSystem + "/Storage/DAA"
				f.Resources[path].(map[string]any)["Controllers"] = linkTo(path + "/Controllers")
				f.Resources[path+"/Controllers"] = written(path+"/Controllers", []any{"0", "1"})
				f.Resources[path+"/Controllers/0"] = noRAID
			}, -1, []string{probe.RAID}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, "dell-idrac9")
			c.change(f)
			report, err := examine(t, f, probe.Options{Requests: c.requests})
			g.Expect(err).NotTo(HaveOccurred())
			for _, name := range c.unknown {
				g.Expect(states(report)).To(HaveKeyWithValue(name, v1alpha1.Unknown), name)
			}
			g.Expect(strings.Join(report.Remarks, "\n")).To(ContainSubstring(c.remark))
		})
	}
}

// TestTheSystemThatBootsIsFoundBehindOthers, also where there are many.
func TestTheSystemThatBootsIsFoundBehindOthers(t *testing.T) {
	g := NewWithT(t)
	f := load(t, "dell-idrac9")
	ids := []any{}
	for i := range 6 {
		id := fmt.Sprintf("Board_%d", i)
		ids = append(ids, id)
		f.Resources["/Systems/"+id] = map[string]any{"Id": id}
	}
	f.Resources["/Systems"] = written("/Systems", append(ids, "System.Embedded.1"))
	report, err := examine(t, f, probe.Options{Requests: -1})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(report.System).To(Equal(redfishRoot + dellSystem))
}

// TestBrokenJSONHasItsKind also where something else than our client reads it.
func TestBrokenJSONHasItsKind(t *testing.T) {
	f := load(t, "dell-idrac9")
	for name, body := range map[string]string{"half": `{"Systems":`, "more than one": `{}{}`, "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			half := breaks(f, "/", func(w http.ResponseWriter) { fmt.Fprint(w, body) })
			_, err := probe.Probe(t.Context(), &reader{half, 0}, probe.Options{Now: func() time.Time { return f.Now }})
			NewWithT(t).Expect(client.KindOf(err)).To(Equal(client.Broken), "%v", err)
		})
	}
}
