package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// medium is an ISO file that a command works on.
type medium struct {
	overlay.Media
	file *os.File
}

// source is a file as the overlay package wants it; within one command its path
// is identity enough.
type source struct {
	*os.File
	size int64
}

// Size implements overlay.Source.
func (s source) Size() int64 { return s.size }

// ID implements overlay.Source.
func (s source) ID() string { return s.Name() }

// openMedium opens and parses an ISO. The caller closes it.
func openMedium(path string) (*medium, error) {
	f, err := media.OpenFile(path)
	if err != nil {
		return nil, err
	}
	size, err := media.SizeOf(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	layout, err := iso.Parse(f, size)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return &medium{Media: overlay.Media{Source: source{f, size}, Layout: layout}, file: f}, nil
}

// content returns what is embedded now.
func (m *medium) content() (embedarea.Content, error) { return contentOf(m, m.Layout) }

// contentOf returns what is embedded in an ISO.
func contentOf(r io.ReaderAt, layout *iso.Layout) (embedarea.Content, error) {
	if layout.Ignition == nil {
		return embedarea.Content{}, overlay.ErrNoArea
	}
	return embedarea.Decode(io.NewSectionReader(r, layout.Ignition.Offset, layout.Ignition.Length))
}

// Modes of the files that commands write. What is embedded holds secrets.
const (
	private os.FileMode = 0o600
	public  os.FileMode = 0o644
)

// modeOf is public for an ISO in which nothing is embedded, for sure.
func modeOf(r io.ReaderAt, size int64) os.FileMode {
	layout, err := iso.Parse(r, size)
	if err != nil {
		return private
	}
	c, err := contentOf(r, layout)
	if errors.Is(err, overlay.ErrNoArea) || err == nil && c.Empty() {
		return public
	}
	return private
}

// withMedium runs do with the ISO at path.
func withMedium(path string, do func(*medium) error) error {
	m, err := openMedium(path)
	if err != nil {
		return err
	}
	return errors.Join(do(m), m.file.Close())
}

// rewrite makes a new ISO at out from the one at path.
func rewrite(path, out string, edit func(*medium) (*overlay.Image, error)) error {
	return withMedium(path, func(m *medium) error {
		image, err := edit(m)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		return writeFile(out, modeOf(image, image.Size()), image.Reader())
	})
}

// recontent makes a new ISO at out with other embedded content.
func recontent(path, out string, edit func(*embedarea.Content) error) error {
	return rewrite(path, out, func(m *medium) (*overlay.Image, error) {
		c, err := m.content()
		if err != nil {
			return nil, err
		}
		if err := edit(&c); err != nil {
			return nil, err
		}
		if c.Empty() {
			b := overlay.NewBuilder(m.Source)
			b.Zero(m.Layout.Ignition.Offset, m.Layout.Ignition.Length)
			return b.Build()
		}
		return overlay.Customize(m.Media, overlay.Options{Content: c})
	})
}

// writeFile writes r to path, which is never seen half written, and never open to
// others when it is private; "-" is standard output. What is no file, such as a USB stick,
// is written to, and the file behind a link is the one that is replaced.
func writeFile(path string, mode os.FileMode, r io.Reader) (err error) {
	if path == "-" {
		_, err := io.Copy(os.Stdout, r)
		return err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil: // mostly it is not there yet
	case info.IsDir():
		return fmt.Errorf("write %s: this is a directory: name a file in it", path)
	case !info.Mode().IsRegular():
		return writeDevice(path, info.Mode(), r)
	default:
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // which is private
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	_, err = io.Copy(tmp, r)
	if mode != private {
		err = errors.Join(err, tmp.Chmod(mode))
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(tmp.Name(), path)
}

// writeDevice writes r to a device or a pipe. Of a disk it returns when all is there.
func writeDevice(path string, mode os.FileMode, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil && mode&os.ModeDevice != 0 && mode&os.ModeCharDevice == 0 {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
