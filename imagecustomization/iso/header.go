package iso

import (
	"fmt"
	"io"
)

// Media of 2020 and 2021 have headers in the system area that name places of the
// medium by absolute offsets, in little-endian numbers of 8 bytes.
const (
	kargsHeader    = 32672
	kargsMagic     = "coreKarg" // then length, offset of the defaults, offsets of up to six areas
	headerAreas    = 6
	ignitionHeader = 32744
	ignitionMagic  = "coreiso+" // then offset, length
)

// HeaderOffsets returns where the offsets in the headers of a system area lie;
// nothing for media without these headers.
func HeaderOffsets(system []byte) (places []int) {
	has := func(header int, magic string) bool {
		return len(system) >= header+len(magic) && string(system[header:header+len(magic)]) == magic
	}
	if has(ignitionHeader, ignitionMagic) {
		places = append(places, ignitionHeader+8)
	}
	if has(kargsHeader, kargsMagic) {
		for i := range 1 + headerAreas {
			places = append(places, kargsHeader+16+8*i)
		}
	}
	return places
}

func hasKargsHeader(r io.ReaderAt) (bool, error) {
	var magic [len(kargsMagic)]byte
	if err := readFull(r, magic[:], kargsHeader); err != nil {
		return false, fmt.Errorf("read the system area: %w", err)
	}
	return string(magic[:]) == kargsMagic, nil
}
