package iso

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
)

// Positions inside a volume descriptor (ECMA-119 section 8).
const (
	sectorSize      = 2048
	firstDescriptor = 16 * sectorSize
	maxDescriptors  = 64

	typePrimary       = 1
	typeSupplementary = 2
	typeTerminator    = 255

	offVolumeID      = 40
	offVolumeBlocks  = 80
	offEscapes       = 88
	offBlockSize     = 128
	offPathTables    = 140
	offRootRecord    = 156
	offApplication   = 883
	applicationBytes = 512
)

// Descriptor is a volume descriptor: the head of one directory tree.
type Descriptor struct {
	// Offset is where the descriptor lies in the image, in bytes.
	Offset int64
	// Blocks is the volume's size in sectors of 2,048 bytes.
	Blocks uint32

	volumeID string
	joliet   bool
	root     record
	fill     byte // of the application area
	free     bool
}

// BlocksOffset is where the both-endian field of the volume's size lies.
func (d *Descriptor) BlocksOffset() int64 { return d.Offset + offVolumeBlocks }

// PathTables is where the places of the two path tables lie: the first of the
// table in little-endian, the third in big-endian, 4 bytes each.
func (d *Descriptor) PathTables() Area { return Area{Offset: d.Offset + offPathTables, Length: 16} }

// ApplicationArea is the part of the descriptor that the standard leaves to
// applications; its content has no meaning for boot loaders and kernels. free
// tells that nobody uses it: all its bytes are fill.
func (d *Descriptor) ApplicationArea() (area Area, fill byte, free bool) {
	return Area{Offset: d.Offset + offApplication, Length: applicationBytes}, d.fill, d.free
}

// readDescriptors returns the primary descriptor and, where there is one, the
// Joliet one.
func readDescriptors(r io.ReaderAt) (primary, joliet *Descriptor, err error) {
	var sector [sectorSize]byte
	for i := range int64(maxDescriptors) {
		at := firstDescriptor + i*sectorSize
		if err := readFull(r, sector[:], at); err != nil {
			return nil, nil, fmt.Errorf("%w: no volume descriptor at byte %d", ErrNotISO, at)
		}
		if string(sector[1:6]) != "CD001" {
			return nil, nil, fmt.Errorf("%w: no signature CD001 at byte %d", ErrNotISO, at)
		}
		kind := sector[0]
		if kind == typeTerminator {
			break
		}
		isJoliet := kind == typeSupplementary && sector[offEscapes] == '%' && sector[offEscapes+1] == '/'
		if kind != typePrimary && !isJoliet {
			continue
		}
		d, err := parseDescriptor(sector[:], at, isJoliet)
		if err != nil {
			return nil, nil, err
		}
		if isJoliet && joliet == nil {
			joliet = d
		} else if !isJoliet && primary == nil {
			primary = d
		}
	}
	if primary == nil {
		return nil, nil, fmt.Errorf("%w: no primary volume descriptor", ErrNotISO)
	}
	return primary, joliet, nil
}

func parseDescriptor(sector []byte, at int64, joliet bool) (*Descriptor, error) {
	if size := binary.LittleEndian.Uint16(sector[offBlockSize:]); size != sectorSize {
		return nil, fmt.Errorf("%w: sectors of %d bytes, only %d are supported", ErrNotISO, size, sectorSize)
	}
	d := &Descriptor{Offset: at, Blocks: binary.LittleEndian.Uint32(sector[offVolumeBlocks:]), joliet: joliet}
	id := sector[offVolumeID : offVolumeID+32]
	if joliet {
		d.volumeID = strings.TrimRight(decodeUCS2(id), " \x00")
	} else {
		d.volumeID = strings.TrimRight(string(id), " \x00")
	}
	application := sector[offApplication : offApplication+applicationBytes]
	d.fill = application[0]
	d.free = bytes.Count(application, application[:1]) == applicationBytes
	root, _, err := parseRecord(sector[offRootRecord:offRootRecord+34], at+offRootRecord, joliet)
	if err != nil || !root.dir {
		return nil, fmt.Errorf("%w: bad root directory in the descriptor at byte %d", ErrNotISO, at)
	}
	d.root = root
	return d, nil
}

// decodeUCS2 decodes the big-endian UTF-16 of Joliet names.
func decodeUCS2(raw []byte) string {
	units := make([]uint16, len(raw)/2)
	for i := range units {
		units[i] = binary.BigEndian.Uint16(raw[2*i:])
	}
	return string(utf16.Decode(units))
}

// readFull reads exactly len(p) bytes at off.
func readFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
