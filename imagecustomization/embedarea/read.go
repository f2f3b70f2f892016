package embedarea

import (
	"errors"
	"fmt"
	"io"
	"path"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// ErrNoIgnition is returned for an image without an Ignition config.
var ErrNoIgnition = errors.New("the image holds no Ignition config")

// ReadIgnition returns the Ignition config that is embedded in the live ISO in
// r, which is size bytes long. It reads a few dozen KiB and stops at the first
// config. An image that can take a config but has none gives [ErrNoIgnition].
func ReadIgnition(r io.ReaderAt, size int64) ([]byte, error) {
	area, err := openArea(r, size)
	if err != nil {
		return nil, err
	}
	for e, err := range Members(area) {
		if err != nil {
			return nil, fmt.Errorf("embed area: %w", err)
		}
		if e.Name == IgnitionName && e.IsRegular() {
			return e.Data, nil
		}
	}
	return nil, ErrNoIgnition
}

// ReadContent returns all that is embedded in the live ISO in r. An area that is
// all zero gives an empty Content.
func ReadContent(r io.ReaderAt, size int64) (Content, error) {
	area, err := openArea(r, size)
	if err != nil {
		return Content{}, err
	}
	return Decode(area)
}

// Decode reads the content of an embed area. As in the kernel, a later member of
// the same name wins.
func Decode(area io.Reader) (Content, error) {
	c := Content{Keyfiles: map[string][]byte{}}
	for e, err := range Members(area) {
		switch {
		case err != nil:
			return Content{}, fmt.Errorf("embed area: %w", err)
		case !e.IsRegular():
		case e.Name == IgnitionName:
			c.Ignition = e.Data
		case path.Dir(e.Name) == KeyfileDir:
			c.Keyfiles[path.Base(e.Name)] = e.Data
		default:
			c.Files = append(c.Files, e)
		}
	}
	return c, nil
}

func openArea(r io.ReaderAt, size int64) (io.Reader, error) {
	l, err := iso.Parse(r, size)
	if err != nil {
		return nil, err
	}
	if l.Ignition == nil {
		return nil, fmt.Errorf("%w: the medium has no embed area", ErrNoIgnition)
	}
	return io.NewSectionReader(r, l.Ignition.Offset, l.Ignition.Length), nil
}
