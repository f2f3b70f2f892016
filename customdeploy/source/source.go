// Package source is the interface through which the inventory and the deploy steps see a machine:
// its files, by the names that they have on the host, and a [Kernel] for what
// no file tells. A real machine is [Live]; a recorded one is a file system in
// memory with kept answers. Nothing here starts a program, and every read is
// bounded, because procfs, sysfs and firmware tables are not ours.
package source

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// MaxFile bounds what is read of one file, bytes. The largest files that are
// read are the PCI names (1.5 MB) and the processor list of a machine with a
// thousand threads (2 MB).
const MaxFile = 8 << 20

// MaxNames bounds the names that are taken from one folder.
const MaxNames = 1 << 17

// Machine is one machine, real or recorded. Paths are absolute, as the machine
// itself names them.
type Machine struct {
	// Files are the machine's files; it follows symbolic links below its root.
	Files fs.FS
	// Kernel answers what is not in files.
	Kernel Kernel
}

// Live is the machine that this process runs on, with its files below dir.
func Live(dir hostfile.Dir) Machine {
	return Machine{Files: os.DirFS(dir.Path("/")), Kernel: Linux{Dir: dir}}
}

// name turns an absolute path into one of io/fs.
func name(parts []string) string {
	clean := strings.TrimPrefix(path.Join(parts...), "/")
	if clean == "" {
		return "."
	}
	return clean
}

// Read returns the content of a file, at most [MaxFile] bytes of it.
func (m Machine) Read(parts ...string) ([]byte, error) { return m.Head(MaxFile, parts...) }

// Head returns the first bytes of a file, at most limit.
func (m Machine) Head(limit int64, parts ...string) ([]byte, error) {
	f, err := m.Files.Open(name(parts))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, limit))
}

// Line reads a file of one line, trimmed; empty when it cannot be read.
func (m Machine) Line(parts ...string) string {
	raw, err := m.Head(4096, parts...)
	if err != nil {
		return ""
	}
	return string(bytes.TrimSpace(bytes.TrimRight(raw, "\x00")))
}

// Number reads a file that holds one decimal number; 0 when it cannot be read.
func (m Machine) Number(parts ...string) int64 {
	n, err := strconv.ParseInt(m.Line(parts...), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Exists tells whether there is such a file, link or folder.
func (m Machine) Exists(parts ...string) bool {
	_, err := fs.Stat(m.Files, name(parts))
	return err == nil
}

// Names lists a folder in order; nothing when it cannot be read.
func (m Machine) Names(parts ...string) []string {
	entries, err := fs.ReadDir(m.Files, name(parts))
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries[:min(len(entries), MaxNames)] {
		names = append(names, e.Name())
	}
	return names
}

// Link returns where a symbolic link points; empty when it is none.
func (m Machine) Link(parts ...string) string {
	target, err := fs.ReadLink(m.Files, name(parts))
	if err != nil {
		return ""
	}
	return target
}

// Resolve returns the absolute path that the last element of a path, a symbolic
// link, points to; the path itself when it is none.
func (m Machine) Resolve(parts ...string) string {
	at := "/" + name(parts)
	switch target := m.Link(at); {
	case target == "":
		return at
	case path.IsAbs(target):
		return target
	default:
		return path.Join(path.Dir(at), target)
	}
}

// Fields calls each for every "key SEPARATOR value" line of a text.
func Fields(text, separator string, each func(key, value string)) {
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(line, separator); ok {
			each(strings.TrimSpace(key), strings.TrimSpace(value))
		}
	}
}

// First returns the first text that is not empty.
func First(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

// ErrNoAnswer means that the machine has nothing that could answer: no such
// device, no such page, no such command.
var ErrNoAnswer = errors.New("the machine does not answer this")
