package simulator

import "fmt"

// layout says what a RAID type needs and gives.
type layout struct {
	min, max int // drives; no limit when max is zero
	spans    int // the drives must divide into so many; zero is two each
	parity   int // drives per span whose space is not usable
	mirrored bool
}

// layouts are the RAID types that the simulator knows, by Volume.RAIDType.
var layouts = map[string]layout{
	"RAID0":  {min: 1, spans: 1},
	"RAID1":  {min: 2, max: 2, spans: 1, parity: 1},
	"RAID5":  {min: 3, spans: 1, parity: 1},
	"RAID6":  {min: 4, spans: 1, parity: 2},
	"RAID10": {min: 4, mirrored: true},
	"RAID50": {min: 6, spans: 2, parity: 1},
	"RAID60": {min: 8, spans: 2, parity: 2},
}

// usable is how many of the drives hold data.
func (l layout) usable(drives int) (int, error) {
	spans := l.spans
	if l.mirrored {
		spans = drives / 2
	}
	switch {
	case drives < l.min:
		return 0, fmt.Errorf("needs at least %d drives, not %d", l.min, drives)
	case l.max != 0 && drives > l.max:
		return 0, fmt.Errorf("takes at most %d drives, not %d", l.max, drives)
	case drives%max(spans, 1) != 0:
		return 0, fmt.Errorf("cannot divide %d drives into %d spans", drives, spans)
	case l.mirrored:
		return spans, nil
	}
	return drives - spans*l.parity, nil
}

// DefaultStorage is the storage of systems that bring none: one RAID controller
// with four disks of 480 GB each, without volumes.
func DefaultStorage() []Storage {
	s := Storage{ID: "RAID.1", Name: "RAID Controller", RAIDTypes: []string{"RAID0", "RAID1", "RAID5", "RAID6", "RAID10"}}
	for i := range defaultDrives {
		id := fmt.Sprintf("Disk.%d", i)
		s.Drives = append(s.Drives, Drive{
			ID: id, Model: "SIM480", Manufacturer: "ACME", SerialNumber: "SER-" + id, MediaType: "SSD", Protocol: "SAS", CapacityBytes: defaultDriveBytes,
		})
	}
	return []Storage{s}
}

const (
	defaultDrives     = 4
	defaultDriveBytes = 480_103_981_056
)
