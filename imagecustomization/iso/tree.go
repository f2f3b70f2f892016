package iso

import (
	"fmt"
	"io"
	"iter"
	"path"
	"strings"
)

// Bounds on what a medium may make us read; real media stay far below.
const (
	maxDepth     = 32
	maxEntries   = 1 << 17
	maxDirectory = 32 << 20
)

// File is one file of a medium, with the places of its directory records, so
// that a patch can move or resize it.
type File struct {
	// Path is the file's path without a leading slash: the Rock Ridge or Joliet
	// name where there is one, else the plain ISO name.
	Path string
	// Offset is the first byte of the content in the image.
	Offset int64
	// Size is the content's length in bytes.
	Size int64
	// Record is where the file's directory record lies in the primary tree.
	Record int64
	// JolietRecord is the same for the Joliet tree, 0 without one.
	JolietRecord int64
	// Extents is how many directory records describe the file (above one only
	// for files of 4 GiB and more).
	Extents int
}

// Area returns the file's content as an area of the image.
func (f *File) Area() Area { return Area{Offset: f.Offset, Length: f.Size} }

// node is a file or directory of one tree.
type node struct {
	name     string // best name
	isoName  string
	file     *File // nil for a directory
	children []*node
}

// walker reads one tree within the bounds above.
type walker struct {
	r       io.ReaderAt
	size    int64
	joliet  bool
	skip    int
	entries int
	seen    map[int64]bool
}

func readTree(r io.ReaderAt, size int64, d *Descriptor) (*node, error) {
	w := &walker{r: r, size: size, joliet: d.joliet, seen: map[int64]bool{}}
	root := &node{}
	if err := w.directory(root, d.root, "", 0); err != nil {
		return nil, err
	}
	return root, nil
}

func (w *walker) directory(dir *node, rec record, at string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: directories deeper than %d at %q", ErrNotISO, maxDepth, at)
	}
	if rec.size > maxDirectory || rec.extent+rec.size > w.size {
		return fmt.Errorf("%w: directory %q (%d bytes at %d) does not fit into the image", ErrNotISO, at, rec.size, rec.extent)
	}
	if w.seen[rec.extent] {
		return fmt.Errorf("%w: directory %q appears twice", ErrNotISO, at)
	}
	w.seen[rec.extent] = true
	raw := make([]byte, rec.size)
	if err := readFull(w.r, raw, rec.extent); err != nil {
		return fmt.Errorf("read directory %q: %w", at, err)
	}
	var open *File // a file whose next extent is expected
	for pos := 0; pos < len(raw); {
		if raw[pos] == 0 { // records do not cross sectors
			pos += sectorSize - pos%sectorSize
			continue
		}
		child, length, err := parseRecord(raw[pos:], rec.extent+int64(pos), w.joliet)
		if err != nil {
			return fmt.Errorf("%w: %w in %q at byte %d", ErrNotISO, err, at, rec.extent+int64(pos))
		}
		pos += length
		if child.self() {
			if depth == 0 && child.name == "\x00" {
				w.skip = suspSkip(child)
			}
			continue
		}
		if open, err = w.entry(dir, child, at, depth, open); err != nil {
			return err
		}
	}
	return nil
}

// entry adds one record to dir; open is the file that the record continues.
func (w *walker) entry(dir *node, rec record, at string, depth int, open *File) (*File, error) {
	if w.entries++; w.entries > maxEntries {
		return nil, fmt.Errorf("%w: more than %d files", ErrNotISO, maxEntries)
	}
	if open != nil {
		if rec.extent != open.Offset+open.Size {
			return nil, fmt.Errorf("%w: %q lies in scattered extents, which is not supported", ErrNotISO, open.Path)
		}
		open.Size += rec.size
		open.Extents++
		return continued(open, rec), nil
	}
	child := &node{isoName: rec.isoName()}
	child.name = rec.rockRidgeName(w.r, w.skip)
	if child.name == "" || strings.ContainsAny(child.name, "/\x00") {
		child.name = child.isoName
	}
	where := path.Join(at, child.name)
	dir.children = append(dir.children, child)
	if rec.dir {
		return nil, w.directory(child, rec, where, depth+1)
	}
	child.file = &File{Path: where, Offset: rec.extent, Size: rec.size, Record: rec.at, Extents: 1}
	return continued(child.file, rec), nil
}

func continued(f *File, rec record) *File {
	if rec.more {
		return f
	}
	return nil
}

// find walks down the path; see [Layout.File] for how names match.
func (n *node) find(name string) *File {
	for part := range strings.SplitSeq(strings.Trim(name, "/"), "/") {
		if n = n.child(part); n == nil {
			return nil
		}
	}
	return n.file
}

// child finds a name: exact first, then without case, then the plain ISO name,
// then the name cut to 8.3.
func (n *node) child(name string) *node {
	matches := []func(*node) bool{
		func(c *node) bool { return c.name == name },
		func(c *node) bool { return strings.EqualFold(c.name, name) },
		func(c *node) bool { return strings.EqualFold(c.isoName, name) },
		func(c *node) bool { return c.isoName == shortName(name) },
	}
	for _, match := range matches {
		for _, c := range n.children {
			if match(c) {
				return c
			}
		}
	}
	return nil
}

// shortName cuts a name to the 8.3 form of ISO level 1, e.g. KARGS.JSO.
func shortName(name string) string {
	base, ext := name, ""
	if dot := strings.LastIndexByte(name, '.'); dot > 0 {
		base, ext = name[:dot], name[dot+1:]
	}
	clean := func(s string, n int) string {
		s = strings.Map(func(r rune) rune {
			if r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
				return r
			}
			return '_'
		}, strings.ToUpper(s))
		return s[:min(len(s), n)]
	}
	if ext == "" {
		return clean(base, 8)
	}
	return clean(base, 8) + "." + clean(ext, 3)
}

// files yields every file below n in the order of the medium.
func (n *node) files() iter.Seq[*File] {
	return func(yield func(*File) bool) { n.walk(yield) }
}

func (n *node) walk(yield func(*File) bool) bool {
	if n.file != nil && !yield(n.file) {
		return false
	}
	for _, c := range n.children {
		if !c.walk(yield) {
			return false
		}
	}
	return true
}
