package overlay

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// noteMagic starts the note that a relocation leaves in the primary
// descriptor's application area, which has no meaning for anybody else. The note
// holds what a reset needs: the old size of the file, and the old area and the
// old volume size of both trees.
const noteMagic = "IRONFLOW-AREA-1\x00"

// note is the relocation note behind its magic.
type note struct {
	// Size is the length of the untouched medium in bytes.
	Size int64
	// AreaSector and AreaLength are the place of the untouched area.
	AreaSector, AreaLength uint32
	// Blocks and JolietBlocks are the untouched volume sizes in sectors.
	Blocks, JolietBlocks uint32
	// Fill is the byte that the application area is filled with.
	Fill byte
}

func relocationNote(l *iso.Layout) []byte {
	_, fill, _ := l.Primary.ApplicationArea()
	n := note{
		Fill:       fill,
		Size:       l.Size,
		AreaSector: uint32(l.Ignition.Offset / sector),
		AreaLength: uint32(l.Ignition.Length),
		Blocks:     l.Primary.Blocks,
	}
	if l.Joliet != nil {
		n.JolietBlocks = l.Joliet.Blocks
	}
	raw, err := binary.Append([]byte(noteMagic), binary.LittleEndian, n)
	if err != nil {
		panic(err) //nolint:forbidigo // a struct of fixed size
	}
	return raw
}

// readNote returns the relocation note of a medium, nil when its area was never
// moved by us.
func readNote(media Media) (*note, error) {
	area, _, _ := media.Layout.Primary.ApplicationArea()
	raw := make([]byte, area.Length)
	if _, err := media.ReadAt(raw, area.Offset); err != nil {
		return nil, fmt.Errorf("read the primary volume descriptor: %w", err)
	}
	rest, ok := bytes.CutPrefix(raw, []byte(noteMagic))
	if !ok {
		return nil, nil
	}
	n := &note{}
	if _, err := binary.Decode(rest, binary.LittleEndian, n); err != nil {
		return nil, err
	}
	if n.Size <= 0 || n.Size > media.Size() || int64(n.AreaSector)*sector+int64(n.AreaLength) > n.Size {
		return nil, fmt.Errorf("%w: the note about the moved area is damaged", iso.ErrNotISO)
	}
	return n, nil
}

// Reset gives the medium back as it was before any customization: the area
// empty and in its old place, the default kernel arguments everywhere. The
// result is byte-equal to the medium that an image was built from.
func Reset(media Media) (*Image, error) {
	b := NewBuilder(media.Source)
	l := media.Layout
	if l.Kargs != nil {
		if err := kargsPatch(b, l.Kargs, l.Kargs.Default); err != nil {
			return nil, err
		}
	}
	moved, err := readNote(media)
	if err != nil {
		return nil, err
	}
	switch {
	case moved != nil && l.Ignition != nil && l.Ignition.File != nil:
		return undoRelocation(b, media, moved)
	case l.Ignition != nil:
		b.Zero(l.Ignition.Offset, l.Ignition.Length)
	}
	return b.Build()
}

func undoRelocation(b *Builder, media Media, moved *note) (*Image, error) {
	l := media.Layout
	place := append(bothEndian(int64(moved.AreaSector)), bothEndian(int64(moved.AreaLength))...)
	for _, record := range []int64{l.Ignition.File.Record, l.Ignition.File.JolietRecord} {
		if record != 0 {
			b.Bytes(record+iso.RecordExtent, place)
		}
	}
	b.Bytes(l.Primary.BlocksOffset(), bothEndian(int64(moved.Blocks)))
	if l.Joliet != nil {
		b.Bytes(l.Joliet.BlocksOffset(), bothEndian(int64(moved.JolietBlocks)))
	}
	application, _, _ := l.Primary.ApplicationArea()
	b.Bytes(application.Offset, bytes.Repeat([]byte{moved.Fill}, int(application.Length)))
	b.Zero(int64(moved.AreaSector)*sector, int64(moved.AreaLength))
	whole, err := b.Build()
	if err != nil {
		return nil, err
	}
	var kept []Segment
	for s := range whole.Range(0, moved.Size) {
		kept = append(kept, s)
	}
	return newImage(kept), nil
}
