package overlay

import (
	"encoding/binary"
	"errors"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// errLastSector means that a file cannot be moved behind the end of a medium.
var errLastSector = errors.New("the medium is at the limit of its format")

// editor collects what one image changes of a medium: patches, and files that are
// moved behind the medium's end because they grow. The medium stays as it is, and
// [Reset] finds the way back.
type editor struct {
	*Builder
	media Media
	end   int64 // of the medium with the files that were moved so far
	moved []*iso.File
}

func newEditor(media Media) *editor {
	return &editor{Builder: NewBuilder(media.Source), media: media, end: align(media.Size(), sector)}
}

// move gives a file another place and length by patching its directory records.
// Its content is the caller's to write; what it had before stays where it is.
func (e *editor) move(f *iso.File, length int64) (iso.Area, error) {
	target := iso.Area{Offset: e.end, Length: length}
	end := align(target.End(), sector)
	if end/sector > 1<<32-1 {
		return iso.Area{}, errLastSector
	}
	e.place(f, target.Offset/sector, length)
	e.Zero(target.End(), end-target.End())
	e.end = end
	e.moved = append(e.moved, f)
	return target, nil
}

// place patches the directory records of a file.
func (b *Builder) place(f *iso.File, firstSector, length int64) {
	place := append(bothEndian(firstSector), bothEndian(length)...)
	for _, record := range []int64{f.Record, f.JolietRecord} {
		if record != 0 {
			b.Bytes(record+iso.RecordExtent, place)
		}
	}
}

// build returns the image.
func (e *editor) build() (*Image, error) {
	if len(e.moved) == 0 {
		return e.Build()
	}
	for _, d := range []*iso.Descriptor{e.media.Layout.Primary, e.media.Layout.Joliet} {
		if d != nil {
			e.Bytes(d.BlocksOffset(), bothEndian(e.end/sector))
		}
	}
	if err := e.leaveNote(); err != nil {
		return nil, err
	}
	return e.Build()
}

// bothEndian is the 8-byte form of a number in ISO 9660.
func bothEndian(v int64) []byte {
	raw := binary.LittleEndian.AppendUint32(nil, uint32(v))
	return binary.BigEndian.AppendUint32(raw, uint32(v))
}

func align(n, to int64) int64 { return (n + to - 1) / to * to }
