// Package configimage loads the settings of an appliance from its config image: a medium
// with a gzipped cpio archive. Whoever attaches one may be hostile, and the power may fail
// at any moment: an archive is unpacked to one side, checked as a whole, and only then put
// into place, where a loss of power ends in all of it or nothing. [Read] reads an archive,
// [Contents.Check] judges it, [Store] keeps it, [Loader] does all of that for a device.
package configimage

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
)

// Bounds of an archive; real ones have some dozens of small files.
const (
	maxMember  = 16 << 20
	maxTotal   = 64 << 20
	maxMembers = 4096
)

// File is one file of the archive.
type File struct {
	// Path is the host's, with a leading slash.
	Path string `json:"path"`
	// Mode are the permissions.
	Mode uint32 `json:"mode"`
	Data []byte `json:"-"`
}

// Contents are the files of an archive, sorted by path.
type Contents struct {
	Files []File
	// Sum names the archive's contents.
	Sum string
}

// Read reads the archive. Everything in it that is not a plain file or folder at a plain
// path is an error that names the member: nothing is skipped.
func Read(r io.Reader) (Contents, error) {
	unzipped, err := gzip.NewReader(r)
	if err != nil {
		return Contents{}, fmt.Errorf("the archive is not gzipped: %w", err)
	}
	bounded := &io.LimitedReader{R: unzipped, N: maxTotal + 1}
	members := cpio.NewReader(bounded, maxMember)
	var c Contents
	folders := map[string]bool{}
	seen := map[string]bool{}
	for n := 0; ; n++ {
		e, err := members.Next()
		switch {
		case err != nil && bounded.N <= 0:
			return Contents{}, fmt.Errorf("the archive is larger than %d MiB", maxTotal>>20)
		case errors.Is(err, io.EOF):
			return c.finish(folders, unzipped)
		case err != nil:
			return Contents{}, err
		case n >= maxMembers:
			return Contents{}, fmt.Errorf("the archive has more than %d members", maxMembers)
		}
		name, err := plain(e.Name)
		if err != nil {
			return Contents{}, err
		}
		switch e.Mode & cpio.TypeMask {
		case cpio.TypeDir:
			folders[name] = true
			continue
		case cpio.TypeRegular:
		default:
			return Contents{}, fmt.Errorf("member %q is neither a file nor a folder (mode %o)", e.Name, e.Mode)
		}
		if e.Mode&0o7000 != 0 {
			return Contents{}, fmt.Errorf("member %q has the mode %o: set-id and sticky bits are not for settings", e.Name, e.Mode&0o7777)
		}
		if seen[name] {
			return Contents{}, fmt.Errorf("member %q is there twice", e.Name)
		}
		seen[name] = true
		c.Files = append(c.Files, File{Path: name, Mode: e.Mode & 0o777, Data: e.Data})
	}
}

// finish checks what only the whole archive tells.
func (c Contents) finish(folders map[string]bool, rest io.Reader) (Contents, error) {
	if err := onlyZeros(rest); err != nil {
		return Contents{}, err
	}
	slices.SortFunc(c.Files, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	for i, f := range c.Files {
		if folders[f.Path] || (i+1 < len(c.Files) && slices.ContainsFunc(c.Files[i+1:], func(g File) bool { return strings.HasPrefix(g.Path, f.Path+"/") })) {
			return Contents{}, fmt.Errorf("member %q is a file and a folder", f.Path)
		}
	}
	c.Sum = sum(c.Files)
	return c, nil
}

// onlyZeros reads what is behind the archive's trailer: padding, and not a second archive.
// The end of the compressed stream with its check sum is read as well.
func onlyZeros(rest io.Reader) error {
	buffer := make([]byte, 32<<10)
	zeros := make([]byte, len(buffer))
	for total := 0; ; {
		n, err := rest.Read(buffer)
		if total += n; total > maxMember || !bytes.Equal(buffer[:n], zeros[:n]) {
			return errors.New("the archive goes on behind its end")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the archive is damaged: %w", err)
		}
	}
}

// plain returns a member's name as a path of the host. A name that means another path than
// it shows is refused, whatever it would lead to.
func plain(name string) (string, error) {
	if name == "." || name == "/" || name == "./" {
		return "/", nil // the root folder itself
	}
	trimmed, here := strings.CutPrefix(name, "./")
	if !here {
		trimmed = strings.TrimPrefix(name, "/")
	}
	trimmed = strings.TrimSuffix(trimmed, "/")
	bad := strings.ContainsFunc(trimmed, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) })
	if trimmed == "" || bad || path.Clean("/"+trimmed) != "/"+trimmed {
		return "", fmt.Errorf("member %q: this is no plain path", name)
	}
	return "/" + trimmed, nil
}
