// Package iso reads the layout of a CoreOS-style live ISO: where its files lie,
// where the area for an Ignition config is, and where kernel arguments can be
// edited.
//
// A medium is walked once; the result, a [Layout], is immutable and holds
// offsets only, so that many images can be composed over one medium at no cost.
// Media of every era are understood: igninfo.json and kargs.json of current
// media, the headers in the system area of older ones, and the marker text in
// the boot loader's configuration. Nothing is hard-coded per architecture.
//
// Input is not trusted: every length is checked, every loop is bounded, and all
// arithmetic is done in 64 bits (media above 4 GiB exist).
package iso

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strings"
)

// Errors that callers decide on.
var (
	// ErrNotISO means that the bytes are not an ISO 9660 image that can be read.
	ErrNotISO = errors.New("not a usable ISO 9660 image")
	// ErrIncomplete means that the image is cut, most likely a broken download.
	ErrIncomplete = errors.New("the ISO image is incomplete")
)

// maxConfig bounds the small text files that are read as a whole.
const maxConfig = 1 << 20

// Area is a range of bytes of an image.
type Area struct {
	// Offset is the first byte, from the start of the image.
	Offset int64
	// Length is the number of bytes.
	Length int64
}

// End is the first byte behind the area.
func (a Area) End() int64 { return a.Offset + a.Length }

// Layout is what is known about one medium. It is immutable and does not hold
// the reader that it was parsed from.
type Layout struct {
	// Size is the length of the file in bytes; hybrid media are longer than
	// their volume.
	Size int64
	// VolumeID is the label of the primary volume, e.g. "fedora-coreos-38.20230718.3.0".
	VolumeID string
	// Primary heads the tree of plain ISO names.
	Primary *Descriptor
	// Joliet heads the second tree, nil without one.
	Joliet *Descriptor
	// Ignition is the embed area, nil for media without one.
	Ignition *IgnitionArea
	// Kargs describes the kernel arguments, nil for media that do not support edits.
	Kargs *Kargs
	// HasKargsHeader tells that the system area, too, says where kernel arguments lie,
	// as on media of 2021.
	HasKargsHeader bool
	// Features are the booleans of features.json, flattened with "/" between levels.
	Features map[string]bool
	// Miniso is coreos/miniso.dat, nil for media that cannot be made minimal.
	Miniso *File

	primaryTree, jolietTree *node
}

// Feature names that decide how an image is built.
const (
	// FeatureInitrdNetwork means that the initrd hands NetworkManager keyfiles
	// from etc/coreos-firstboot-network to NetworkManager.
	FeatureInitrdNetwork = "live-initrd-network"
	// FeatureInstallerConfig means that the live system installs when configs of the
	// installer are in etc/coreos/installer.d.
	FeatureInstallerConfig = "installer-config"
	// FeatureDirectives leads the names of the directives that these may have, on
	// media that list them.
	FeatureDirectives = "installer-config-directives"
)

// Parse reads the layout of the medium in r, which is size bytes long. Errors
// wrap [ErrNotISO] or [ErrIncomplete] when the medium is to blame.
func Parse(r io.ReaderAt, size int64) (*Layout, error) {
	primary, joliet, err := readDescriptors(r)
	if err != nil {
		return nil, err
	}
	if volume := int64(primary.Blocks) * sectorSize; volume > size {
		return nil, fmt.Errorf("%w: the volume has %d bytes, the file only %d", ErrIncomplete, volume, size)
	}
	l := &Layout{Size: size, VolumeID: primary.volumeID, Primary: primary, Joliet: joliet}
	if l.primaryTree, err = readTree(r, size, primary); err != nil {
		return nil, err
	}
	if joliet != nil {
		if l.jolietTree, err = readTree(r, size, joliet); err != nil {
			return nil, fmt.Errorf("tree of Joliet names: %w", err)
		}
		l.joinTrees()
	}
	for f := range l.Files() {
		if f.Offset+f.Size > size {
			return nil, fmt.Errorf("%w: %s (%d bytes at %d) goes beyond the file's %d bytes", ErrIncomplete, f.Path, f.Size, f.Offset, size)
		}
	}
	return l, l.readAreas(r)
}

// readAreas fills in what the medium says about itself.
func (l *Layout) readAreas(r io.ReaderAt) (err error) {
	if l.Features, err = readFeatures(r, l); err != nil {
		return err
	}
	if l.Ignition, err = findIgnition(r, l); err != nil {
		return err
	}
	if l.Kargs, err = findKargs(r, l); err != nil {
		return err
	}
	if l.HasKargsHeader, err = hasKargsHeader(r); err != nil {
		return err
	}
	if f := l.File("coreos/miniso.dat"); f != nil && f.Size > 0 {
		l.Miniso = f
	}
	return nil
}

// joinTrees notes each file's Joliet record and takes over Joliet's name where
// the primary tree has no Rock Ridge name.
func (l *Layout) joinTrees() {
	byPlace := map[Area][]*File{}
	for f := range l.primaryTree.files() {
		byPlace[f.Area()] = append(byPlace[f.Area()], f)
	}
	for j := range l.jolietTree.files() {
		for _, f := range byPlace[j.Area()] {
			// Empty files share their place with others, so the name decides too.
			if f.JolietRecord == 0 && sameName(path.Base(f.Path), path.Base(j.Path)) {
				f.JolietRecord = j.Record
				break
			}
		}
	}
}

func sameName(primary, joliet string) bool {
	return strings.EqualFold(primary, joliet) || primary == shortName(joliet)
}

// File finds a file by its path. Rock Ridge names, plain ISO names and names
// that the medium cut to 8.3 are all accepted; nil when there is none.
func (l *Layout) File(name string) *File {
	if f := l.primaryTree.find(name); f != nil {
		return f
	}
	if l.jolietTree == nil {
		return nil
	}
	if j := l.jolietTree.find(name); j != nil {
		for f := range l.primaryTree.files() {
			if f.JolietRecord == j.Record {
				return f
			}
		}
	}
	return nil
}

// Files yields all files of the primary tree.
func (l *Layout) Files() iter.Seq[*File] { return l.primaryTree.files() }

// fileAt returns the file that holds the byte at off, or nil.
func (l *Layout) fileAt(off int64) *File {
	for f := range l.Files() {
		if off >= f.Offset && off < f.Offset+f.Size {
			return f
		}
	}
	return nil
}

// ReadFile returns the content of a small text file of the medium.
func (l *Layout) readFile(r io.ReaderAt, f *File) ([]byte, error) {
	if f.Size > maxConfig {
		return nil, fmt.Errorf("%w: %s has %d bytes, at most %d are read", ErrNotISO, f.Path, f.Size, maxConfig)
	}
	raw := make([]byte, f.Size)
	if err := readFull(r, raw, f.Offset); err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Path, err)
	}
	return raw, nil
}

// readJSON decodes the JSON file at name; found is false when there is none.
func (l *Layout) readJSON(r io.ReaderAt, name string, v any) (found bool, err error) {
	f := l.File(name)
	if f == nil {
		return false, nil
	}
	raw, err := l.readFile(r, f)
	if err != nil {
		return true, err
	}
	if err := json.Unmarshal(trimPadding(raw), v); err != nil {
		return true, fmt.Errorf("%w: %s: %w", ErrNotISO, f.Path, err)
	}
	return true, nil
}

// readFeatures reads features.json; media without it have no features.
func readFeatures(r io.ReaderAt, l *Layout) (map[string]bool, error) {
	f := l.File("coreos/features.json")
	if f == nil {
		return map[string]bool{}, nil
	}
	raw, err := l.readFile(r, f)
	if err != nil {
		return nil, err
	}
	features, err := ParseFeatures(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrNotISO, f.Path, err)
	}
	return features, nil
}

// ParseFeatures flattens the features.json of a medium, or of an initrd.
func ParseFeatures(text []byte) (map[string]bool, error) {
	var raw map[string]any
	if err := json.Unmarshal(trimPadding(text), &raw); err != nil {
		return nil, err
	}
	features := map[string]bool{}
	for key, value := range raw {
		switch v := value.(type) {
		case bool:
			features[key] = v
		case map[string]any:
			features[key] = true
			for sub, value := range v {
				on, _ := value.(bool)
				features[key+"/"+sub] = on
			}
		}
	}
	return features, nil
}

// trimPadding takes off what a rewritten file is padded with to its old length.
func trimPadding(raw []byte) []byte { return bytes.TrimRight(raw, "\x00 \n") }
