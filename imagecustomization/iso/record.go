package iso

import (
	"encoding/binary"
	"errors"
	"io"
	"strings"
)

// Positions inside a directory record (ECMA-119 section 9.1).
const (
	// RecordExtent is the both-endian first sector of the content; the both-endian
	// size follows at RecordSize.
	RecordExtent = 2
	RecordSize   = 10

	recFlags   = 25
	recNameLen = 32
	recName    = 33

	flagDir  = 1 << 1
	flagMore = 1 << 7
)

var errRecord = errors.New("bad directory record")

// record is one directory record.
type record struct {
	at     int64 // where the record lies in the image
	extent int64 // first byte of the content
	size   int64 // bytes of the content
	dir    bool
	more   bool   // another record continues the same file
	name   string // as in the tree: 8.3 with version, or Joliet's
	system []byte // system use area (Rock Ridge)
}

// parseRecord decodes the record at the start of raw, which lies at byte at of
// the image, and returns its length.
func parseRecord(raw []byte, at int64, joliet bool) (record, int, error) {
	length := int(raw[0])
	if length < recName+1 || length > len(raw) {
		return record{}, 0, errRecord
	}
	raw = raw[:length]
	nameEnd := recName + int(raw[recNameLen])
	if nameEnd > length {
		return record{}, 0, errRecord
	}
	rec := record{
		at:     at,
		extent: int64(binary.LittleEndian.Uint32(raw[RecordExtent:])) * sectorSize,
		size:   int64(binary.LittleEndian.Uint32(raw[RecordSize:])),
		dir:    raw[recFlags]&flagDir != 0,
		more:   raw[recFlags]&flagMore != 0,
	}
	name := raw[recName:nameEnd]
	rec.name = string(name)
	if joliet && len(name) > 1 {
		rec.name = decodeUCS2(name)
	}
	if pad := nameEnd + 1 - int(raw[recNameLen])%2; pad < length {
		rec.system = raw[pad:]
	}
	return rec, length, nil
}

// self tells whether the record is the "." or ".." entry.
func (r record) self() bool { return r.name == "\x00" || r.name == "\x01" }

// isoName is the name without version and trailing dot.
func (r record) isoName() string {
	name, _, _ := strings.Cut(r.name, ";")
	return strings.TrimSuffix(name, ".")
}

// maxContinuations bounds a chain of Rock Ridge continuation areas.
const maxContinuations = 8

// rockRidgeName returns the name of the NM entries in the record's system use
// area, or "". Continuation areas (CE) are followed.
func (r record) rockRidgeName(src io.ReaderAt, skip int) string {
	var name strings.Builder
	area := r.system
	if skip > len(area) {
		return ""
	}
	area = area[skip:]
	for range maxContinuations {
		next := suspNames(area, &name)
		if next.Length == 0 {
			break
		}
		area = make([]byte, next.Length)
		if readFull(src, area, next.Offset) != nil {
			break
		}
	}
	return name.String()
}

// suspNames appends the NM entries of one system use area to name and returns
// where the area goes on.
func suspNames(area []byte, name *strings.Builder) (next Area) {
	for len(area) >= 4 {
		length := int(area[2])
		if length < 4 || length > len(area) {
			return next
		}
		body := area[4:length]
		switch sig := string(area[:2]); {
		case sig == "NM" && len(body) >= 1:
			// Flags other than "continue" mark "." and "..", which have no name.
			if body[0]&^1 == 0 {
				name.Write(body[1:])
			}
		case sig == "CE" && len(body) >= 24:
			length := int64(binary.LittleEndian.Uint32(body[16:]))
			if length <= sectorSize {
				next = Area{
					Offset: int64(binary.LittleEndian.Uint32(body))*sectorSize + int64(binary.LittleEndian.Uint32(body[8:])),
					Length: length,
				}
			}
		case sig == "ST":
			return next
		}
		area = area[length:]
	}
	return next
}

// suspSkip returns how many bytes of every system use area belong to somebody
// else, as the SP entry of the root's "." record says.
func suspSkip(dot record) int {
	if s := dot.system; len(s) >= 7 && string(s[:2]) == "SP" && s[4] == 0xBE && s[5] == 0xEF {
		return int(s[6])
	}
	return 0
}
