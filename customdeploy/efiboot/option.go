package efiboot

import (
	"encoding/binary"
	"errors"
	"slices"
	"unicode/utf16"

	"github.com/google/uuid"
)

// Attributes of a load option (UEFI 2.10, 3.1.3). Firmware starts by itself only what
// is active and of the category "boot", which is zero.
const (
	optionActive   = 0x0001
	optionCategory = 0x1f00
)

// optionHead is the size of attributes and length of the device path, which the
// description follows.
const optionHead = 6

var (
	errShort = errors.New("the load option is cut short")
	errNoEnd = errors.New("the description of the load option has no end")
)

// option is what counts of a load option, the content of a variable Boot####.
type option struct {
	attributes uint32
	label      string
	// partition is the GUID of the GPT partition that the entry starts from, or zero.
	partition uuid.UUID
	// loader is the file on it, with backslashes, or empty.
	loader string
}

// startedByItself tells whether firmware starts the entry without being asked.
func (o option) startedByItself() bool {
	return o.attributes&optionActive != 0 && o.attributes&optionCategory == 0
}

// parseOption reads a load option. Firmware and other systems write what they like
// into it; what cannot be read is an error, and what is odd is left out.
func parseOption(raw []byte) (option, error) {
	if len(raw) < optionHead {
		return option{}, errShort
	}
	o := option{attributes: binary.LittleEndian.Uint32(raw)}
	size := int(binary.LittleEndian.Uint16(raw[4:]))
	label, rest, ok := cutText(raw[optionHead:])
	switch {
	case !ok:
		return option{}, errNoEnd
	case len(rest) < size:
		return option{}, errShort
	}
	o.label = label
	o.partition, o.loader = parsePath(rest[:size])
	return o, nil
}

// activated is the load option as firmware starts it by itself.
func activated(raw []byte) []byte {
	raw = slices.Clone(raw)
	attributes := binary.LittleEndian.Uint32(raw)
	binary.LittleEndian.PutUint32(raw, attributes&^optionCategory|optionActive)
	return raw
}

// newOption is a load option that starts the file of the partition.
func newOption(label string, drive hardDrive, loader string) []byte {
	path := slices.Concat(drive.node(), fileNode(loader), endNode)
	raw := binary.LittleEndian.AppendUint32(nil, optionActive)
	raw = binary.LittleEndian.AppendUint16(raw, uint16(len(path)))
	return slices.Concat(raw, text(label), path)
}

// text is UTF-16 with a zero at its end.
func text(s string) []byte {
	var raw []byte
	for _, unit := range utf16.Encode([]rune(s)) {
		raw = binary.LittleEndian.AppendUint16(raw, unit)
	}
	return append(raw, 0, 0)
}

// cutText cuts UTF-16 at its zero. What is no UTF-16 becomes a replacement character.
func cutText(raw []byte) (s string, rest []byte, found bool) {
	var units []uint16
	for ; len(raw) >= 2; raw = raw[2:] {
		unit := binary.LittleEndian.Uint16(raw)
		if unit == 0 {
			return string(utf16.Decode(units)), raw[2:], true
		}
		units = append(units, unit)
	}
	return string(utf16.Decode(units)), nil, false
}
