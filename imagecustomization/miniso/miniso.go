// Package miniso reads coreos/miniso.dat, the recipe by which a full live ISO
// becomes a minimal one without its root file system: a table of extents that
// both have in common, and the bytes in between.
//
// Nothing is extracted: [Recipe] gives the pieces, and the overlay package
// composes an image of them.
package miniso

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ulikunitz/xz"
)

const (
	magic      = "MINISO\x00\x00"
	version    = 1
	sectorSize = 2048
	// MaxFile is the largest recipe that is read, in bytes.
	MaxFile = 1 << 20
	// maxGaps bounds the unpacked bytes between the extents; real media have
	// less than 1 MiB.
	maxGaps    = 32 << 20
	maxEntries = 1 << 16
)

// ErrFormat is returned for bytes that are no recipe.
var ErrFormat = errors.New("not a miniso.dat")

// Piece is a run of bytes of the minimal image: an extent of the full image, or
// Gap.
type Piece struct {
	// Offset and Length name the extent of the full image, in bytes.
	Offset, Length int64
	// Gap holds bytes that the full image does not have in this place.
	Gap []byte
}

// Recipe is a parsed miniso.dat.
type Recipe struct {
	// AppVersion is the version of the program that wrote it.
	AppVersion string
	// Digest is the SHA-256 of the minimal image.
	Digest [32]byte
	// Pieces make up the minimal image, in order.
	Pieces []Piece
	// Extents is how many of the pieces come from the full image.
	Extents int
}

// extent is one row of the table, in sectors and bytes.
type extent struct{ minimal, full, length uint64 }

// Parse reads the recipe for a full image of fullSize bytes. Bytes behind the
// recipe are ignored, as its file is larger than what it holds.
func Parse(raw []byte, fullSize int64) (*Recipe, error) {
	d := &decoder{rest: raw}
	if string(d.bytes(len(magic))) != magic {
		return nil, fmt.Errorf("%w: no signature", ErrFormat)
	}
	if v := d.varint(); v != version && d.err == nil {
		return nil, fmt.Errorf("%w: version %d, only %d is known", ErrFormat, v, version)
	}
	r := &Recipe{AppVersion: string(d.sized())}
	table := d.table()
	copy(r.Digest[:], d.bytes(len(r.Digest)))
	packed := d.sized()
	if d.err != nil {
		return nil, d.err
	}
	gaps, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	return r, r.assemble(table, gaps, fullSize)
}

func unpack(packed []byte) ([]byte, error) {
	z, err := xz.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	gaps, err := io.ReadAll(io.LimitReader(z, maxGaps+1))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if len(gaps) > maxGaps {
		return nil, fmt.Errorf("%w: more than %d bytes between extents", ErrFormat, maxGaps)
	}
	return gaps, nil
}

// assemble orders extents and gaps; the gaps' bytes fill the spaces in turn.
func (r *Recipe) assemble(table []extent, gaps []byte, fullSize int64) error {
	var at uint64 // in the minimal image
	for i, e := range table {
		start := e.minimal * sectorSize
		if e.minimal > 1<<40 || e.full > 1<<40 || e.length > uint64(fullSize) || e.full*sectorSize > uint64(fullSize)-e.length {
			return fmt.Errorf("%w: extent %d lies outside the full image", ErrFormat, i)
		}
		if start < at || start-at > uint64(len(gaps)) {
			return fmt.Errorf("%w: extent %d at %d does not follow %d", ErrFormat, i, start, at)
		}
		r.gap(gaps[:start-at])
		gaps = gaps[start-at:]
		r.Pieces = append(r.Pieces, Piece{Offset: int64(e.full * sectorSize), Length: int64(e.length)})
		at = start + e.length
	}
	r.Extents = len(table)
	r.gap(gaps)
	return nil
}

func (r *Recipe) gap(data []byte) {
	if len(data) > 0 {
		r.Pieces = append(r.Pieces, Piece{Gap: data, Length: int64(len(data))})
	}
}

// decoder reads the serialized form; after an error it returns zero values.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) bytes(n int) []byte {
	if d.err != nil || n > len(d.rest) {
		d.err = errors.Join(d.err, fmt.Errorf("%w: it is cut", ErrFormat))
		return nil
	}
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out
}

// varint reads a number: one byte up to 250, else a marker and 2, 4 or 8 bytes.
func (d *decoder) varint() uint64 {
	head := d.bytes(1)
	if d.err != nil {
		return 0
	}
	var wide [8]byte
	switch head[0] {
	case 251:
		copy(wide[:], d.bytes(2))
	case 252:
		copy(wide[:], d.bytes(4))
	case 253:
		copy(wide[:], d.bytes(8))
	case 254, 255:
		d.err = fmt.Errorf("%w: a number wider than 64 bits", ErrFormat)
		return 0
	default:
		return uint64(head[0])
	}
	return binary.LittleEndian.Uint64(wide[:])
}

// sized reads bytes with their length in front.
func (d *decoder) sized() []byte {
	n := d.varint()
	if n > MaxFile {
		d.err = errors.Join(d.err, fmt.Errorf("%w: a field of %d bytes", ErrFormat, n))
		return nil
	}
	return d.bytes(int(n))
}

func (d *decoder) table() []extent {
	n := d.varint()
	if n > maxEntries {
		d.err = errors.Join(d.err, fmt.Errorf("%w: a table of %d extents", ErrFormat, n))
		return nil
	}
	var out []extent
	for range n {
		out = append(out, extent{d.varint(), d.varint(), d.varint()})
		if d.err != nil {
			return nil
		}
	}
	return out
}
