// Package diskcopy keeps a copy of a hub's state at the end of a disk, for a hub whose own
// data folder is in memory: that of an agent-based installation, on a host that may lose its
// power. The copy is sealed with a secret that every image of the installation has, so a disk
// that somebody plugs in is no way to another hub's state, and nobody reads the keys in it.
//
// It lies in two places that are written in turn, each first its text and then its header, so
// that a loss of power leaves the older one whole. The last MiB of the disk is left alone:
// partition tables and arrays have their second copies there. [Find] looks for the newest copy,
// [Disk.Write] replaces the older one, [Disk.Erase] takes both away. A copy says which settings its
// hub was started with: who has made the image again with others gets another cluster.
package diskcopy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/hub/seal"
)

const (
	mib = 1 << 20
	// slotSize is the room of one of the two copies, with its header of one sector.
	slotSize   = 32 * mib
	headerSize = 4096
	// behind is what is left alone at the end of the disk.
	behind = mib
	// leastDisk is the size of the smallest disk that a copy is put on.
	leastDisk = 1 << 30
)

// MaxText bounds what fits, in bytes, once it is sealed.
const MaxText = slotSize - headerSize

// magic begins the header of a copy.
var magic = []byte("IRONFLOW HUB COPY 1\n")

// header is what is before the text, behind magic.
type header struct {
	// Generation counts the copies: the newest one has the highest.
	Generation uint64
	// Length is that of the text in bytes.
	Length uint64
	// Settings are those of [Place]; zero in copies of hubs that did not know theirs.
	Settings Settings
}

// Settings tell what a hub was started with: the same for the same settings, and nothing about them.
type Settings [32]byte

// Place is what a copy is of, and who may read it.
type Place struct {
	// Name tells the copies of one installation from those of others.
	Name string
	// Keys seal and open.
	Keys seal.Keys
	// Settings are those of this hub; zero where they are not known.
	Settings Settings
}

// sealed is the place of one copy, so that its header is what was written with it.
func (p Place) sealed(h header) string {
	name := p.Name
	if h.Settings != (Settings{}) {
		name += fmt.Sprintf(" with %x", h.Settings)
	}
	return name + " copy " + strconv.FormatUint(h.Generation, 10)
}

// other tells that a hub with other settings has written the copy. One that does not say has to do:
// an older program has written it.
func (p Place) other(h header) bool {
	return h.Settings != p.Settings && h.Settings != (Settings{})
}

// Disk is a disk with room for copies.
type Disk struct {
	Place Place
	// Path is that of the device.
	Path string
	// Plain takes a regular file for a disk.
	Plain bool
	// Generation is that of the newest copy; zero for none.
	Generation uint64
	// Other tells that the newest copy is of a hub of the installation with other settings.
	Other bool
}

// ErrTooSmall tells that a disk has no room for copies.
var ErrTooSmall = fmt.Errorf("the disk has less than %d MiB", leastDisk/mib)

// ErrTooLarge tells that a state does not fit.
var ErrTooLarge = fmt.Errorf("the state is larger than %d MiB", MaxText/mib)

// open opens the disk. One that is written to must not be in use: no file system of it is
// mounted, and it is part of no array.
func (d *Disk) open(flags int) (*os.File, int64, error) {
	f, err := os.OpenFile(d.Path, flags, 0)
	if err != nil {
		return nil, 0, err
	}
	size, err := d.sizeOf(f)
	if err == nil && size < leastDisk {
		err = ErrTooSmall
	}
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, size, nil
}

// sizeOf is the size of what is a disk.
func (d *Disk) sizeOf(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	block := info.Mode()&os.ModeDevice != 0 && info.Mode()&os.ModeCharDevice == 0
	if !block && (!d.Plain || !info.Mode().IsRegular()) {
		return 0, fmt.Errorf("%s is no disk", d.Path)
	}
	return f.Seek(0, io.SeekEnd)
}

// slot is where the copy of a generation lies on a disk of that size.
func slot(size int64, generation uint64) int64 {
	end := size/mib*mib - behind
	return end - slotSize*int64(1+generation%2)
}

// Write puts the state on the disk, in the place of the older copy, and returns when it is
// there for good.
func (d *Disk) Write(state []byte) error {
	next := header{Generation: d.Generation + 1, Settings: d.Place.Settings}
	text, err := d.Place.Keys.Seal(d.Place.sealed(next), state)
	if err != nil {
		return err
	}
	next.Length = uint64(len(text))
	if len(text) > MaxText {
		return ErrTooLarge
	}
	f, size, err := d.open(os.O_WRONLY | unix.O_EXCL)
	if err != nil {
		return err
	}
	at := slot(size, next.Generation)
	head := make([]byte, headerSize)
	n := copy(head, magic)
	if _, err = binary.Encode(head[n:], binary.BigEndian, next); err == nil {
		err = write(f, []byte(text), at+headerSize)
	}
	if err == nil {
		err = write(f, head, at)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		d.Generation, d.Other = next.Generation, false
	}
	return err
}

// write writes, and waits until the disk has it.
func write(f *os.File, raw []byte, at int64) error {
	if _, err := f.WriteAt(raw, at); err != nil {
		return err
	}
	return f.Sync()
}

// Erase takes the copies away, and nothing else: where something else has been written since,
// it stays. The disk may be in use by then.
func (d *Disk) Erase() error {
	f, size, err := d.open(os.O_RDWR)
	if err != nil {
		return err
	}
	for generation := range uint64(2) {
		found := make([]byte, len(magic))
		at := slot(size, generation)
		if _, readErr := f.ReadAt(found, at); readErr != nil || !bytes.Equal(found, magic) {
			err = errors.Join(err, readErr)
			continue
		}
		err = errors.Join(err, write(f, make([]byte, headerSize), at))
	}
	d.Generation, d.Other = 0, false
	return errors.Join(err, f.Close())
}

// Look learns which copy is the newest one.
func (d *Disk) Look() error {
	_, err := d.read()
	return err
}

// read returns the newest whole copy; nil for none, and for one of a hub with other settings: what
// is older than that is over.
func (d *Disk) read() (state []byte, err error) {
	f, size, err := d.open(os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	for n := range uint64(2) {
		found, h := d.readSlot(f, slot(size, n))
		if found != nil && h.Generation > d.Generation {
			state, d.Generation, d.Other = found, h.Generation, d.Place.other(h)
		}
	}
	if d.Other {
		return nil, nil
	}
	return state, nil
}

// readSlot returns a copy that is whole and of this installation; nil for anything else.
func (d *Disk) readSlot(f io.ReaderAt, at int64) (state []byte, h header) {
	head := make([]byte, headerSize)
	if _, err := f.ReadAt(head, at); err != nil || !bytes.HasPrefix(head, magic) {
		return nil, h
	}
	if _, err := binary.Decode(head[len(magic):], binary.BigEndian, &h); err != nil || h.Length > MaxText {
		return nil, h
	}
	text := make([]byte, h.Length)
	if _, err := f.ReadAt(text, at+headerSize); err != nil {
		return nil, h
	}
	state, err := d.Place.Keys.Open(d.Place.sealed(h), string(text))
	if err != nil {
		return nil, h
	}
	return state, h
}
