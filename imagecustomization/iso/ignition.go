package iso

import (
	"encoding/binary"
	"fmt"
	"io"
)

// IgnitionArea is where a medium takes an Ignition config (and other early
// files): an initramfs that the boot loader loads behind the base one.
type IgnitionArea struct {
	Area
	// File holds the area; nil when only a header names it.
	File *File
	// WholeFile tells that the area is all of File, so that it can be moved by
	// changing File's directory records.
	WholeFile bool
}

// findIgnition looks in igninfo.json, then for images/ignition.img, then for the
// header of the oldest media.
func findIgnition(r io.ReaderAt, l *Layout) (*IgnitionArea, error) {
	info := struct {
		File   string  `json:"file"`
		Offset *uint64 `json:"offset"`
		Length *uint64 `json:"length"`
	}{File: "images/ignition.img"}
	found, err := l.readJSON(r, "coreos/igninfo.json", &info)
	if err != nil {
		return nil, err
	}
	f := l.File(info.File)
	switch {
	case f == nil && found:
		return nil, fmt.Errorf("%w: igninfo.json names %q, which is not on the medium", ErrNotISO, info.File)
	case f == nil:
		return ignitionFromHeader(r, l)
	}
	area := &IgnitionArea{Area: f.Area(), File: f, WholeFile: f.Extents == 1}
	if info.Offset != nil {
		if *info.Offset > uint64(f.Size) {
			return nil, fmt.Errorf("%w: igninfo.json: offset %d is beyond %s", ErrNotISO, *info.Offset, f.Path)
		}
		area.Offset += int64(*info.Offset)
		area.Length -= int64(*info.Offset)
		area.WholeFile = area.WholeFile && *info.Offset == 0
	}
	if info.Length != nil {
		if *info.Length > uint64(area.Length) {
			return nil, fmt.Errorf("%w: igninfo.json: %d bytes do not fit into %s", ErrNotISO, *info.Length, f.Path)
		}
		area.WholeFile = area.WholeFile && *info.Length == uint64(f.Size)
		area.Length = int64(*info.Length)
	}
	return area, nil
}

func ignitionFromHeader(r io.ReaderAt, l *Layout) (*IgnitionArea, error) {
	var raw [24]byte
	if err := readFull(r, raw[:], ignitionHeader); err != nil {
		return nil, fmt.Errorf("read the system area: %w", err)
	}
	if string(raw[:8]) != ignitionMagic {
		return nil, nil
	}
	offset, length := binary.LittleEndian.Uint64(raw[8:]), binary.LittleEndian.Uint64(raw[16:])
	area, err := l.checked(offset, length)
	if err != nil {
		return nil, fmt.Errorf("header coreiso+: %w", err)
	}
	return &IgnitionArea{Area: area, File: l.fileAt(area.Offset)}, nil
}

// checked turns two numbers of the medium into an area within it.
func (l *Layout) checked(offset, length uint64) (Area, error) {
	size := uint64(l.Size)
	if offset > size || length > size-offset {
		return Area{}, fmt.Errorf("%w: %d bytes at %d are outside the image", ErrNotISO, length, offset)
	}
	return Area{Offset: int64(offset), Length: int64(length)}, nil
}
