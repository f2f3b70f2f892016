package preflight_test

import (
	"fmt"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/preflight"
)

func mirror(disks ...string) preflight.Volume {
	return preflight.Volume{Level: "1", Controller: "RAID", Disks: disks}
}

// drive changes a drive of the controller RAID.
func drive(id string, change func(*v1alpha1.DriveReport)) func(*machine) {
	return func(m *machine) {
		for i, d := range m.report.Storage[1].Drives {
			if d.ID == id {
				change(&m.report.Storage[1].Drives[i])
			}
		}
	}
}

// inStandby is a machine with a controller of two levels, of which more may not be known.
func inStandby(discovered v1alpha1.CapabilityState, power string) func(*machine) {
	return func(m *machine) {
		m.can("StorageDiscovered", discovered, "")
		m.report.PowerState = power
		m.report.Storage[1].RAIDTypes = &[]string{"RAID0", "RAID1"}
	}
}

var raidCases = map[string]test{
	"a mirror of named disks":           {wishes: raid(mirror("D0", "D1"))},
	"a mirror of any disks":             {wishes: raid(preflight.Volume{Level: "1", SizeGiB: 100})},
	"volumes to be cleared":             {wishes: raid(), machine: func(m *machine) { m.can("VolumeCreation", v1alpha1.No, "") }},
	"the controller by its name":        {wishes: raid(preflight.Volume{Level: "1", Controller: "raid of somebody", Disks: []string{"D0", "D1"}})},
	"two volumes on the same two disks": {wishes: raid(preflight.Volume{Level: "1", SizeGiB: 100, Controller: "RAID", Disks: []string{"D0", "D1"}}, mirror("D0", "D1"))},
	"all eight disks in four mirrors":   {wishes: raid(four("1", 100)...)},
	"a level of spans":                  {wishes: raid(preflight.Volume{Level: "5+0", SizeGiB: 4000, Count: 6})},

	"no volumes": {
		wishes: raid(mirror("D0", "D1")), machine: func(m *machine) { m.can("VolumeCreation", v1alpha1.No, "no storage takes new volumes") },
		want: []string{host + "spec.raid.hardwareRAIDVolumes VolumesNotOffered"}, says: []string{"1 volume is", "no storage takes new volumes", "softwareRAIDVolumes"},
	},
	"no RAID types": {
		wishes: raid(mirror("D0", "D1")), machine: func(m *machine) { m.can("RAID", v1alpha1.No, "no controller has RAID types") },
		want: []string{host + "spec.raid.hardwareRAIDVolumes VolumesNotOffered"},
	},
	"iLO 5": {
		wishes: raid(mirror("D0", "D1")), machine: func(m *machine) { m.is("HPE", "DL380", "iLO 5", "2.72") },
		want: []string{host + "spec.raid.hardwareRAIDVolumes VolumesNotOffered"}, says: []string{"cannot be made through Redfish"},
	},
	"iLO 6 before RAID": {
		wishes: raid(mirror("D0", "D1")), machine: func(m *machine) { m.is("HPE", "DL380", "iLO 6", "1.55") },
		want: []string{host + "spec.raid.hardwareRAIDVolumes BadVersion"}, says: []string{"1.57"},
	},
	"iLO 6":              {wishes: raid(mirror("D0", "D1")), machine: func(m *machine) { m.is("HPE", "DL380", "iLO 6", "1.57") }},
	"iLO 5 without RAID": {machine: func(m *machine) { m.is("HPE", "DL380", "iLO 5", "2.72") }},
	"both kinds": {
		wishes: func(w *preflight.Wishes) {
			raid(mirror("D0", "D1"))(w)
			w.SoftwareVolumes = []preflight.SoftwareVolume{{Level: "1"}}
		},
		want: []string{host + "spec.raid RAIDInvalid"},
	},

	"level 2":          {wishes: raid(preflight.Volume{Level: "2", SizeGiB: 1}), want: []string{volume + ".level RAIDLevel"}, says: []string{`knows no level "2": write one of 0, 1, 5`}},
	"a level of words": {wishes: raid(preflight.Volume{Level: "RAID5", SizeGiB: 1}), want: []string{volume + ".level RAIDLevel"}},
	"a level that the controller has not": {
		wishes:  raid(preflight.Volume{Level: "5", Controller: "RAID", Disks: []string{"D0", "D1", "D2"}}),
		machine: func(m *machine) { m.report.Storage[1].RAIDTypes = &[]string{"RAID0", "RAID1"} },
		want:    []string{volume + ".level RAIDLevel"}, says: []string{"Level 5 (RAID5)", "offers RAID0, RAID1: write 0 or 1"},
	},
	"a level that no controller has": {
		wishes:  raid(preflight.Volume{Level: "5", SizeGiB: 100}),
		machine: func(m *machine) { m.report.Storage[1].RAIDTypes = &[]string{"RAID1Triple"} },
		want:    []string{volume + ".level RAIDLevel"}, says: []string{"write no volume, as Ironic makes none of these"},
	},
	"a level that no controller has, seen while the machine is off": {
		wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100}), machine: inStandby(v1alpha1.Unknown, "Off"),
		want: []string{volume + ".level RAIDLevel"}, says: []string{"offers RAID0, RAID1: write 0 or 1"},
	},
	"a level that no controller has, of a machine that shows no disks while it is off": {
		wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100}), machine: func(m *machine) {
			inStandby(v1alpha1.Unknown, "Off")(m)
			for i := range m.report.Storage[1].Drives {
				m.report.Storage[1].Drives[i].CapacityBytes = 0
			}
		},
	},
	"a level that no controller has, beside one that was not read": {
		wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100}), machine: func(m *machine) {
			inStandby(v1alpha1.Unknown, "Off")(m)
			m.report.Storage = append(m.report.Storage, v1alpha1.StorageReport{ID: "X", CreatesVolumes: v1alpha1.Unknown})
		},
	},
	"a level that no controller has, while the machine starts":             {wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100}), machine: inStandby(v1alpha1.Unknown, "On")},
	"a level that no controller has, where the BMC says that it knows few": {wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100}), machine: inStandby(v1alpha1.No, "Off")},
	"a level that the named controller has not, while the machine starts": {
		wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100, Controller: "RAID"}), machine: inStandby(v1alpha1.Unknown, "On"),
		want: []string{volume + ".level RAIDLevel"}, says: []string{"offers RAID0, RAID1: write 0 or 1"},
	},
	"a level that another controller than the named one has": {
		wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100, Controller: "RAID"}), machine: func(m *machine) {
			inStandby(v1alpha1.Yes, "On")(m)
			m.report.Storage = append(m.report.Storage, storage("OTHER", &[]string{"RAID5"}, "O0", "O1", "O2"))
		},
		want: []string{volume + ".level RAIDLevel"},
	},
	"a level of a controller that is not known yet": {
		wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100, Controller: "OTHER"}), machine: inStandby(v1alpha1.Unknown, "On"),
	},
	"a controller without a name is not the one of a volume that names none": {
		wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100}), machine: func(m *machine) {
			inStandby(v1alpha1.Unknown, "On")(m)
			m.report.Storage[1].Name = ""
		},
	},
	"a controller that says no levels": {wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100}), machine: func(m *machine) { m.report.Storage[1].RAIDTypes = nil }},
	"levels in other letters":          {wishes: raid(mirror("D0", "D1")), machine: func(m *machine) { m.report.Storage[1].RAIDTypes = &[]string{"Raid1"} }},
	"HPE's fixed mirror": {
		wishes:  raid(preflight.Volume{Level: "0", Controller: "RAID", Disks: []string{"D0", "D1"}}),
		machine: func(m *machine) { m.report.Storage[1].Name, m.report.Storage[1].RAIDTypes = "HPE NS204i-p Gen10+", nil },
		want:    []string{volume + ".level RAIDLevel"}, says: []string{"write 1"},
	},

	"no size and no disks": {wishes: raid(preflight.Volume{Level: "1"}), want: []string{volume + ".sizeGibibytes RAIDSize"}},
	"a mirror of three":    {wishes: raid(mirror("D0", "D1", "D2")), want: []string{volume + ".physicalDisks RAIDDiskCount"}, says: []string{"3 disks are asked for, and level 1 takes exactly 2"}},
	"level 5 of two":       {wishes: raid(preflight.Volume{Level: "5", SizeGiB: 1, Count: 2}), want: []string{volume + ".numberOfPhysicalDisks RAIDDiskCount"}, says: []string{"at least 3"}},
	"level 6 of three":     {wishes: raid(preflight.Volume{Level: "6", SizeGiB: 1, Count: 3}), want: []string{volume + ".numberOfPhysicalDisks RAIDDiskCount"}},
	"level 1+0 of five": {
		wishes: raid(preflight.Volume{Level: "1+0", SizeGiB: 1, Count: 5}),
		want:   []string{volume + ".numberOfPhysicalDisks RAIDDiskCount"},
		says:   []string{"an even number of at least 4"},
	},
	"level 1+0 of two":  {wishes: raid(preflight.Volume{Level: "1+0", SizeGiB: 1, Count: 2}), want: []string{volume + ".numberOfPhysicalDisks RAIDDiskCount"}},
	"level 5+0 of four": {wishes: raid(preflight.Volume{Level: "5+0", SizeGiB: 1, Count: 4}), want: []string{volume + ".numberOfPhysicalDisks RAIDDiskCount"}},
	"level 0 of one":    {wishes: raid(preflight.Volume{Level: "0", SizeGiB: 1, Count: 1})},

	"two volumes of one name": {
		wishes: raid(preflight.Volume{Level: "1", SizeGiB: 1, Name: "a"}, preflight.Volume{Level: "1", SizeGiB: 1, Name: "a"}),
		want:   []string{host + "spec.raid.hardwareRAIDVolumes[1].name RAIDInvalid"},
	},
	"disks without a controller": {wishes: raid(preflight.Volume{Level: "1", Disks: []string{"D0", "D1"}}), want: []string{volume + ".controller RAIDInvalid"}},
	"a number that is not theirs": {
		wishes: raid(preflight.Volume{Level: "1", Controller: "RAID", Count: 3, Disks: []string{"D0", "D1"}}),
		want:   []string{volume + ".numberOfPhysicalDisks RAIDInvalid"},
	},
	"a disk twice": {wishes: raid(mirror("D0", "D0")), want: []string{volume + ".physicalDisks RAIDInvalid"}},

	"a disk that is not there": {
		wishes: raid(mirror("D0", "D9")), want: []string{volume + ".physicalDisks RAIDDiskUnknown"},
		says: []string{`no controller has a disk "D9": write ids of D0, D1`},
	},
	"a disk that may be there": {wishes: raid(mirror("D0", "D9")), machine: func(m *machine) { m.can("StorageDiscovered", v1alpha1.Unknown, "") }},
	"a disk behind a controller that was not read": {
		wishes: raid(mirror("D0", "D9")),
		machine: func(m *machine) {
			m.report.Storage = append(m.report.Storage, v1alpha1.StorageReport{ID: "X", CreatesVolumes: v1alpha1.Unknown})
		},
	},
	"a disk that is about to fail": {
		wishes: raid(mirror("D0", "D1")), machine: drive("D1", func(d *v1alpha1.DriveReport) { d.Problem = "predicted to fail" }),
		want: []string{volume + ".physicalDisks RAIDDiskUnusable"}, says: []string{`"D1" is predicted to fail`},
	},
	"a disk that is critical": {
		wishes: raid(mirror("D0", "D1")), machine: drive("D1", func(d *v1alpha1.DriveReport) { d.Health = v1alpha1.HealthCritical }),
		want: []string{volume + ".physicalDisks RAIDDiskUnusable"},
	},
	"a disk of which the health is unknown": {wishes: raid(mirror("D0", "D1")), machine: drive("D1", func(d *v1alpha1.DriveReport) { d.Health = v1alpha1.HealthUnknown })},
	"disks of two kinds": {
		wishes: raid(mirror("D0", "D1")), machine: drive("D1", func(d *v1alpha1.DriveReport) { d.MediaType = "HDD" }),
		want: []string{volume + ".physicalDisks RAIDDisksMixed"}, says: []string{"D0 (SAS SSD), D1 (SAS HDD)"},
	},
	"a disk of which the kind is unknown": {wishes: raid(mirror("D0", "D1")), machine: drive("D1", func(d *v1alpha1.DriveReport) { *d = v1alpha1.DriveReport{ID: "D1"} })},

	"a controller that is not there": {
		wishes: raid(preflight.Volume{Level: "1", Controller: "X", Disks: []string{"D0", "D1"}}),
		want:   []string{volume + ".controller RAIDController"}, says: []string{`There is no controller "X": write one of AHCI, RAID`},
	},
	"the controller of others": {
		wishes:  raid(preflight.Volume{Level: "1", Controller: "Second", Disks: []string{"D0", "D1"}}),
		machine: func(m *machine) { m.report.Storage = append(m.report.Storage, storage("Second", nil, "D0", "D1")) },
		want:    []string{volume + ".controller RAIDController"}, says: []string{"behind RAID: write RAID"},
	},
	"disks of two controllers": {
		wishes:  raid(mirror("D0", "E0")),
		machine: func(m *machine) { m.report.Storage = append(m.report.Storage, storage("Second", nil, "E0")) },
		want:    []string{volume + ".physicalDisks RAIDController"}, says: []string{"RAID has D0, Second has E0"},
	},
	"a disk behind a controller without volumes": {
		wishes: raid(mirror("D0", "S0")),
		want:   []string{volume + ".physicalDisks RAIDController"}, says: []string{`"S0" is behind AHCI, which makes no volumes`},
	},

	"a volume that is too large": {
		wishes: raid(preflight.Volume{Level: "1", SizeGiB: 1025, Controller: "RAID", Disks: []string{"D0", "D1"}}),
		want:   []string{volume + ".sizeGibibytes RAIDCapacity"}, says: []string{"1025 GiB", "holds 1024 GiB"},
	},
	"a volume that just fits": {wishes: raid(preflight.Volume{Level: "5", SizeGiB: 2048, Controller: "RAID", Disks: []string{"D0", "D1", "D2"}})},
	"a volume that another one leaves no room": {
		wishes: raid(mirror("D0", "D1"), preflight.Volume{Level: "1", SizeGiB: 1024, Controller: "RAID", Disks: []string{"D0", "D1"}}),
		want:   []string{volume + ".physicalDisks RAIDCapacity"}, says: []string{"Other volumes take all space"},
	},
	"a size on disks of unknown size": {
		wishes:  raid(preflight.Volume{Level: "1", SizeGiB: 5000, Controller: "RAID", Disks: []string{"D0", "D1"}}),
		machine: drive("D1", func(d *v1alpha1.DriveReport) { d.CapacityBytes = 0 }),
	},
	"a size that is absurd": {
		wishes: raid(preflight.Volume{Level: "1", SizeGiB: 1 << 60, Controller: "RAID", Disks: []string{"D0", "D1"}}),
		want:   []string{volume + ".sizeGibibytes RAIDCapacity"},
	},

	"too few disks": {
		wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100, Count: 9}),
		want:   []string{volume + " RAIDDisksTooFew"}, says: []string{"on 9 disks is asked for, and there is: 8 × SAS SSD of 1024 GiB"},
	},
	"a mirror of spans": {wishes: raid(preflight.Volume{Level: "1+0", SizeGiB: 4096})},
	"a mirror of spans that is too large": {
		wishes: raid(preflight.Volume{Level: "1+0", SizeGiB: 4097}),
		want:   []string{volume + " RAIDDisksTooFew"}, says: []string{"level 1+0 with 4097 GiB"},
	},
	"a mirror of spans on named disks": {
		wishes: raid(preflight.Volume{Level: "1+0", SizeGiB: 2049, Controller: "RAID", Disks: []string{"D0", "D1", "D2", "D3"}}),
		want:   []string{volume + ".sizeGibibytes RAIDCapacity"}, says: []string{"holds 2048 GiB"},
	},
	"too little space": {wishes: raid(preflight.Volume{Level: "1", SizeGiB: 2000}), want: []string{volume + " RAIDDisksTooFew"}},
	"disks of another kind": {
		wishes: raid(preflight.Volume{Level: "1", SizeGiB: 100, Rotational: new(true)}),
		want:   []string{volume + " RAIDDisksTooFew"}, says: []string{"rotational"},
	},
	"disks of the right kind":         {wishes: raid(preflight.Volume{Level: "1", SizeGiB: 100, Rotational: new(false)})},
	"disks of which the list is open": {wishes: raid(preflight.Volume{Level: "5", SizeGiB: 100, Count: 9}), machine: func(m *machine) { m.can("StorageDiscovered", v1alpha1.No, "") }},
	"disks that were not read":        {wishes: raid(preflight.Volume{Level: "1", SizeGiB: 2000}), machine: drive("D7", func(d *v1alpha1.DriveReport) { *d = v1alpha1.DriveReport{ID: "D7"} })},
	"disks that other volumes name": {
		wishes: raid(mirror("D0", "D1"), preflight.Volume{Level: "6", SizeGiB: 100, Count: 7}),
		want:   []string{host + "spec.raid.hardwareRAIDVolumes[1] RAIDDisksTooFew"},
		says:   []string{"6 × SAS SSD"},
	},
	"disks that cannot be used": {
		wishes:  raid(preflight.Volume{Level: "6", SizeGiB: 100, Count: 8}),
		machine: drive("D7", func(d *v1alpha1.DriveReport) { d.Problem = "foreign" }),
		want:    []string{volume + " RAIDDisksTooFew"},
	},
	"five mirrors of eight disks": {
		wishes: raid(append(four("1", 100), preflight.Volume{Level: "1", SizeGiB: 100})...),
		want:   []string{host + "spec.raid.hardwareRAIDVolumes RAIDDisksTooFew"}, says: []string{"Each of 5 volumes finds disks"},
	},

	"software":            {wishes: software(preflight.SoftwareVolume{Level: "1", SizeGiB: 100}, preflight.SoftwareVolume{Level: "0"})},
	"software of level 0": {wishes: software(preflight.SoftwareVolume{Level: "0"}), want: []string{host + "spec.raid.softwareRAIDVolumes[0].level SoftwareRAID"}, says: []string{"write 1"}},
	"software of level 5": {
		wishes: software(preflight.SoftwareVolume{Level: "1", SizeGiB: 9}, preflight.SoftwareVolume{Level: "5"}),
		want:   []string{host + "spec.raid.softwareRAIDVolumes[1].level SoftwareRAID"},
	},
	"three software volumes": {
		wishes: software(preflight.SoftwareVolume{Level: "1", SizeGiB: 9}, preflight.SoftwareVolume{Level: "1", SizeGiB: 9}, preflight.SoftwareVolume{Level: "1", SizeGiB: 9}),
		want:   []string{host + "spec.raid.softwareRAIDVolumes SoftwareRAID"},
	},
	"software on one disk": {wishes: software(preflight.SoftwareVolume{Level: "1", Disks: 1}), want: []string{host + "spec.raid.softwareRAIDVolumes[0].physicalDisks SoftwareRAID"}},
	"two of all space": {
		wishes: software(preflight.SoftwareVolume{Level: "1"}, preflight.SoftwareVolume{Level: "0"}),
		want:   []string{host + "spec.raid.softwareRAIDVolumes[0].sizeGibibytes SoftwareRAID"},
	},
	"two of all space, apart":  {wishes: software(preflight.SoftwareVolume{Level: "1", Disks: 2}, preflight.SoftwareVolume{Level: "0", Disks: 2})},
	"software without volumes": {wishes: software(preflight.SoftwareVolume{Level: "1"}), machine: func(m *machine) { m.is("HPE", "DL380", "iLO 5", "2.72") }},
}

func software(volumes ...preflight.SoftwareVolume) func(*preflight.Wishes) {
	return func(w *preflight.Wishes) { w.SoftwareVolumes = volumes }
}

func four(level string, size int) []preflight.Volume {
	var volumes []preflight.Volume
	for i := range 4 {
		volumes = append(volumes, preflight.Volume{Level: level, SizeGiB: size, Name: fmt.Sprint("v", i)})
	}
	return volumes
}
