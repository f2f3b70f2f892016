package plan

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
)

func TestRAIDTargets(t *testing.T) {
	g := NewWithT(t)
	disks := hardwareDisks([]metal3.HardwareRAIDVolume{
		{Level: "1", Name: "root", SizeGibibytes: new(0), Rotational: new(false), Controller: "c", PhysicalDisks: []string{"a", "b"}},
		{Level: "0", SizeGibibytes: new(10), NumberOfPhysicalDisks: new(2), Rotational: new(true)},
	}, false)
	g.Expect(disks).To(Equal([]ironic.LogicalDisk{
		{Level: "1", Name: "root", Root: true, DiskType: "ssd", NumberOfDisks: 2, Controller: "c", PhysicalDisks: []any{"a", "b"}},
		{Level: "0", SizeGiB: 10, DiskType: "hdd", NumberOfDisks: 2},
	}))
	g.Expect(ironic.RAIDTarget(disks)["logical_disks"]).To(ContainElement(HaveKeyWithValue("size_gb", "MAX")), "0 is as much as possible")
	g.Expect(hardwareDisks([]metal3.HardwareRAIDVolume{{Level: "1"}}, true)[0].Root).To(BeFalse(), "the hints say which disk is the root")
	soft := softwareDisks([]metal3.SoftwareRAIDVolume{{Level: "1", PhysicalDisks: []metal3.RootDeviceHints{{DeviceName: "/dev/sda"}, {SerialNumber: "x"}}}}, false)
	g.Expect(soft[0]).To(And(HaveField("Controller", "software"), HaveField("Root", true),
		HaveField("PhysicalDisks", ConsistOf(map[string]any{"name": "s== /dev/sda"}, map[string]any{"serial": "s== x"}))))
}

func TestRAIDProblems(t *testing.T) {
	volumes := func(v ...metal3.HardwareRAIDVolume) *metal3.RAIDConfig {
		return &metal3.RAIDConfig{HardwareRAIDVolumes: v}
	}
	for name, c := range map[string]struct {
		raid   *metal3.RAIDConfig
		driver string
		says   string
	}{
		"none":                    {nil, "no-raid", ""},
		"nothing to delete":       {noVolume, "no-raid", ""},
		"driver without":          {mirror, "no-raid", "cannot set up RAID"},
		"driver unknown":          {mirror, "", "cannot set up RAID"},
		"fine":                    {mirror, "redfish", ""},
		"names twice":             {volumes(metal3.HardwareRAIDVolume{Name: "a"}, metal3.HardwareRAIDVolume{Name: "a"}), "redfish", "used twice"},
		"no names":                {volumes(metal3.HardwareRAIDVolume{}, metal3.HardwareRAIDVolume{}), "redfish", ""},
		"disks without":           {volumes(metal3.HardwareRAIDVolume{PhysicalDisks: []string{"a"}}), "redfish", "controller"},
		"another number of disks": {volumes(metal3.HardwareRAIDVolume{PhysicalDisks: []string{"a"}, Controller: "c", NumberOfPhysicalDisks: new(2)}), "redfish", "it is 2, but 1"},
		"software wins":           {&metal3.RAIDConfig{HardwareRAIDVolumes: mirror.HardwareRAIDVolumes, SoftwareRAIDVolumes: softRAID.SoftwareRAIDVolumes}, "no-raid", ""},
		"software, first level":   {&metal3.RAIDConfig{SoftwareRAIDVolumes: []metal3.SoftwareRAIDVolume{{Level: "0"}}}, "", "must have level 1"},
		"software, too many":      {&metal3.RAIDConfig{SoftwareRAIDVolumes: make([]metal3.SoftwareRAIDVolume, 3)}, "", "at most 2"},
	} {
		t.Run(name, func(t *testing.T) {
			problem := raidProblem(c.raid, c.driver)
			if c.says == "" {
				NewWithT(t).Expect(problem).To(BeEmpty())
				return
			}
			NewWithT(t).Expect(problem).To(ContainSubstring(c.says))
		})
	}
}
