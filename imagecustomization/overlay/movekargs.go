package overlay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

const (
	// MaxKargs is the longest string of kernel arguments that is written into a moved
	// area, in bytes: kernels take 2,047, and boot loaders add their own
	// (BOOT_IMAGE=, initrd=).
	MaxKargs = 1920
	// movedKargsArea is the length of a moved area, the longest that
	// coreos-installer accepts.
	movedKargsArea = 2048
	kargsFile      = "coreos/kargs.json"
)

// ErrKargsTooLong means that kernel arguments fit neither their area nor a moved one.
var ErrKargsTooLong = errors.New("the kernel arguments are too long for this medium")

// setKargs writes args into every area of the medium. Where they do not fit, the
// boot loaders' configurations are moved behind the end with longer areas.
func (e *editor) setKargs(args string) error {
	k := e.media.Layout.Kargs
	if err := e.checkForGRUB(k, args); err != nil {
		return err
	}
	if !slices.ContainsFunc(k.Areas, func(a iso.KargsArea) bool { return len(args) > a.Capacity() }) {
		return kargsPatch(e.Builder, k, args)
	}
	files, err := e.movableKargs(args)
	if err != nil {
		return err
	}
	// What the old areas hold is no longer in force, so nobody shall find it there.
	if err := kargsPatch(e.Builder, k, k.Default); err != nil {
		return err
	}
	for i, f := range files {
		config, err := e.withLongerArea(f, k.Areas[i], args)
		if err != nil {
			return err
		}
		if err := e.rewrite(f, config); err != nil {
			return err
		}
	}
	return e.rewriteKargsFile()
}

// movableKargs returns the files that hold the areas, if they can be moved. Only
// text can be: what a boot loader finds by its sector has to stay.
func (e *editor) movableKargs(args string) ([]*iso.File, error) {
	k := e.media.Layout.Kargs
	refuse := func(why string) error {
		a := k.Areas[0]
		return fmt.Errorf("%w: they have %d bytes, %s takes at most %d, and %s", ErrKargsTooLong, len(args), a.Path, a.Capacity(), why)
	}
	switch {
	case len(args) > MaxKargs:
		return nil, refuse(fmt.Sprintf("kernels take no more than %d beside what boot loaders add", MaxKargs))
	case k.Source != "kargs.json" || e.media.Layout.HasKargsHeader:
		return nil, refuse("a medium of before 2022 names the places of the areas in its system area, so they cannot be moved")
	case e.media.Layout.File(kargsFile).Extents != 1:
		return nil, refuse(kargsFile + " cannot be rewritten")
	}
	var files []*iso.File
	for _, a := range k.Areas {
		f := e.media.Layout.File(a.Path)
		if !e.isText(f, a) {
			return nil, refuse(a.Path + " is no configuration file that could be moved")
		}
		if slices.Contains(files, f) {
			return nil, refuse(a.Path + " has several areas")
		}
		files = append(files, f)
	}
	return files, nil
}

// isText tells whether an area lies in a boot loader's configuration, with the
// comment behind it.
func (e *editor) isText(f *iso.File, a iso.KargsArea) bool {
	marker := make([]byte, len(iso.Marker))
	if f.Extents != 1 || f.Size > maxRewritten || a.End()+int64(len(marker)) > f.Offset+f.Size {
		return false
	}
	_, err := e.media.ReadAt(marker, a.End())
	return err == nil && string(marker) == iso.Marker
}

// maxRewritten bounds the files that are rewritten in memory, once for each image.
const maxRewritten = 64 << 10

// withLongerArea returns a configuration with a longer area in the same place.
func (e *editor) withLongerArea(f *iso.File, a iso.KargsArea, args string) ([]byte, error) {
	raw := make([]byte, f.Size)
	if _, err := e.media.ReadAt(raw, f.Offset); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Path, err)
	}
	from := a.Offset - f.Offset
	text := args + a.Terminator
	pad := bytes.Repeat([]byte{a.Pad}, movedKargsArea-len(text))
	return slices.Concat(raw[:from], []byte(text), pad, raw[from+a.Length:]), nil
}

// rewrite moves a file with its new content.
func (e *editor) rewrite(f *iso.File, content []byte) error {
	target, err := e.move(f, int64(len(content)))
	if err != nil {
		return fmt.Errorf("%w: %s cannot be moved, %w", ErrKargsTooLong, f.Path, err)
	}
	e.Bytes(target.Offset, content)
	return nil
}

// rewriteKargsFile tells other tools of the longer areas.
func (e *editor) rewriteKargsFile() error {
	f := e.media.Layout.File(kargsFile)
	content, err := kargsFileWith(e.media, f, "size", movedKargsArea)
	if err != nil {
		return err
	}
	return e.rewrite(f, content)
}

// kargsFileWith returns kargs.json with another value of one of its fields.
func kargsFileWith(media Media, f *iso.File, field string, value any) ([]byte, error) {
	raw := make([]byte, f.Size)
	if _, err := media.ReadAt(raw, f.Offset); err != nil {
		return nil, fmt.Errorf("read %s: %w", kargsFile, err)
	}
	var info map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimRight(raw, "\x00 \n"), &info); err != nil {
		return nil, fmt.Errorf("%s: %w", kargsFile, err)
	}
	text, err := encodeJSON(value)
	if err != nil {
		return nil, err
	}
	info[field] = []byte(strings.TrimSpace(text))
	text, err = encodeJSON(info)
	return []byte(text), err
}

// encodeJSON leaves < and & as they are, for people who look.
func encodeJSON(v any) (string, error) {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return out.String(), err
}
