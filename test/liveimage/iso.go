// Package liveimage reads live images and their Ignition, as a machine that
// boots them would.
package liveimage

import (
	"fmt"
	"io"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
)

// Ignition returns the Ignition config that is embedded in the live ISO in
// r, which is size bytes long. It reads a few dozen KiB and stops at the first
// config. An image that can take a config but has none gives [embedarea.ErrNoIgnition].
func Ignition(r io.ReaderAt, size int64) ([]byte, error) {
	area, err := openArea(r, size)
	if err != nil {
		return nil, err
	}
	for e, err := range embedarea.Members(area) {
		if err != nil {
			return nil, fmt.Errorf("embed area: %w", err)
		}
		if e.Name == embedarea.IgnitionName && e.IsRegular() {
			return e.Data, nil
		}
	}
	return nil, embedarea.ErrNoIgnition
}

// Content returns all that is embedded in the live ISO in r. An area that is
// all zero gives an empty [embedarea.Content].
func Content(r io.ReaderAt, size int64) (embedarea.Content, error) {
	area, err := openArea(r, size)
	if err != nil {
		return embedarea.Content{}, err
	}
	return embedarea.Decode(area)
}

func openArea(r io.ReaderAt, size int64) (io.Reader, error) {
	l, err := iso.Parse(r, size)
	if err != nil {
		return nil, err
	}
	if l.Ignition == nil {
		return nil, fmt.Errorf("%w: the medium has no embed area", embedarea.ErrNoIgnition)
	}
	return io.NewSectionReader(r, l.Ignition.Offset, l.Ignition.Length), nil
}
