package blockdev_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
)

// TestTheSameDiskLater: udev looks at a disk anew when a program that has written to it ends, and
// a disk that fails does not answer all of its questions then, or answers other ones.
func TestTheSameDiskLater(t *testing.T) {
	const size = 500107862016
	// What the rules of udev find of a SATA disk by ata_id, and by scsi_id if that gets no answer.
	ata := blockdev.Disk{SizeBytes: size, Sequence: "7", Serial: "Z1F0", WWN: "0x5000c5001", WWNs: []string{"0x5000c5001"}, Serials: []string{"Z1F0", "ST500_Z1F0"}}
	scsi := ata
	scsi.Serials, scsi.WWNWithExtension = []string{"5000c5001", "35000c5001"}, "0x5000c5001"
	with := func(d blockdev.Disk, change func(*blockdev.Disk)) blockdev.Disk {
		change(&d)
		return d
	}
	for name, tc := range map[string]struct {
		then, now blockdev.Disk
		same      bool
	}{
		"nothing has changed":               {ata, ata, true},
		"other questions were answered":     {ata, scsi, true},
		"another size":                      {ata, with(ata, func(d *blockdev.Disk) { d.SizeBytes++ }), false},
		"none is answered, the same device": {ata, blockdev.Disk{SizeBytes: size, Sequence: "7"}, true},
		"it has come back":                  {ata, with(ata, func(d *blockdev.Disk) { d.Sequence = "9" }), true},
		"it has come back, udev knows less": {ata, blockdev.Disk{SizeBytes: size, Sequence: "9", WWNs: []string{"0x5000c5001"}}, true},
		"another one has come":              {ata, with(ata, func(d *blockdev.Disk) { d.Sequence, d.Serial, d.Serials = "9", "Z1F1", []string{"Z1F1", "ST500_Z1F1"} }), false},
		"another one has come, unknown":     {ata, blockdev.Disk{SizeBytes: size, Sequence: "9"}, false},
		"another LUN behind the same device": {
			ata, with(ata, func(d *blockdev.Disk) { d.WWN, d.WWNs = "0x5000c5002", []string{"0x5000c5002"} }), false,
		},
		"an older kernel, which does not count": {with(ata, func(d *blockdev.Disk) { d.Sequence = "" }), with(scsi, func(d *blockdev.Disk) { d.Sequence = "" }), false},
		"no names at all":                       {blockdev.Disk{SizeBytes: size, Links: []string{"a"}}, blockdev.Disk{SizeBytes: size, Links: []string{"a", "b"}}, true},
		"no names, elsewhere":                   {blockdev.Disk{SizeBytes: size, Links: []string{"a"}}, blockdev.Disk{SizeBytes: size, Links: []string{"b"}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(tc.now.Is(tc.then)).To(Equal(tc.same))
			g.Expect(tc.then.Is(tc.now)).To(Equal(tc.same))
		})
	}
}
