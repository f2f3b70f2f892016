package overlay

import (
	"cmp"
	"fmt"
	"slices"
)

// Builder collects patches over a source. Patches may go beyond the source's
// end; a gap between the two is filled with zeros. The zero value has no source.
type Builder struct {
	medium  Source
	patches []Segment
}

// NewBuilder returns a Builder over medium, which may be nil.
func NewBuilder(medium Source) *Builder { return &Builder{medium: medium} }

// Bytes puts data at off. The builder keeps data, which must not be changed.
func (b *Builder) Bytes(off int64, data []byte) {
	b.add(Segment{Offset: off, Length: int64(len(data)), Data: data})
}

// Zero puts a run of zeros at off.
func (b *Builder) Zero(off, length int64) {
	b.add(Segment{Offset: off, Length: length})
}

// Extent puts length bytes of src, from srcOff on, at off.
func (b *Builder) Extent(off int64, src Source, srcOff, length int64) {
	for _, s := range extent(src, srcOff, length) {
		s.Offset += off - srcOff
		b.add(s)
	}
}

// extent returns the segments of a part of src, with offsets as in src. An image
// is taken apart, so that no image reads through another one.
func extent(src Source, off, length int64) []Segment {
	if image, ok := src.(*Image); ok {
		return slices.Collect(image.Range(off, length))
	}
	return []Segment{{Offset: off, Length: length, Source: src, SourceOffset: off}}
}

func (b *Builder) add(s Segment) {
	if s.Length > 0 {
		b.patches = append(b.patches, s)
	}
}

// Build returns the image. Patches that overlap are an error.
func (b *Builder) Build() (*Image, error) {
	slices.SortFunc(b.patches, func(x, y Segment) int { return cmp.Compare(x.Offset, y.Offset) })
	var segments []Segment
	var at int64
	for _, p := range b.patches {
		if p.Offset < at {
			return nil, fmt.Errorf("overlay: the patch of %d bytes at %d overlaps the one before, which ends at %d", p.Length, p.Offset, at)
		}
		segments = append(b.fill(segments, at, p.Offset), p)
		at = p.Offset + p.Length
	}
	if b.medium != nil {
		segments = b.fill(segments, at, max(at, b.medium.Size()))
	}
	return newImage(segments), nil
}

// fill appends the bytes [from, to): the medium's, and zeros behind its end.
func (b *Builder) fill(segments []Segment, from, to int64) []Segment {
	var inMedium int64
	if b.medium != nil {
		inMedium = min(to, b.medium.Size())
	}
	if from < inMedium {
		segments = append(segments, extent(b.medium, from, inMedium-from)...)
		from = inMedium
	}
	if from < to {
		segments = append(segments, Segment{Length: to - from})
	}
	return segments
}
