package overlay

import (
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
	e := newEditor(media)
	if err := e.embed(o); err != nil {
		return nil, err
	}
	if !o.Kargs.Empty() {
		if err := e.editKargs(o.Kargs); err != nil {
			return nil, err
		}
	}
	return e.build()
}

func (e *editor) editKargs(edit KargsEdit) error {
	k := e.media.Layout.Kargs
	if k == nil {
		return ErrNoKargs
	}
	args, err := edit.Apply(k.Default)
	if err != nil {
		return err
	}
	return e.setKargs(args)
}

// embed writes the archives into the area, or into a new area behind the end.
func (e *editor) embed(o Options) error {
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
	area := e.media.Layout.Ignition
	switch {
	case area == nil:
		return ErrNoArea
	case len(o.Content.Keyfiles) > 0 && !e.media.Layout.Features[iso.FeatureInitrdNetwork]:
		return ErrNoInitrdNetwork
	}
	target := area.Area
	if need > area.Length {
		if target, err = e.moveArea(int64(len(archive)), need); err != nil {
			return err
		}
	}
	at := target.Offset
	e.Bytes(at, archive)
	at += int64(len(archive))
	for _, s := range o.Programs {
		e.Extent(at, s, 0, s.Size())
		end := at + align(s.Size(), embedarea.Alignment)
		e.Zero(at+s.Size(), end-at-s.Size())
		at = end
	}
	// The rest must be zero whatever the medium has there.
	e.Zero(at, target.End()-at)
	return nil
}

// moveArea moves the area behind the end of the medium.
func (e *editor) moveArea(archive, need int64) (iso.Area, error) {
	area := e.media.Layout.Ignition
	refuse := func(why string) (iso.Area, error) {
		return iso.Area{}, fmt.Errorf("%w: %d bytes (compressed) do not fit into the area of %d bytes, and %s", ErrTooBig, need, area.Length, why)
	}
	switch {
	case !area.WholeFile:
		return refuse("the area lies inside a boot file of this architecture, so it cannot be moved")
	case archive > MaxArchive:
		return refuse(fmt.Sprintf("even a moved area takes at most %d bytes", int64(MaxArchive)))
	}
	target, err := e.move(area.File, align(need, areaUnit))
	if err != nil {
		return refuse(err.Error())
	}
	// What the old area holds, perhaps another host's secrets, must not stay behind.
	e.Zero(area.Offset, area.Length)
	return target, nil
}
