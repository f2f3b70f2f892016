package overlay

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/miniso"
)

// ErrNoMinimal means that the medium cannot be made minimal.
var ErrNoMinimal = errors.New("this medium has no recipe for a minimal ISO (coreos/miniso.dat)")

const (
	liveISOArgument   = "coreos.liveiso="
	rootfsURLArgument = "coreos.live.rootfs_url="
)

// Minimal composes the medium's minimal ISO: all but the root file system. Where
// the medium has a recipe it must be untouched; the result is checked against the
// recipe's digest, which reads it once, so keep the result. A medium without a
// recipe is cut. The result can be customized like any other with [Customize].
func Minimal(media Media) (Media, error) {
	if media.Layout.Miniso == nil {
		return cut(media)
	}
	dat := make([]byte, min(media.Layout.Miniso.Size, miniso.MaxFile))
	if _, err := media.ReadAt(dat, media.Layout.Miniso.Offset); err != nil {
		return Media{}, fmt.Errorf("read coreos/miniso.dat: %w", err)
	}
	recipe, err := miniso.Parse(dat, media.Size())
	if err != nil {
		return Media{}, err
	}
	b := NewBuilder(nil)
	var at int64
	for _, p := range recipe.Pieces {
		if p.Gap != nil {
			b.Bytes(at, p.Gap)
		} else {
			b.Extent(at, media.Source, p.Offset, p.Length)
		}
		at += p.Length
	}
	image, err := b.Build()
	if err != nil {
		return Media{}, err
	}
	h := sha256.New()
	if _, err := io.Copy(h, image.Reader()); err != nil {
		return Media{}, err
	}
	if !bytes.Equal(h.Sum(nil), recipe.Digest[:]) {
		return Media{}, fmt.Errorf("the minimal ISO does not match the digest in coreos/miniso.dat: is the medium customized? reset it first")
	}
	layout, err := iso.Parse(image, image.Size())
	if err != nil {
		return Media{}, fmt.Errorf("minimal ISO: %w", err)
	}
	return Media{Source: image, Layout: layout}, nil
}

// PointToRootfs returns the minimal medium with the address of its root file
// system among the default kernel arguments, so that also a reset keeps it, and
// without the argument that makes a full medium look for itself. An empty
// address leaves the choice to whoever boots it.
func PointToRootfs(minimal Media, url string) (Media, error) {
	k := minimal.Layout.Kargs
	if k == nil && url == "" {
		return minimal, nil // there is nothing to take out
	}
	if k == nil {
		return Media{}, ErrNoKargs
	}
	if err := checkArgument(url); err != nil {
		return Media{}, err
	}
	var edit KargsEdit
	if url != "" {
		edit.Append = []string{rootfsURLArgument + url}
	}
	for arg := range strings.FieldsSeq(k.Default) {
		if strings.HasPrefix(arg, liveISOArgument) {
			edit.Delete = append(edit.Delete, arg)
		}
	}
	args, err := edit.Apply(k.Default)
	if err != nil {
		return Media{}, err
	}
	b := NewBuilder(minimal.Source)
	if err := kargsPatch(b, k, args); err != nil {
		return Media{}, err
	}
	if err := defaultKargsPatch(b, minimal, args); err != nil {
		return Media{}, err
	}
	image, err := b.Build()
	if err != nil {
		return Media{}, err
	}
	layout, err := iso.Parse(image, image.Size())
	if err != nil {
		return Media{}, fmt.Errorf("minimal ISO: %w", err)
	}
	return Media{Source: image, Layout: layout}, nil
}

// defaultKargsPatch rewrites the default in kargs.json. The file may grow to the
// end of its last sector; its directory records are patched then.
func defaultKargsPatch(b *Builder, media Media, args string) error {
	f := media.Layout.File(kargsFile)
	if f == nil {
		return nil
	}
	text, err := kargsFileWith(media, f, "default", args)
	if err != nil {
		return err
	}
	size := max(f.Size, int64(len(text)))
	if size > align(f.Size, sector) {
		return fmt.Errorf("the address of the root file system is too long: coreos/kargs.json would need %d bytes, it has %d", len(text), align(f.Size, sector))
	}
	text = append(text, bytes.Repeat([]byte{' '}, int(size)-len(text))...)
	b.Bytes(f.Offset, text)
	if size > f.Size {
		for _, record := range []int64{f.Record, f.JolietRecord} {
			if record != 0 {
				b.Bytes(record+iso.RecordSize, bothEndian(size))
			}
		}
	}
	return nil
}
