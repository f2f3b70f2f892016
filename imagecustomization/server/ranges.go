package server

import (
	"errors"
	"strconv"
	"strings"
)

// rangeKind says what a Range header asks for.
type rangeKind int

const (
	// rangeNone: no range, or one that is to be ignored; the whole file is sent.
	rangeNone rangeKind = iota
	// rangeOne: one range within the file.
	rangeOne
	// rangeMany: several ranges.
	rangeMany
	// rangeOutside: one range that lies outside the file.
	rangeOutside
)

// parseRange reads a Range header for a file of size bytes (RFC 9110 section
// 14.2). What is not understood counts as no range, because some boot ROMs send
// nonsense and can do with the whole file.
func parseRange(header string, size int64) (kind rangeKind, off, length int64) {
	unit, spec, ok := strings.Cut(header, "=")
	if !ok || !strings.EqualFold(unit, "bytes") {
		return rangeNone, 0, size
	}
	if strings.IndexByte(spec, ',') >= 0 {
		return rangeMany, 0, 0
	}
	first, last, ok := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok {
		return rangeNone, 0, size
	}
	if first == "" {
		return suffixRange(last, size)
	}
	from, err := position(first)
	if err != nil {
		return rangeNone, 0, size
	}
	to := uint64(size) - 1
	if last != "" {
		n, err := position(last)
		if err != nil || n < from {
			return rangeNone, 0, size
		}
		to = min(to, n)
	}
	if from >= uint64(size) {
		return rangeOutside, 0, 0
	}
	return rangeOne, int64(from), int64(to-from) + 1
}

// position reads a number of a range. It has no bound (RFC 9110 section 14.1.2): one
// that is larger than any file counts as the largest.
func position(digits string) (uint64, error) {
	n, err := strconv.ParseUint(digits, 10, 63)
	if errors.Is(err, strconv.ErrRange) {
		return n, nil // the largest
	}
	return n, err
}

// suffixRange reads the "-N" form: the last N bytes.
func suffixRange(last string, size int64) (kind rangeKind, off, length int64) {
	n, err := position(last)
	switch {
	case err != nil:
		return rangeNone, 0, size
	case n == 0 || size == 0:
		return rangeOutside, 0, 0
	}
	length = min(int64(n), size)
	return rangeOne, size - length, length
}
