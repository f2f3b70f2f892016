package probe_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/probe"
)

// TestBugEmptyBaysAreNoDrives: a Supermicro GB300 lists nine bays as drives, all of them
// Absent (capture in spyroot/redfish_ctl); an HPE DL380a has one more than drives.
func TestBugEmptyBaysAreNoDrives(t *testing.T) {
	g := NewWithT(t)
	f := load(t, "nvidia-gb200")
	f.Resources["/Systems/System_0/Storage/1/Drives/NVMe_0"].(map[string]any)["Status"] = map[string]any{"State": "Absent"}
	report, err := examine(t, f, probe.Options{Requests: -1})
	g.Expect(err).NotTo(HaveOccurred())
	for _, c := range report.Capabilities {
		if c.Name == probe.Drives {
			g.Expect(c.State).To(Equal(v1alpha1.CapabilityState("No")), "%+v", c)
		}
	}
}

// TestBugAddressOfNoSystem: the address names a manager, or the list of systems
// (metal3-io/baremetal-operator#896).
func TestBugAddressOfNoSystem(t *testing.T) {
	for name, path := range map[string]string{"a manager": dellManager} {
		t.Run(name, func(t *testing.T) {
			report, err := examine(t, load(t, "dell-idrac9"), probe.Options{System: redfishRoot + path})
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring(redfishRoot+dellSystem)), "%+v", report)
		})
	}
}

// TestBugManyStorages: 17 storages with one drive each; all are read where the requests
// have no bound.
func TestBugManyStorages(t *testing.T) {
	g := NewWithT(t)
	f := load(t, "dell-idrac9")
	ids := []any{}
	for i := range 17 {
		id := "DA" + string(rune('A'+i))
		ids = append(ids, map[string]any{"@odata.id": redfishRoot + dellSystem + "/Storage/" + id})
		f.Resources[dellSystem+"/Storage/"+id] = map[string]any{"Id": id, "Drives": []any{map[string]any{"@odata.id": redfishRoot + dellSystem + "/Storage/" + id + "/Drives/0"}}}
		f.Resources[dellSystem+"/Storage/"+id+"/Drives/0"] = map[string]any{"Id": "0", "CapacityBytes": 1000, "Status": map[string]any{"State": "Enabled", "Health": "OK"}}
	}
	f.Resources[dellSystem+"/Storage"] = map[string]any{"Members": ids}
	report, err := examine(t, f, probe.Options{Requests: -1})
	g.Expect(err).NotTo(HaveOccurred())
	drives := 0
	for _, s := range report.Storage {
		drives += len(s.Drives)
	}
	g.Expect(drives).To(Equal(17), "%v", report.Remarks)
}
