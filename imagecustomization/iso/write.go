package iso

import (
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// Bounds of what [Write] writes: everything lies in one folder of one sector.
const (
	maxWritten = 1 << 30
	maxLabel   = 32
)

// writtenName is what a name may be made of, so that each reader of ISO 9660 level 1 shows it.
var writtenName = regexp.MustCompile(`^[a-z0-9_]{1,8}(\.[a-z0-9_]{1,3})?$`)

// Written is a file of [Write].
type Written struct {
	// Name is in lower case, of the form 8.3: Linux shows it so, and it is stored in capitals.
	Name string
	Data []byte
}

// Write writes a data medium with a few files in its root, without a boot record. It has no
// times and no owners: the same files give the same bytes.
func Write(w io.Writer, label string, files ...Written) error {
	if label == "" || len(label) > maxLabel {
		return fmt.Errorf("label %q of a medium: want 1 to %d characters", label, maxLabel)
	}
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b Written) int { return strings.Compare(a.Name, b.Name) })
	const tables, folder = firstDescriptor/sectorSize + 2, firstDescriptor/sectorSize + 4
	next := uint32(folder + 1)
	listing := slices.Concat(directoryRecord("\x00", folder, sectorSize, flagDir), directoryRecord("\x01", folder, sectorSize, flagDir))
	for i, f := range files {
		switch {
		case !writtenName.MatchString(f.Name) || i > 0 && files[i-1].Name == f.Name:
			return fmt.Errorf("file %q of a medium: want names in lower case of the form 8.3, each once", f.Name)
		case len(f.Data) > maxWritten:
			return fmt.Errorf("file %s of a medium has %d bytes, at most %d are written", f.Name, len(f.Data), maxWritten)
		}
		listing = append(listing, directoryRecord(strings.ToUpper(f.Name)+";1", next, uint32(len(f.Data)), 0)...)
		next += uint32((len(f.Data) + sectorSize - 1) / sectorSize)
	}
	if len(listing) > sectorSize {
		return fmt.Errorf("%d files are too many for this medium", len(files))
	}
	parts := [][]byte{
		make([]byte, firstDescriptor), primary(label, next, folder, tables), []byte("\xffCD001\x01"),
		pathTable(binary.LittleEndian, folder), pathTable(binary.BigEndian, folder), listing,
	}
	for _, f := range files {
		parts = append(parts, f.Data)
	}
	for _, part := range parts {
		if _, err := w.Write(slices.Concat(part, make([]byte, -len(part)&(sectorSize-1)))); err != nil {
			return err
		}
	}
	return nil
}

// both is a number in both byte orders (ECMA-119 7.3.3), half one of 16 bits (7.2.3).
func both(n uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, n), n)
}

func half(n uint16) []byte {
	return binary.BigEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, n), n)
}

// directoryRecord is one of the root folder (9.1).
func directoryRecord(name string, sector, size uint32, flags byte) []byte {
	record := slices.Concat([]byte{0, 0}, both(sector), both(size), make([]byte, 7), []byte{flags, 0, 0}, half(1), []byte{byte(len(name))}, []byte(name))
	if len(record)%2 != 0 {
		record = append(record, 0)
	}
	record[0] = byte(len(record))
	return record
}

// pathTable names the only folder (9.4).
func pathTable(order binary.AppendByteOrder, folder uint32) []byte {
	return append(order.AppendUint16(order.AppendUint32([]byte{1, 0}, folder), 1), 0, 0)
}

// primary is the primary volume descriptor (8.4).
func primary(label string, sectors, folder, tables uint32) []byte {
	text := func(s string, n int) []byte { return fmt.Appendf(nil, "%-*s", n, s) }
	const tableSize = 10
	noTime := append([]byte(strings.Repeat("0", 16)), 0)
	return slices.Concat(
		[]byte("\x01CD001\x01\x00"), text("LINUX", 32), text(label, 32), make([]byte, 8), both(sectors), make([]byte, 32),
		half(1), half(1), half(sectorSize), both(tableSize),
		binary.LittleEndian.AppendUint32(nil, tables), make([]byte, 4), binary.BigEndian.AppendUint32(nil, tables+1), make([]byte, 4),
		directoryRecord("\x00", folder, sectorSize, flagDir),
		text("", 128), text("", 128), text("", 128), text("", 128), text("", 37), text("", 37), text("", 37),
		noTime, noTime, noTime, noTime, []byte{1, 0},
	)
}
