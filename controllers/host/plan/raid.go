package plan

import (
	"fmt"
	"slices"
	"strconv"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/ironic"
)

// raidPart is one of the two kinds of volumes, which different hardware
// interfaces of Ironic build, hence in cleanings of their own.
type raidPart string

const (
	hardwareVolumes raidPart = "hardware"
	softwareVolumes raidPart = "software"
)

// RAID interfaces that matter here.
const (
	raidAgent = "agent"
	raidNone  = "no-raid"
)

// controllerSoftware is the controller of volumes that Linux itself drives.
const controllerSoftware = "software"

// Steps of a RAID cleaning.
var (
	stepDeleteRAID = ironic.Step{Interface: "raid", Name: "delete_configuration"}
	stepEraseMeta  = ironic.Step{Interface: "deploy", Name: "erase_devices_metadata"}
	stepCreateRAID = ironic.Step{Interface: "raid", Name: "create_configuration"}
)

// raidJob is one change of the machine's volumes.
type raidJob struct {
	part  raidPart
	disks []ironic.LogicalDisk // volumes to create, empty for none
	after metal3.RAIDConfig    // what the machine has afterwards
}

// steps are the cleaning steps of the job.
func (j *raidJob) steps() []ironic.Step {
	steps := []ironic.Step{stepDeleteRAID}
	if j.part == softwareVolumes {
		steps = append(steps, stepEraseMeta)
	}
	if len(j.disks) > 0 {
		steps = append(steps, stepCreateRAID)
	}
	return steps
}

// nextRAID is the next change on the way from the volumes that the machine has
// to those that the spec asks for; nil when there is none. Volumes of a part
// that is unsure (a change of it failed) are made anew if the spec asks for that
// part at all. What the spec does not speak of stays as it is, but for software
// volumes that were made before.
func nextRAID(spec, status *metal3.RAIDConfig, hinted bool, unsure func(raidPart) bool) *raidJob {
	want, have := orEmpty(spec), orEmpty(status)
	software := len(want.SoftwareRAIDVolumes) > 0
	hardware := want.HardwareRAIDVolumes != nil && (!software || len(want.HardwareRAIDVolumes) == 0)
	hardwareDiffers := have.HardwareRAIDVolumes == nil || unsure(hardwareVolumes) ||
		!equality.Semantic.DeepEqual(want.HardwareRAIDVolumes, have.HardwareRAIDVolumes)
	softwareDiffers := unsure(softwareVolumes) || !equality.Semantic.DeepEqual(want.SoftwareRAIDVolumes, have.SoftwareRAIDVolumes)
	switch {
	case !software && (len(have.SoftwareRAIDVolumes) > 0 || unsure(softwareVolumes)):
		return &raidJob{part: softwareVolumes, after: metal3.RAIDConfig{HardwareRAIDVolumes: have.HardwareRAIDVolumes}}
	case hardware && hardwareDiffers:
		return &raidJob{
			part: hardwareVolumes, disks: hardwareDisks(want.HardwareRAIDVolumes, hinted),
			after: metal3.RAIDConfig{HardwareRAIDVolumes: want.HardwareRAIDVolumes, SoftwareRAIDVolumes: have.SoftwareRAIDVolumes},
		}
	case software && softwareDiffers:
		return &raidJob{
			part: softwareVolumes, disks: softwareDisks(want.SoftwareRAIDVolumes, hinted),
			after: metal3.RAIDConfig{HardwareRAIDVolumes: have.HardwareRAIDVolumes, SoftwareRAIDVolumes: want.SoftwareRAIDVolumes},
		}
	}
	return nil
}

func orEmpty(r *metal3.RAIDConfig) metal3.RAIDConfig {
	if r == nil {
		return metal3.RAIDConfig{}
	}
	return *r
}

// hardwareDisks is Ironic's form of the volumes. Without root device hints the
// first one is the root volume.
func hardwareDisks(volumes []metal3.HardwareRAIDVolume, hinted bool) []ironic.LogicalDisk {
	var disks []ironic.LogicalDisk
	for i, v := range volumes {
		disk := ironic.LogicalDisk{
			SizeGiB: orZero(v.SizeGibibytes), Level: v.Level, Name: v.Name, Root: i == 0 && !hinted,
			NumberOfDisks: orZero(v.NumberOfPhysicalDisks), Controller: v.Controller,
		}
		if v.Rotational != nil {
			disk.DiskType = "ssd"
			if *v.Rotational {
				disk.DiskType = "hdd"
			}
		}
		for _, name := range v.PhysicalDisks {
			disk.PhysicalDisks = append(disk.PhysicalDisks, name)
		}
		if len(v.PhysicalDisks) > 0 {
			disk.NumberOfDisks = len(v.PhysicalDisks)
		}
		disks = append(disks, disk)
	}
	return disks
}

// softwareDisks is Ironic's form of volumes that the ramdisk makes.
func softwareDisks(volumes []metal3.SoftwareRAIDVolume, hinted bool) []ironic.LogicalDisk {
	var disks []ironic.LogicalDisk
	for i, v := range volumes {
		disk := ironic.LogicalDisk{
			SizeGiB: orZero(v.SizeGibibytes), Level: v.Level, Controller: controllerSoftware, Root: i == 0 && !hinted,
		}
		for _, hints := range v.PhysicalDisks {
			disk.PhysicalDisks = append(disk.PhysicalDisks, nodespec.HintMap(&hints))
		}
		disks = append(disks, disk)
	}
	return disks
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

// raidProblem says what is wrong with a wish for volumes; empty for nothing.
func raidProblem(want *metal3.RAIDConfig, driver string) string {
	r := orEmpty(want)
	if software := r.SoftwareRAIDVolumes; len(software) > 0 {
		return softwareProblem(software)
	}
	if len(r.HardwareRAIDVolumes) > 0 && (driver == "" || driver == raidNone) {
		return "spec.raid.hardwareRAIDVolumes: this kind of BMC cannot set up RAID; use softwareRAIDVolumes, or a Redfish address"
	}
	var names []string
	for i, v := range r.HardwareRAIDVolumes {
		at := fmt.Sprintf("spec.raid.hardwareRAIDVolumes[%d]", i)
		switch {
		case v.Name != "" && slices.Contains(names, v.Name):
			return at + ".name: " + strconv.Quote(v.Name) + " is used twice; names must be unique"
		case len(v.PhysicalDisks) > 0 && v.Controller == "":
			return at + ".controller: name the controller of the physicalDisks"
		case len(v.PhysicalDisks) > 0 && v.NumberOfPhysicalDisks != nil && *v.NumberOfPhysicalDisks != len(v.PhysicalDisks):
			return fmt.Sprintf("%s.numberOfPhysicalDisks: it is %d, but %d physicalDisks are named", at, *v.NumberOfPhysicalDisks, len(v.PhysicalDisks))
		}
		names = append(names, v.Name)
	}
	return ""
}

// maxSoftwareVolumes is how many software volumes Ironic's ramdisk makes.
const maxSoftwareVolumes = 2

func softwareProblem(volumes []metal3.SoftwareRAIDVolume) string {
	switch {
	case len(volumes) > maxSoftwareVolumes:
		return fmt.Sprintf("spec.raid.softwareRAIDVolumes: %d volumes are asked for, at most %d are possible", len(volumes), maxSoftwareVolumes)
	case volumes[0].Level != "1":
		return "spec.raid.softwareRAIDVolumes[0].level: the first volume must have level 1, since the machine boots from it"
	}
	return ""
}
