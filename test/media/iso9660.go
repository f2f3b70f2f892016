package media

import (
	"encoding/binary"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
)

const (
	sector = 2048
	// firstDescriptor is the sector of the primary volume descriptor.
	firstDescriptor = 16
	// maxName is the longest name that a directory record with a Rock Ridge name
	// takes here without a continuation area.
	maxName = 100
)

// file is one file of the medium.
type file struct {
	path string
	data []byte
	lba  uint32
}

// dir is one directory, with its place in both trees.
type dir struct {
	path    string
	dirs    []*dir
	files   []*file
	primary extent
	joliet  extent
}

type extent struct{ lba, size uint32 }

// image lays files out as an ISO 9660 level 1 medium with Rock Ridge and Joliet
// names. The order of the files decides their order on the medium.
type image struct {
	volumeID string
	catalog  string
	boot     []bootImage
	files    []*file
	root     *dir
	all      []*dir // parents before children
	blocks   uint32
}

// newImage builds the directories and gives everything its place.
func newImage(volumeID string, a architecture, files []*file) (*image, error) {
	m := &image{volumeID: volumeID, catalog: a.catalog, boot: a.boot, files: files, root: &dir{}}
	if m.catalog != "" {
		m.files = append([]*file{{path: m.catalog, data: make([]byte, sector)}}, files...)
	}
	m.all = []*dir{m.root}
	byPath := map[string]*dir{".": m.root}
	for _, f := range m.files {
		if len(path.Base(f.path)) > maxName {
			return nil, fmt.Errorf("the name of %s is too long for this writer", f.path)
		}
		m.directory(byPath, path.Dir(f.path)).files = append(m.directory(byPath, path.Dir(f.path)).files, f)
	}
	for _, d := range m.all {
		slices.SortFunc(d.files, func(a, b *file) int { return strings.Compare(shortName(a.path), shortName(b.path)) })
		slices.SortFunc(d.dirs, func(a, b *dir) int { return strings.Compare(shortName(a.path), shortName(b.path)) })
		if err := d.checkNames(); err != nil {
			return nil, err
		}
	}
	m.place()
	if m.catalog != "" {
		m.find(m.catalog).data = m.bootCatalog()
	}
	return m, nil
}

func (m *image) directory(byPath map[string]*dir, name string) *dir {
	if d := byPath[name]; d != nil {
		return d
	}
	parent := m.directory(byPath, path.Dir(name))
	d := &dir{path: name}
	byPath[name] = d
	parent.dirs = append(parent.dirs, d)
	m.all = append(m.all, d)
	return d
}

// checkNames refuses names that level 1 cannot tell apart.
func (d *dir) checkNames() error {
	seen := map[string]string{}
	for _, f := range d.files {
		short := shortName(f.path)
		if other, twice := seen[short]; twice {
			return fmt.Errorf("%s and %s have the same 8.3 name %s", other, f.path, short)
		}
		seen[short] = f.path
	}
	return nil
}

// place gives sectors to path tables, directories and files, in this order.
func (m *image) place() {
	next := m.firstFree() + 4 // one sector for each path table
	for _, joliet := range []bool{false, true} {
		for _, d := range m.all {
			size := roundUp(uint32(len(m.records(d, joliet))))
			*d.extent(joliet) = extent{next, size}
			next += size / sector
		}
	}
	for _, f := range m.files {
		f.lba = next
		next += roundUp(uint32(len(f.data))) / sector
	}
	m.blocks = next
}

// firstFree is the first sector behind the volume descriptors: primary, boot record
// where there is one, Joliet, end.
func (m *image) firstFree() uint32 {
	if m.catalog != "" {
		return firstDescriptor + 4
	}
	return firstDescriptor + 3
}

func (d *dir) extent(joliet bool) *extent {
	if joliet {
		return &d.joliet
	}
	return &d.primary
}

func roundUp(n uint32) uint32 { return (n + sector - 1) / sector * sector }

// writeTo writes the whole medium.
func (m *image) writeTo(w io.Writer) error {
	out := &sectors{w: w}
	out.write(make([]byte, firstDescriptor*sector)) // system area
	out.write(m.descriptor(false))
	if m.catalog != "" {
		out.write(m.bootRecord())
	}
	out.write(m.descriptor(true))
	out.write(append([]byte("\xffCD001\x01"), make([]byte, sector-7)...))
	for _, joliet := range []bool{false, true} {
		out.write(m.pathTable(joliet, binary.LittleEndian))
		out.write(m.pathTable(joliet, binary.BigEndian))
	}
	for _, joliet := range []bool{false, true} {
		for _, d := range m.all {
			out.write(m.records(d, joliet))
		}
	}
	for _, f := range m.files {
		out.write(f.data)
	}
	return out.err
}

// sectors pads every write to whole sectors.
type sectors struct {
	w   io.Writer
	err error
}

func (s *sectors) write(p []byte) {
	if s.err != nil {
		return
	}
	if _, s.err = s.w.Write(p); s.err == nil {
		_, s.err = s.w.Write(make([]byte, -len(p)&(sector-1)))
	}
}
