// Package raid knows how many drives a RAID type needs and how many of them hold
// data, as a simulated controller does.
package raid

import "fmt"

// layout says what a RAID type needs and gives.
type layout struct {
	min, max int // drives; no limit when max is zero
	spans    int // the drives must divide into so many; zero is two each
	parity   int // drives per span whose space is not usable
	mirrored bool
}

// layouts are the RAID types that are known, by Volume.RAIDType.
var layouts = map[string]layout{
	"RAID0":  {min: 1, spans: 1},
	"RAID1":  {min: 2, max: 2, spans: 1, parity: 1},
	"RAID5":  {min: 3, spans: 1, parity: 1},
	"RAID6":  {min: 4, spans: 1, parity: 2},
	"RAID10": {min: 4, mirrored: true},
	"RAID50": {min: 6, spans: 2, parity: 1},
	"RAID60": {min: 8, spans: 2, parity: 2},
}

// Known says whether there is such a type.
func Known(kind string) bool {
	_, known := layouts[kind]
	return known
}

// Usable is how many of the drives hold data in a volume of a known type. Its error
// says what is wrong with their number.
func Usable(kind string, drives int) (int, error) { return layouts[kind].usable(drives) }

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
