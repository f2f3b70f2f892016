package overlay

import (
	"bytes"
	"fmt"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// Reset gives the medium back as it was before any customization: the area
// empty, the default kernel arguments everywhere, and every file in its old place.
// The result is byte-equal to the medium that an image was built from.
func Reset(media Media) (*Image, error) {
	media, err := moveBack(media)
	if err != nil {
		return nil, err
	}
	b := NewBuilder(media.Source)
	l := media.Layout
	if l.Kargs != nil {
		if err := kargsPatch(b, l.Kargs, l.Kargs.Default); err != nil {
			return nil, err
		}
	}
	if l.Ignition != nil {
		b.Zero(l.Ignition.Offset, l.Ignition.Length)
	}
	return b.Build()
}

// moveBack returns the medium without what lies behind its old end.
func moveBack(media Media) (Media, error) {
	n, err := readNote(media)
	if n == nil || err != nil {
		return media, err
	}
	b := NewBuilder(media.Source)
	for _, f := range n.files {
		b.place(&iso.File{Record: f.Record, JolietRecord: f.JolietRecord}, int64(f.Sector), int64(f.Length))
	}
	l := media.Layout
	b.Bytes(l.Primary.BlocksOffset(), bothEndian(int64(n.Blocks)))
	if l.Joliet != nil {
		b.Bytes(l.Joliet.BlocksOffset(), bothEndian(int64(n.JolietBlocks)))
	}
	application, _, _ := l.Primary.ApplicationArea()
	b.Bytes(application.Offset, bytes.Repeat([]byte{n.Fill}, int(application.Length)))
	whole, err := b.Build()
	if err != nil {
		return Media{}, err
	}
	var kept []Segment
	for s := range whole.Range(0, n.Size) {
		kept = append(kept, s)
	}
	image := newImage(kept)
	layout, err := iso.Parse(image, image.Size())
	if err != nil {
		return Media{}, fmt.Errorf("the medium without its moved files: %w", err)
	}
	return Media{Source: image, Layout: layout}, nil
}
