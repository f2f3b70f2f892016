package overlay

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
)

const (
	sector = 2048
	// MaxArchive is the largest archive that a relocated area takes, in bytes.
	MaxArchive = 16 << 20
	// areaUnit is what the size of a relocated area is rounded up to.
	areaUnit = 256 << 10
)

// Errors that callers decide on.
var (
	// ErrNoArea means that the medium cannot take an Ignition config.
	ErrNoArea = errors.New("this medium has no area for an Ignition config")
	// ErrTooBig means that the content fits neither the area nor a relocated one.
	ErrTooBig = errors.New("the embedded content is too big for this medium")
	// ErrNoInitrdNetwork means that the medium's initrd ignores keyfiles.
	ErrNoInitrdNetwork = errors.New("this medium does not hand keyfiles to NetworkManager (feature " + iso.FeatureInitrdNetwork + ")")
)

// Media is a medium with its layout.
type Media struct {
	Source
	// Layout is the result of iso.Parse over the source.
	Layout *iso.Layout
}

// Options say what a live image has beyond its medium.
type Options struct {
	// Content goes into the embed area, in one archive of this image.
	Content embedarea.Content
	// Programs are archives that follow in the same area. Their bytes are in memory
	// once, however many images hold them.
	Programs []Source
	// Kargs edits the medium's default kernel arguments.
	Kargs KargsEdit
}

// Customize builds the live ISO of the medium with the options. It fails, and
// says why with both sizes, when the content cannot be embedded.
func Customize(media Media, o Options) (*Image, error) {
	b := NewBuilder(media.Source)
	if err := embed(b, media, o); err != nil {
		return nil, err
	}
	if !o.Kargs.Empty() {
		if err := editKargs(b, media, o.Kargs); err != nil {
			return nil, err
		}
	}
	return b.Build()
}

func editKargs(b *Builder, media Media, edit KargsEdit) error {
	k := media.Layout.Kargs
	if k == nil {
		return ErrNoKargs
	}
	args, err := edit.Apply(k.Default)
	if err != nil {
		return err
	}
	return kargsPatch(b, k, args)
}

// embed writes the archives into the area, or into a new area behind the end.
func embed(b *Builder, media Media, o Options) error {
	archive, err := o.Content.Archive()
	if err != nil {
		return err
	}
	need := int64(len(archive))
	for _, s := range o.Programs {
		need += align(s.Size(), embedarea.Alignment)
	}
	if need == 0 {
		return nil
	}
	area := media.Layout.Ignition
	switch {
	case area == nil:
		return ErrNoArea
	case len(o.Content.Keyfiles) > 0 && !media.Layout.Features[iso.FeatureInitrdNetwork]:
		return ErrNoInitrdNetwork
	}
	target := area.Area
	if need > area.Length {
		if target, err = relocate(b, media, int64(len(archive)), need); err != nil {
			return err
		}
	}
	at := target.Offset
	b.Bytes(at, archive)
	at += int64(len(archive))
	for _, s := range o.Programs {
		b.Extent(at, s, 0, s.Size())
		end := at + align(s.Size(), embedarea.Alignment)
		b.Zero(at+s.Size(), end-at-s.Size())
		at = end
	}
	// The rest must be zero whatever the medium has there.
	b.Zero(at, target.End()-at)
	return nil
}

// relocate moves the area behind the end of the medium by patching the
// directory records of its file and the volumes' sizes; see [Reset] for the way
// back. The medium stays as it is.
func relocate(b *Builder, media Media, archive, need int64) (iso.Area, error) {
	area := media.Layout.Ignition
	refuse := func(why string) (iso.Area, error) {
		return iso.Area{}, fmt.Errorf("%w: %d bytes (compressed) do not fit into the area of %d bytes, and %s", ErrTooBig, need, area.Length, why)
	}
	switch {
	case !area.WholeFile:
		return refuse("the area lies inside a boot file of this architecture, so it cannot be moved")
	case archive > MaxArchive:
		return refuse(fmt.Sprintf("even a moved area takes at most %d bytes", int64(MaxArchive)))
	}
	target := iso.Area{Offset: align(media.Size(), sector), Length: align(need, areaUnit)}
	if target.End()/sector > 1<<32-1 {
		return refuse("the medium is at the limit of its format")
	}
	// What the old area holds, perhaps another host's secrets, must not stay behind.
	b.Zero(area.Offset, area.Length)
	place := append(bothEndian(target.Offset/sector), bothEndian(target.Length)...)
	for _, record := range []int64{area.File.Record, area.File.JolietRecord} {
		if record != 0 {
			b.Bytes(record+iso.RecordExtent, place)
		}
	}
	for _, d := range []*iso.Descriptor{media.Layout.Primary, media.Layout.Joliet} {
		if d != nil {
			b.Bytes(d.BlocksOffset(), bothEndian(target.End()/sector))
		}
	}
	// Media whose application area is in use cannot be reset later; they boot all the same.
	if note, _, free := media.Layout.Primary.ApplicationArea(); free {
		b.Bytes(note.Offset, relocationNote(media.Layout))
	}
	return target, nil
}

// bothEndian is the 8-byte form of a number in ISO 9660.
func bothEndian(v int64) []byte {
	raw := binary.LittleEndian.AppendUint32(nil, uint32(v))
	return binary.BigEndian.AppendUint32(raw, uint32(v))
}

func align(n, to int64) int64 { return (n + to - 1) / to * to }
