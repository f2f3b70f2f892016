package overlay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// noteMagic starts the note that moved files leave in the primary descriptor's
// application area, which has no meaning for anybody else. The note holds what a
// reset needs: the medium's old size, and the old places of the files.
const (
	noteFamily = "IRONFLOW-AREA-"
	noteMagic  = noteFamily + "2\x00"
)

// note is the note behind its magic; its files follow it.
type note struct {
	noteHead
	files []notedFile
}

type noteHead struct {
	// Size is the length of the untouched medium in bytes.
	Size int64
	// Blocks and JolietBlocks are the untouched volume sizes in sectors.
	Blocks, JolietBlocks uint32
	// Fill is the byte that the application area is filled with.
	Fill byte
	// Files is how many files follow.
	Files uint8
}

// notedFile is a file that was moved.
type notedFile struct {
	// Record and JolietRecord are the places of its directory records.
	Record, JolietRecord int64
	// Sector and Length are its old place.
	Sector, Length uint32
}

// leaveNote writes the note, with what an earlier one has. Media whose application
// area is in use cannot be reset later; they boot all the same.
func (e *editor) leaveNote() error {
	l := e.media.Layout
	area, fill, free := l.Primary.ApplicationArea()
	n, err := readNote(e.media)
	if err != nil {
		return err
	}
	if n == nil && !free {
		return nil
	}
	if n == nil {
		n = &note{noteHead: noteHead{Fill: fill, Size: l.Size, Blocks: l.Primary.Blocks}}
		if l.Joliet != nil {
			n.JolietBlocks = l.Joliet.Blocks
		}
	}
	for _, f := range e.moved {
		// A file that was moved before has its first place there.
		if !slices.ContainsFunc(n.files, func(known notedFile) bool { return known.Record == f.Record }) {
			n.files = append(n.files, notedFile{f.Record, f.JolietRecord, uint32(f.Offset / sector), uint32(f.Size)})
		}
	}
	raw, err := n.encode()
	if err != nil {
		return err
	}
	if int64(len(raw)) > area.Length {
		return fmt.Errorf("%d files would be moved, which is more than a reset can keep in mind", len(n.files))
	}
	e.Bytes(area.Offset, raw)
	return nil
}

func (n *note) encode() ([]byte, error) {
	n.Files = uint8(len(n.files))
	raw, err := binary.Append([]byte(noteMagic), binary.LittleEndian, n.noteHead)
	if err != nil {
		return nil, err
	}
	return binary.Append(raw, binary.LittleEndian, n.files)
}

// readNote returns the note of a medium, nil when we moved nothing on it.
func readNote(media Media) (*note, error) {
	area, _, _ := media.Layout.Primary.ApplicationArea()
	raw := make([]byte, area.Length)
	if _, err := media.ReadAt(raw, area.Offset); err != nil {
		return nil, fmt.Errorf("read the primary volume descriptor: %w", err)
	}
	rest, ok := bytes.CutPrefix(raw, []byte(noteMagic))
	if !ok {
		if bytes.HasPrefix(raw, []byte(noteFamily)) {
			return nil, errors.New("another version of this program has moved files of this medium: reset it with that one")
		}
		return nil, nil
	}
	n := &note{}
	read, err := binary.Decode(rest, binary.LittleEndian, &n.noteHead)
	if err == nil {
		n.files = make([]notedFile, n.Files)
		_, err = binary.Decode(rest[read:], binary.LittleEndian, n.files)
	}
	if err != nil || !n.sound(media) {
		return nil, fmt.Errorf("%w: the note about moved files is damaged", iso.ErrNotISO)
	}
	return n, nil
}

// sound tells whether the note speaks of places that the medium has.
func (n *note) sound(media Media) bool {
	known := map[int64]int64{}
	for f := range media.Layout.Files() {
		known[f.Record] = f.JolietRecord
	}
	return n.Size > 0 && n.Size <= media.Size() && !slices.ContainsFunc(n.files, func(f notedFile) bool {
		joliet, there := known[f.Record]
		return !there || joliet != f.JolietRecord || int64(f.Sector)*sector+int64(f.Length) > n.Size
	})
}
