package machines

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing/fstest"
	"unicode"
	"unicode/utf8"
)

// Marks behind a path in the text of a recording.
const (
	markHex  = " (hex)"           // the content is binary
	markOpen = " (no newline)"    // the content does not end with a newline
	lead     = "-- /"             // begins the line with a path
	tail     = " --"              // ends it
	arrow    = " -> "             // is between a link and its target
	perLine  = 32                 // bytes of a line of hex
	dirMode  = fs.ModeDir | 0o755 // of folders
)

// ParseFiles reads the text of a recording. A file is a line with its path, and
// its content; a folder's path ends with a slash, a link names its target:
//
//	-- /proc/cmdline --
//	quiet
//	-- /sys/block/sda -> ../devices/pci0000:00/block/sda --
//	-- /sys/block/sda/holders/ --
//	-- /dev/sda (hex) --
//	eb639010
func ParseFiles(text string) (fstest.MapFS, error) {
	files := fstest.MapFS{}
	var file *fstest.MapFile
	isHex, isOpen := false, false
	finish := func(name string) error {
		if file == nil {
			return nil
		}
		switch {
		case isHex:
			raw, err := hex.DecodeString(strings.Join(strings.Fields(string(file.Data)), ""))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			file.Data = raw
		case isOpen:
			file.Data = file.Data[:max(len(file.Data)-1, 0)]
		}
		return nil
	}
	name := ""
	for line := range strings.Lines(text) {
		head, ok := strings.CutSuffix(strings.TrimSuffix(line, "\n"), tail)
		if !ok || !strings.HasPrefix(head, lead) {
			if file != nil {
				file.Data = append(file.Data, line...)
			}
			continue
		}
		if err := finish(name); err != nil {
			return nil, err
		}
		name = strings.TrimPrefix(head, lead)
		name, isHex = strings.CutSuffix(name, markHex)
		name, isOpen = strings.CutSuffix(name, markOpen)
		file = &fstest.MapFile{Mode: 0o644}
		if link, target, ok := strings.Cut(name, arrow); ok {
			name, file.Mode, file.Data = link, fs.ModeSymlink|0o777, []byte(target)
		} else if dir, ok := strings.CutSuffix(name, "/"); ok {
			name, file.Mode = dir, dirMode
		}
		if !fs.ValidPath(name) {
			return nil, fmt.Errorf("path %q is not clean", name)
		}
		files[name] = file
		if file.Mode.Type() != 0 {
			file = nil
		}
	}
	return files, finish(name)
}

// FormatFiles writes the text of a recording, in the order of the paths.
func FormatFiles(files fstest.MapFS) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := files[name]
		switch {
		case f.Mode&fs.ModeSymlink != 0:
			fmt.Fprintf(&b, "%s%s%s%s%s\n", lead, name, arrow, f.Data, tail)
		case f.Mode.IsDir():
			if !hasChildren(files, name) {
				fmt.Fprintf(&b, "%s%s/%s\n", lead, name, tail)
			}
		case !isText(f.Data):
			fmt.Fprintf(&b, "%s%s%s%s\n", lead, name, markHex, tail)
			for line := range slices.Chunk(f.Data, perLine) {
				fmt.Fprintf(&b, "%x\n", line)
			}
		case len(f.Data) > 0 && f.Data[len(f.Data)-1] != '\n':
			fmt.Fprintf(&b, "%s%s%s%s\n%s\n", lead, name, markOpen, tail, f.Data)
		default:
			fmt.Fprintf(&b, "%s%s%s\n%s", lead, name, tail, f.Data)
		}
	}
	return b.String()
}

// hasChildren tells that a folder needs no line of its own.
func hasChildren(files fstest.MapFS, dir string) bool {
	for name := range files {
		if path.Dir(name) == dir {
			return true
		}
	}
	return false
}

// isText tells that the content can stand in the recording as it is.
func isText(raw []byte) bool {
	if !utf8.Valid(raw) || strings.Contains("\n"+string(raw), "\n"+lead) {
		return false
	}
	for _, r := range string(raw) {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return false
		}
	}
	return true
}
