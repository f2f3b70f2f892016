// Package overlay composes a bootable image out of a medium without
// copying it: an [Image] is a sorted list of segments, each of them an extent of
// a source, bytes in memory, or a run of zeros.
//
// An image is immutable, safe for any number of readers, and costs a few KiB;
// the same inputs give the same bytes and the same identity. [Customize] builds
// a host's live image; [Builder] is the general tool.
package overlay

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"sort"
)

// Source is something that segments are taken from, usually a medium.
type Source interface {
	io.ReaderAt
	// Size is the source's length in bytes.
	Size() int64
	// ID identifies the content: equal ids mean equal bytes. Usually a SHA-256.
	ID() string
}

// Segment is a run of an image's bytes of one kind: an extent of Source, Data
// in memory, or zeros when both are nil.
type Segment struct {
	// Offset is the segment's place in the image, Length its size, in bytes.
	Offset, Length int64
	// Source and SourceOffset name the extent that the bytes come from.
	Source       Source
	SourceOffset int64
	// Data holds Length bytes. It must not be changed.
	Data []byte
}

// Image is an immutable sequence of segments without gaps.
type Image struct {
	segments []Segment
	size     int64
	id       string
}

// Size returns the image's length in bytes.
func (m *Image) Size() int64 { return m.size }

// ID returns the hexadecimal SHA-256 over the image's composition: the sources'
// ids and extents, and the bytes in memory. It is a strong validator.
func (m *Image) ID() string { return m.id }

// Memory returns how many bytes the image itself holds in memory.
func (m *Image) Memory() int64 {
	var n int64
	for _, s := range m.segments {
		n += int64(len(s.Data))
	}
	return n
}

// Range yields the segments of the length bytes at off, cut to that range.
func (m *Image) Range(off, length int64) iter.Seq[Segment] {
	return func(yield func(Segment) bool) {
		end := min(off+length, m.size)
		for i := m.at(off); i < len(m.segments) && m.segments[i].Offset < end; i++ {
			if !yield(m.segments[i].cut(off, end)) {
				return
			}
		}
	}
}

// at returns the index of the segment that holds the byte at off.
func (m *Image) at(off int64) int {
	return sort.Search(len(m.segments), func(i int) bool {
		return m.segments[i].Offset+m.segments[i].Length > off
	})
}

// cut returns the part of the segment within [from, to).
func (s Segment) cut(from, to int64) Segment {
	if skip := from - s.Offset; skip > 0 {
		s.Offset += skip
		s.Length -= skip
		s.SourceOffset += skip
		if s.Data != nil {
			s.Data = s.Data[skip:]
		}
	}
	if over := s.Offset + s.Length - to; over > 0 {
		s.Length -= over
		if s.Data != nil {
			s.Data = s.Data[:s.Length]
		}
	}
	if s.Source == nil {
		s.SourceOffset = 0
	}
	return s
}

// ReadAt implements io.ReaderAt.
func (m *Image) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, errors.New("overlay: negative offset")
	}
	done := 0
	for s := range m.Range(off, int64(len(p))) {
		n, err := s.read(p[done : done+int(s.Length)])
		done += n
		if err != nil {
			return done, fmt.Errorf("image at byte %d: %w", s.Offset+int64(n), err)
		}
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// read fills p, which is as long as the segment.
func (s Segment) read(p []byte) (int, error) {
	switch {
	case s.Source != nil:
		n, err := s.Source.ReadAt(p, s.SourceOffset)
		if n == len(p) {
			return n, nil
		}
		if err == nil || errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return n, err
	case s.Data != nil:
		return copy(p, s.Data), nil
	default:
		clear(p)
		return len(p), nil
	}
}

// Reader returns a reader of the whole image from its start.
func (m *Image) Reader() *io.SectionReader { return io.NewSectionReader(m, 0, m.size) }

// newImage joins what can be joined, sets the offsets and computes the identity.
func newImage(segments []Segment) *Image {
	m := &Image{segments: make([]Segment, 0, len(segments))}
	for _, s := range segments {
		if s.Length == 0 {
			continue
		}
		s.Offset = m.size
		m.size += s.Length
		if last := len(m.segments) - 1; last >= 0 && m.segments[last].continues(s) {
			m.segments[last].Length += s.Length
			continue
		}
		m.segments = append(m.segments, s)
	}
	m.id = identity(m.segments)
	return m
}

// continues tells whether next follows s in the same source, or both are zeros.
func (s Segment) continues(next Segment) bool {
	if s.Data != nil || next.Data != nil {
		return false
	}
	return s.Source == next.Source && (s.Source == nil || s.SourceOffset+s.Length == next.SourceOffset)
}

func identity(segments []Segment) string {
	h := sha256.New()
	var numbers [24]byte
	for _, s := range segments {
		binary.LittleEndian.PutUint64(numbers[0:], uint64(s.Offset))
		binary.LittleEndian.PutUint64(numbers[8:], uint64(s.Length))
		binary.LittleEndian.PutUint64(numbers[16:], uint64(s.SourceOffset))
		h.Write(numbers[:])
		switch {
		case s.Source != nil:
			fmt.Fprintf(h, "source %s\n", s.Source.ID())
		case s.Data != nil:
			fmt.Fprint(h, "data ")
			h.Write(s.Data)
		default:
			fmt.Fprint(h, "zero ")
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
