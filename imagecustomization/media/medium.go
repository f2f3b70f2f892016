// Package media keeps the media that live images are composed over: which
// there are, for which architecture and version, and whether their files are
// still what they were.
//
// A medium is opened, hashed and parsed once, at registration. The main type is
// [Registry]; a [Medium] is immutable and can be read by anybody at once.
package media

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// ErrChanged means that a medium's file was replaced or written since it was
// registered.
var ErrChanged = errors.New("the base image's file changed")

// Medium is one medium. It implements overlay.Source.
type Medium struct {
	// Path is the file.
	Path string
	// Arch is the architecture in the kernel's spelling: x86_64, aarch64, ppc64le, s390x.
	Arch string
	// Version is the medium's version, e.g. "38.20230718.3.0".
	Version string
	// OpenShiftVersion is the release that the medium belongs to, e.g. "4.18";
	// empty unless somebody said so.
	OpenShiftVersion string
	// SHA256 is the file's digest in hexadecimal.
	SHA256 string
	// Modified is the file's time; it is the same for every image over this medium.
	Modified time.Time
	// Layout is what the parser found.
	Layout *iso.Layout

	nmstatectl *bool // what somebody said, nil for nothing

	file    *os.File
	was     stamp
	witness witness
}

// ReadAt implements io.ReaderAt.
func (m *Medium) ReadAt(p []byte, off int64) (int, error) { return m.file.ReadAt(p, off) }

// Size implements overlay.Source.
func (m *Medium) Size() int64 { return m.was.size }

// ID implements overlay.Source.
func (m *Medium) ID() string { return m.SHA256 }

// File returns the open file, for sendfile with an explicit offset. Its own
// offset must not be used, because all readers share it.
func (m *Medium) File() *os.File { return m.file }

// Media returns the medium as the overlay package wants it.
func (m *Medium) Media() overlay.Media { return overlay.Media{Source: m, Layout: m.Layout} }

// State stands for the file as it was registered: another state means that images over
// the medium are to be made anew, even with the same bytes, because what was registered
// before is not sent any more.
func (m *Medium) State() string { return fmt.Sprint(m.SHA256, m.was) }

// Check returns an error that wraps [ErrChanged] unless the file is still the
// one that was registered.
func (m *Medium) Check() error {
	now, err := stampAt(m.Path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrChanged, err)
	}
	if now != m.was {
		return fmt.Errorf("%w: %s", ErrChanged, m.Path)
	}
	return nil
}

// load opens, hashes and parses the file. want is the expected digest, or "".
func load(ctx context.Context, path, want string) (_ *Medium, err error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	m := &Medium{Path: path, file: f, Modified: info.ModTime().Truncate(time.Second)}
	if m.was, err = stampOf(f); err != nil {
		return nil, err
	}
	if m.Layout, err = iso.Parse(f, m.was.size); err != nil {
		return nil, err
	}
	if m.SHA256, err = digest(ctx, f, m.was.size); err != nil {
		return nil, err
	}
	if want != "" && !strings.EqualFold(want, m.SHA256) {
		return nil, fmt.Errorf("SHA-256 is %s, want %s: download the file again", m.SHA256, want)
	}
	m.Version = version(m.Layout.VolumeID, path)
	m.Arch = arch(m)
	// The file must not have been written while it was read.
	return m, m.Check()
}

// digest hashes the file without touching its offset; it stops when ctx ends.
func digest(ctx context.Context, r io.ReaderAt, size int64) (string, error) {
	h := sha256.New()
	buf := make([]byte, 1<<20)
	for at := int64(0); at < size; {
		if err := context.Cause(ctx); err != nil {
			return "", err
		}
		n, err := r.ReadAt(buf[:min(int64(len(buf)), size-at)], at)
		h.Write(buf[:n])
		at += int64(n)
		if err != nil && (at < size || !errors.Is(err, io.EOF)) {
			return "", err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// volumePrefixes are the labels of CoreOS media, in front of the version.
var volumePrefixes = []string{"rhcos-", "fedora-coreos-", "scos-"}

// version comes from the label, else from the file's name.
func version(volumeID, path string) string {
	for _, prefix := range volumePrefixes {
		if v, ok := strings.CutPrefix(volumeID, prefix); ok {
			return v
		}
	}
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}
