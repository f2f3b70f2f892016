package iso

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"strings"
)

// Marker is the comment that follows an area for kernel arguments in the boot
// loader's configuration.
const Marker = "# COREOS_KARG_EMBED_AREA"

// Kargs describes how kernel arguments are edited on a medium. An edit must
// write every area, with the same arguments.
type Kargs struct {
	// Default holds the arguments of the pristine medium; what a reset restores.
	Default string
	// Areas are all places that hold the arguments.
	Areas []KargsArea
	// Source tells where the knowledge comes from: "kargs.json", "header" or "marker".
	Source string
}

// KargsArea is one place that holds the arguments: the arguments, Terminator, and Pad
// up to the area's end.
type KargsArea struct {
	Area
	// Path names the file that holds the area, for people.
	Path string
	// Pad is the byte that fills the area behind Terminator.
	Pad byte
	// Terminator ends the arguments, usually a newline.
	Terminator string
	// Comment tells that the byte behind the area starts a comment, so that the
	// area may be used to its last byte.
	Comment bool
}

// Capacity is the longest string of arguments that fits.
func (a KargsArea) Capacity() int {
	n := int(a.Length) - len(a.Terminator)
	if !a.Comment && a.Pad == '#' {
		n-- // keep one '#', or the end of the line would meet foreign text
	}
	return max(n, 0)
}

// Read returns the arguments that the area holds in r now.
func (a KargsArea) Read(r io.ReaderAt) (string, error) {
	raw := make([]byte, a.Length)
	if err := readFull(r, raw, a.Offset); err != nil {
		return "", fmt.Errorf("read the kernel arguments in %s: %w", a.Path, err)
	}
	raw = bytes.TrimRight(raw, string(a.Pad))
	return strings.TrimSpace(strings.TrimSuffix(string(raw), a.Terminator)), nil
}

// Read returns the current arguments; areas that disagree are an error.
func (k *Kargs) Read(r io.ReaderAt) (string, error) {
	var first string
	for i, area := range k.Areas {
		args, err := area.Read(r)
		if err != nil {
			return "", err
		}
		if i == 0 {
			first = args
		} else if args != first {
			return "", fmt.Errorf("kernel arguments differ: %s has %q, %s has %q", k.Areas[0].Path, first, area.Path, args)
		}
	}
	return first, nil
}

// findKargs looks in kargs.json, then in the header, then for the marker. A
// medium without any of them gives nil.
func findKargs(r io.ReaderAt, l *Layout) (*Kargs, error) {
	for _, find := range []func(io.ReaderAt, *Layout) (*Kargs, error){kargsFromJSON, kargsFromHeader, kargsFromMarker} {
		k, err := find(r, l)
		if err != nil {
			return nil, err
		}
		if k != nil {
			return k, k.noteComments(r, l)
		}
	}
	return nil, nil
}

// noteComments looks at the byte behind each area.
func (k *Kargs) noteComments(r io.ReaderAt, l *Layout) error {
	for i := range k.Areas {
		var next [1]byte
		if end := k.Areas[i].End(); end < l.Size {
			if err := readFull(r, next[:], end); err != nil {
				return fmt.Errorf("read behind the kernel arguments in %s: %w", k.Areas[i].Path, err)
			}
		}
		k.Areas[i].Comment = next[0] == '#'
	}
	return nil
}

func kargsFromJSON(r io.ReaderAt, l *Layout) (*Kargs, error) {
	var info struct {
		Default string `json:"default"`
		Size    uint64 `json:"size"`
		Files   []struct {
			Path   string  `json:"path"`
			Offset uint64  `json:"offset"`
			Pad    *string `json:"pad"`
			End    *string `json:"end"`
		} `json:"files"`
	}
	found, err := l.readJSON(r, "coreos/kargs.json", &info)
	if err != nil || !found {
		return nil, err
	}
	k := &Kargs{Default: strings.TrimSpace(info.Default), Source: "kargs.json"}
	for _, entry := range info.Files {
		f := l.File(entry.Path)
		if f == nil {
			return nil, fmt.Errorf("%w: kargs.json names %q, which is not on the medium", ErrNotISO, entry.Path)
		}
		if entry.Offset > uint64(f.Size) || info.Size > uint64(f.Size)-entry.Offset {
			return nil, fmt.Errorf("%w: kargs.json: %d bytes at %d do not fit into %s", ErrNotISO, info.Size, entry.Offset, f.Path)
		}
		area := KargsArea{
			Area: Area{Offset: f.Offset + int64(entry.Offset), Length: int64(info.Size)},
			Path: f.Path, Pad: '#', Terminator: "\n",
		}
		if entry.Pad != nil {
			if len(*entry.Pad) != 1 {
				return nil, fmt.Errorf("%w: kargs.json: pad of %s must be one byte", ErrNotISO, f.Path)
			}
			area.Pad = (*entry.Pad)[0]
		}
		if entry.End != nil {
			area.Terminator = *entry.End
		}
		k.Areas = append(k.Areas, area)
	}
	if len(k.Areas) == 0 {
		return nil, nil
	}
	return k, nil
}

// kargsFromHeader reads the coreKarg header: length, offset of the defaults, up
// to six offsets of areas, all little-endian 64 bit.
func kargsFromHeader(r io.ReaderAt, l *Layout) (*Kargs, error) {
	var raw [8 + 8 + 8 + 8*headerAreas]byte
	if err := readFull(r, raw[:], kargsHeader); err != nil {
		return nil, fmt.Errorf("read the system area: %w", err)
	}
	if string(raw[:8]) != kargsMagic {
		return nil, nil
	}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(raw[8+8*i:]) }
	length := number(0)
	if length > maxConfig {
		return nil, fmt.Errorf("%w: header coreKarg: an area of %d bytes", ErrNotISO, length)
	}
	area := func(offset uint64) (KargsArea, error) {
		a, err := l.checked(offset, length)
		if err != nil {
			return KargsArea{}, fmt.Errorf("header coreKarg: %w", err)
		}
		name := "system area"
		if f := l.fileAt(a.Offset); f != nil {
			name = f.Path
		}
		return KargsArea{Area: a, Path: name, Pad: '#', Terminator: "\n"}, nil
	}
	defaults, err := area(number(1))
	if err != nil {
		return nil, err
	}
	k := &Kargs{Source: "header"}
	if k.Default, err = defaults.Read(r); err != nil {
		return nil, err
	}
	for i := range headerAreas {
		if number(2+i) == 0 {
			break
		}
		a, err := area(number(2 + i))
		if err != nil {
			return nil, err
		}
		k.Areas = append(k.Areas, a)
	}
	if len(k.Areas) == 0 {
		return nil, nil
	}
	return k, nil
}

// kargsFromMarker finds areas by the marker in the boot loader's configuration.
// The present arguments count as the default, as nothing else is known.
func kargsFromMarker(r io.ReaderAt, l *Layout) (*Kargs, error) {
	k := &Kargs{Source: "marker"}
	for f := range l.Files() {
		name := strings.ToLower(path.Base(f.Path))
		if name != "grub.cfg" && name != "isolinux.cfg" || f.Size > maxConfig {
			continue
		}
		raw, err := l.readFile(r, f)
		if err != nil {
			return nil, err
		}
		if area, ok := markerArea(raw); ok {
			area.Offset += f.Offset
			k.Areas = append(k.Areas, KargsArea{Area: area, Path: f.Path, Pad: '#', Terminator: "\n"})
		}
	}
	if len(k.Areas) == 0 {
		return nil, nil
	}
	var err error
	k.Default, err = k.Read(r)
	return k, err
}

// markerArea returns the area in front of the marker: from behind the kernel
// path (GRUB) or the initrd list (isolinux) to the marker.
func markerArea(config []byte) (Area, bool) {
	end := bytes.Index(config, []byte(Marker))
	if end < 0 {
		return Area{}, false
	}
	newline := bytes.LastIndexByte(config[:end], '\n')
	if newline < 0 {
		return Area{}, false
	}
	start := bytes.LastIndexByte(config[:newline], '\n') + 1
	words := 0
	for i := start; i < newline; i++ {
		// The area starts behind the second word: "linux PATH " or "append initrd=LIST ".
		if config[i] == ' ' && i > start && config[i-1] != ' ' && config[i-1] != '\t' {
			if words++; words == 2 {
				return Area{Offset: int64(i + 1), Length: int64(end - i - 1)}, true
			}
		}
	}
	return Area{}, false
}
