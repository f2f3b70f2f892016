// Package nvram reads and writes UEFI variables in the file that is a virtual
// machine's NVRAM, as a BMC sets what its machine boots next. The layout is that
// of EDK2's authenticated variable store (MdeModulePkg's VariableFormat.h) in a
// firmware volume (UEFI PI specification, volume 3). The main type is [Store].
package nvram

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"
)

// Sizes and offsets in bytes; all numbers are little-endian.
const (
	// The volume's header has its own length, and the signature "_FVH".
	volumeSignature, volumeHeaderLength, volumeHeaderMin = 40, 48, 72
	// The store's header follows: id, size of the store with the header, format, state.
	storeHeader, storeSize, storeFormat, storeState = 28, 16, 20, 21
	// A variable's header: start, state, attributes, counter, time, key, sizes, vendor.
	variableHeader, variableState, variableAttributes, variableNameSize, variableDataSize, variableVendor = 60, 2, 4, 36, 40, 44
)

const (
	formatted, healthy = 0x5a, 0xfe
	// start begins each variable.
	start = 0x55aa
	// added is the state of a variable that counts; deleted clears a bit of it.
	added, deleted = 0x3f, 0xfd
)

// storeID is the GUID of a store of authenticated variables.
var storeID = GUID{0x78, 0x2c, 0xf3, 0xaa, 0x7b, 0x94, 0x9a, 0x43, 0xa1, 0x80, 0x2e, 0x14, 0x4e, 0xc3, 0x77, 0x92}

// GUID is a vendor's id as it is stored.
type GUID [16]byte

// Global is the vendor of the variables that the UEFI specification names
// (EFI_GLOBAL_VARIABLE).
var Global = GUID{0x61, 0xdf, 0xe4, 0x8b, 0xca, 0x93, 0xd2, 0x11, 0xaa, 0x0d, 0x00, 0xe0, 0x98, 0x03, 0x2b, 0x8c}

// Attributes of a variable that stays, and that the firmware and the system see.
const Attributes = 7

// ErrFull says that the store has no room for a variable.
var ErrFull = errors.New("the NVRAM is full")

// Store is the content of an NVRAM.
type Store struct {
	raw []byte
	// begin and end are where the variables are.
	begin, end int
}

// Open reads an NVRAM. The store writes into raw.
func Open(raw []byte) (*Store, error) {
	if len(raw) < volumeHeaderMin || string(raw[volumeSignature:volumeSignature+4]) != "_FVH" {
		return nil, errors.New("not a firmware volume")
	}
	at := int(binary.LittleEndian.Uint16(raw[volumeHeaderLength:]))
	if len(raw) < at+storeHeader || !bytes.Equal(raw[at:at+len(storeID)], storeID[:]) || raw[at+storeFormat] != formatted || raw[at+storeState] != healthy {
		return nil, errors.New("not a store of authenticated variables")
	}
	size := int64(binary.LittleEndian.Uint32(raw[at+storeSize:]))
	if size < storeHeader || size > int64(len(raw)-at) {
		return nil, fmt.Errorf("a store of variables of %d bytes does not fit", size)
	}
	return &Store{raw: raw, begin: at + storeHeader, end: at + int(size)}, nil
}

// variable is one variable's place.
type variable struct{ at, name, data, next int }

// next reads the variable at the offset; ok is false behind the last one.
func (s *Store) next(at int) (v variable, ok bool) {
	if at+variableHeader > s.end || binary.LittleEndian.Uint16(s.raw[at:]) != start {
		return v, false
	}
	name := int64(binary.LittleEndian.Uint32(s.raw[at+variableNameSize:]))
	data := int64(binary.LittleEndian.Uint32(s.raw[at+variableDataSize:]))
	first := int64(at + variableHeader)
	if first+name+data > int64(s.end) {
		return v, false
	}
	v = variable{at: at, name: int(first), data: int(first + name)}
	v.next = align(v.data + int(data))
	return v, true
}

// align rounds up to where a variable may begin.
func align(at int) int { return (at + 3) &^ 3 }

// find returns the variable that counts.
func (s *Store) find(name string, vendor GUID) (v variable, end int, ok bool) {
	wanted := encode(name)
	var found variable
	at := s.begin
	for {
		v, more := s.next(at)
		if !more {
			return found, at, ok
		}
		if s.raw[v.at+variableState] == added && bytes.Equal(s.raw[v.at+variableVendor:v.at+variableHeader], vendor[:]) &&
			bytes.Equal(s.raw[v.name:v.data], wanted) {
			found, ok = v, true
		}
		at = v.next
	}
}

// Get returns a variable's data.
func (s *Store) Get(name string, vendor GUID) ([]byte, bool) {
	v, _, ok := s.find(name, vendor)
	if !ok {
		return nil, false
	}
	size := int(binary.LittleEndian.Uint32(s.raw[v.at+variableDataSize:]))
	return bytes.Clone(s.raw[v.data : v.data+size]), true
}

// Set writes a variable, or [ErrFull]: the room of deleted ones comes back when
// the firmware tidies up.
func (s *Store) Set(name string, vendor GUID, data []byte) error {
	if have, ok := s.Get(name, vendor); ok && bytes.Equal(have, data) {
		return nil
	}
	old, at, had := s.find(name, vendor)
	text := encode(name)
	size := variableHeader + len(text) + len(data)
	if at+size > s.end {
		return fmt.Errorf("variable %s: %w", name, ErrFull)
	}
	header := make([]byte, variableHeader)
	binary.LittleEndian.PutUint16(header, start)
	header[variableState] = added
	binary.LittleEndian.PutUint32(header[variableAttributes:], Attributes)
	binary.LittleEndian.PutUint32(header[variableNameSize:], uint32(len(text)))
	binary.LittleEndian.PutUint32(header[variableDataSize:], uint32(len(data)))
	copy(header[variableVendor:], vendor[:])
	copy(s.raw[at:], header)
	copy(s.raw[at+variableHeader:], text)
	copy(s.raw[at+variableHeader+len(text):], data)
	if had {
		s.raw[old.at+variableState] &= deleted
	}
	return nil
}

// Delete removes a variable, if it is there.
func (s *Store) Delete(name string, vendor GUID) {
	if v, _, ok := s.find(name, vendor); ok {
		s.raw[v.at+variableState] &= deleted
	}
}

// encode is text in UTF-16 with a zero at its end, as UEFI has it.
func encode(text string) []byte {
	var out []byte
	for _, unit := range append(utf16.Encode([]rune(text)), 0) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}
