package embedarea

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
)

// Bounds against archives that unpack to far more than they weigh.
const (
	maxMember   = 64 << 20
	maxUnpacked = 512 << 20
	maxPacked   = 256 << 20
)

// ErrForeign is returned when the area holds bytes that are no archive.
var ErrForeign = errors.New("unknown data where an archive should be")

// codecs are the compressions by their magic number.
var codecs = []struct {
	magic string
	open  func(*bufio.Reader) (io.Reader, error)
}{
	{"\x1f\x8b", openGzip},
	{"\xfd7zXZ\x00", openXZ},
	{"\x28\xb5\x2f\xfd", openZstd},
}

// Members yields every member of every archive in an initramfs, in order, until
// the end or the first error.
func Members(initramfs io.Reader) iter.Seq2[cpio.Entry, error] {
	return func(yield func(cpio.Entry, error) bool) {
		err := members(bufio.NewReader(initramfs), true, func(e cpio.Entry) bool { return yield(e, nil) })
		if err != nil && !errors.Is(err, errStop) {
			yield(cpio.Entry{}, err)
		}
	}
}

// errStop ends the reading when the caller has seen enough.
var errStop = errors.New("stop")

// members reads archives with zeros between them; compressed ones are accepted
// at the outer level only.
func members(r *bufio.Reader, outer bool, yield func(cpio.Entry) bool) error {
	for {
		if err := skipZeros(r); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		head, err := r.Peek(6)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if bytes.HasPrefix(head, []byte("07070")) {
			if err := archive(r, yield); err != nil {
				return err
			}
			continue
		}
		stream, err := decompressor(r, head, outer)
		if err != nil {
			return err
		}
		if err := members(bufio.NewReader(io.LimitReader(stream, maxUnpacked)), false, yield); err != nil {
			return err
		}
		// What follows the archive inside the stream was read; now the stream's own end.
		if _, err := io.Copy(io.Discard, stream); err != nil {
			return err
		}
	}
}

func decompressor(r *bufio.Reader, head []byte, outer bool) (io.Reader, error) {
	for _, c := range codecs {
		if outer && bytes.HasPrefix(head, []byte(c.magic)) {
			return c.open(r)
		}
	}
	return nil, fmt.Errorf("%w: it begins with % x", ErrForeign, head)
}

func archive(r io.Reader, yield func(cpio.Entry) bool) error {
	a := cpio.NewReader(r, maxMember)
	for {
		e, err := a.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, cpio.ErrFormat) {
			return nil
		}
		if err != nil {
			return err
		}
		if !yield(e) {
			return errStop
		}
	}
}

func skipZeros(r *bufio.Reader) error {
	for {
		if _, err := r.Peek(1); err != nil {
			return err
		}
		buffered, err := r.Peek(r.Buffered())
		if err != nil {
			return err
		}
		rest := bytes.TrimLeft(buffered, "\x00")
		if _, err := r.Discard(len(buffered) - len(rest)); err != nil {
			return err
		}
		if len(rest) > 0 {
			return nil
		}
	}
}

// openGzip reads one gzip member and not a byte more.
func openGzip(r *bufio.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return z, nil
}

// openXZ cuts one stream out of r, because the decoder does not accept foreign
// bytes behind it.
func openXZ(r *bufio.Reader) (io.Reader, error) {
	return cutStream(r, xzLength, func(raw []byte) (io.Reader, error) {
		return xz.ReaderConfig{SingleStream: true}.NewReader(bytes.NewReader(raw))
	})
}

// openZstd does the same for one zstd frame.
func openZstd(r *bufio.Reader) (io.Reader, error) {
	return cutStream(r, zstdLength, func(raw []byte) (io.Reader, error) {
		z, err := zstd.NewReader(bytes.NewReader(raw), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpacked))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	})
}

// cutStream reads all of r, lets length find the end of the stream that it
// starts with, and puts the rest back.
func cutStream(r *bufio.Reader, length func([]byte) int, open func([]byte) (io.Reader, error)) (io.Reader, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxPacked))
	if err != nil {
		return nil, err
	}
	n := length(raw)
	if n == 0 {
		return nil, fmt.Errorf("%w: a compressed archive is cut", ErrForeign)
	}
	r.Reset(bytes.NewReader(raw[n:]))
	return open(raw[:n])
}

// xzLength returns the length of the xz stream at the start of raw, or 0: the
// first footer whose checksum holds and which points back to an index.
func xzLength(raw []byte) int {
	const footer = 12
	for end := 2 * footer; end <= len(raw); end += 4 {
		f := raw[end-footer : end]
		if f[10] != 'Y' || f[11] != 'Z' || crc32.ChecksumIEEE(f[4:10]) != binary.LittleEndian.Uint32(f) {
			continue
		}
		index := (int(binary.LittleEndian.Uint32(f[4:])) + 1) * 4
		if at := end - footer - index; at >= footer && raw[at] == 0 {
			return end
		}
	}
	return 0
}

// zstdLength returns the length of the zstd frame at the start of raw, or 0
// (RFC 8878 section 3.1).
func zstdLength(raw []byte) int {
	if len(raw) < 5 {
		return 0
	}
	descriptor := raw[4]
	single, checksum := descriptor>>5&1, int(descriptor>>2&1)
	at := 5 + [4]int{0, 1, 2, 4}[descriptor&3] + [4]int{int(single), 2, 4, 8}[descriptor>>6] + 1 - int(single)
	for at+3 <= len(raw) {
		header := uint32(raw[at]) | uint32(raw[at+1])<<8 | uint32(raw[at+2])<<16
		size := int(header >> 3)
		if header>>1&3 == 1 { // run of one byte
			size = 1
		}
		at += 3 + size
		if header&1 == 1 {
			if at += 4 * checksum; at > len(raw) {
				return 0
			}
			return at
		}
	}
	return 0
}
