// Package cpio writes and reads the "newc" archive format that the Linux kernel
// unpacks into its initial file system (Documentation/driver-api/early-userspace/
// buffer-format.rst).
//
// Only what an initramfs needs is here: regular files, directories and symbolic
// links. Output is deterministic: no times, no owners, inode numbers by position.
// The main types are [Writer] and [Entry].
package cpio

import (
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

const (
	magic      = "070701"
	headerSize = 110
	trailer    = "TRAILER!!!"
	// alignment of names and contents inside the archive, in bytes.
	alignment = 4
	// maxFileSize is the largest content a newc header can describe.
	maxFileSize = 1<<32 - 1
)

// File type bits of [Entry.Mode], as in stat(2).
const (
	TypeMask    uint32 = 0o170000
	TypeRegular uint32 = 0o100000
	TypeDir     uint32 = 0o040000
	TypeSymlink uint32 = 0o120000
)

// Entry is one member of an archive.
type Entry struct {
	// Name is the path without a leading slash.
	Name string
	// Mode holds the type bits and the permissions, as in stat(2).
	Mode uint32
	// Data is the content of a regular file or the target of a symbolic link.
	Data []byte
}

// IsRegular tells whether the entry is a regular file.
func (e Entry) IsRegular() bool { return e.Mode&TypeMask == TypeRegular }

// IsSymlink tells whether the entry is a symbolic link.
func (e Entry) IsSymlink() bool { return e.Mode&TypeMask == TypeSymlink }

// Writer writes one archive. Parents of a member are added before it, once
// each, because the kernel silently drops a file whose directory is missing.
type Writer struct {
	w       io.Writer
	inode   uint32
	offset  int64
	parents map[string]bool
	err     error
}

// NewWriter returns a Writer to w. Close must be called to end the archive.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, parents: map[string]bool{}}
}

// File adds a regular file with the given permission bits.
func (w *Writer) File(name string, perm uint32, data []byte) error {
	return w.Add(Entry{Name: name, Mode: TypeRegular | perm, Data: data})
}

// Symlink adds a symbolic link name that points to target.
func (w *Writer) Symlink(name, target string) error {
	return w.Add(Entry{Name: name, Mode: TypeSymlink | 0o777, Data: []byte(target)})
}

// Add writes one entry, after the directories above it. Names are cleaned; a
// name that leaves the archive's root is an error.
func (w *Writer) Add(e Entry) error {
	name := strings.TrimPrefix(path.Clean("/"+e.Name), "/")
	switch {
	case name == "" || name == trailer:
		return fmt.Errorf("cpio: %q cannot be the name of a member", e.Name)
	case strings.Contains(name, "\x00"):
		return fmt.Errorf("cpio: the name %q holds a zero byte", e.Name)
	case int64(len(e.Data)) > maxFileSize:
		return fmt.Errorf("cpio: %s is larger than 4 GiB", name)
	}
	for i := range len(name) {
		if name[i] == '/' {
			w.directory(name[:i])
		}
	}
	if e.Mode&TypeMask == TypeDir {
		w.directory(name)
		return w.err
	}
	w.member(name, e.Mode, 1, e.Data)
	return w.err
}

// Close writes the trailer; the underlying writer stays open.
func (w *Writer) Close() error {
	w.inode = 0
	w.member(trailer, 0, 1, nil)
	if w.err != nil {
		return w.err
	}
	w.err = errors.New("cpio: archive already closed")
	return nil
}

func (w *Writer) directory(name string) {
	if w.parents[name] {
		return
	}
	w.parents[name] = true
	w.member(name, TypeDir|0o755, 2, nil)
}

// member writes header, name and content, each padded to four bytes.
func (w *Writer) member(name string, mode, links uint32, data []byte) {
	if name != trailer {
		w.inode++
	}
	header := fmt.Appendf(make([]byte, 0, headerSize+len(name)+alignment), magic+
		"%08X%08X00000000"+ // inode, mode, uid
		"00000000%08X00000000"+ // gid, links, mtime
		"%08X0000000000000000"+ // size, device
		"0000000000000000"+ // device of a special file
		"%08X00000000", // name size, checksum
		w.inode, mode, links, len(data), len(name)+1)
	w.write(append(append(header, name...), 0))
	w.pad()
	w.write(data)
	w.pad()
}

func (w *Writer) pad() {
	w.write(make([]byte, -w.offset&(alignment-1)))
}

func (w *Writer) write(p []byte) {
	if w.err != nil || len(p) == 0 {
		return
	}
	n, err := w.w.Write(p)
	w.offset += int64(n)
	w.err = err
}
