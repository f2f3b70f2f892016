// Package host is the inside of a simulated machine: a folder that plays the
// live system's root directory, filled from an Ignition config, and the
// processes that run in it.
//
// Files are written through an [os.Root]: a config that reaches out of the
// folder, by a path or by a link, is refused and not followed. Processes belong
// to one machine and end together, also when the lab is killed. Linux only.
package host

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"

	"github.com/coreos/ignition/v2/config"
	"github.com/coreos/ignition/v2/config/v3_7_experimental/types"

	"github.com/ironflow/ironflow/api/hostfile"
)

// maxFile bounds one unpacked file of a config.
const maxFile = 64 << 20

// System is a live system that was written.
type System struct {
	// Enabled says which units the config enables. A unit that is masked or left
	// to its preset is there with false.
	Enabled map[string]bool
}

// Write parses the Ignition config and writes it below the root. What a
// simulated machine cannot do (partitions, file systems, remote sources) is an
// error: a host program would miss it.
func Write(root *os.Root, ignition []byte) (System, error) {
	c, report, err := config.Parse(ignition)
	if err != nil {
		return System{}, fmt.Errorf("config.ign: %w: %s", err, strings.TrimSpace(report.String()))
	}
	if len(c.Storage.Disks)+len(c.Storage.Raid)+len(c.Storage.Filesystems)+len(c.Storage.Luks) > 0 {
		return System{}, errors.New("config.ign: storage of disks, raid, filesystems or luks is not possible on a simulated machine")
	}
	w := writer{root: root, system: System{Enabled: map[string]bool{}}}
	for _, step := range []func(types.Config) error{w.directories, w.files, w.links, w.units} {
		if err := step(c); err != nil {
			return System{}, fmt.Errorf("config.ign: %w", err)
		}
	}
	return w.system, nil
}

type writer struct {
	root   *os.Root
	system System
}

// below turns a host path into one below the root.
func below(abs string) (string, error) {
	if !path.IsAbs(abs) {
		return "", fmt.Errorf("path %q is not absolute", abs)
	}
	return strings.TrimPrefix(abs, "/"), nil
}

func (w *writer) directories(c types.Config) error {
	for _, d := range c.Storage.Directories {
		name, err := below(d.Path)
		if err != nil {
			return err
		}
		if err := w.root.MkdirAll(name, 0o755); err != nil {
			return fmt.Errorf("directory %s: %w", d.Path, err)
		}
		if d.Mode != nil {
			if err := w.root.Chmod(name, mode(*d.Mode)); err != nil {
				return fmt.Errorf("directory %s: %w", d.Path, err)
			}
		}
	}
	return nil
}

// mode keeps the permission bits; the others need rights that a lab has not.
func mode(m int) fs.FileMode { return fs.FileMode(m) & fs.ModePerm }

func (w *writer) files(c types.Config) error {
	for _, f := range c.Storage.Files {
		if err := w.file(f); err != nil {
			return fmt.Errorf("file %s: %w", f.Path, err)
		}
	}
	return nil
}

func (w *writer) file(f types.File) error {
	perm := fs.FileMode(0o644)
	if f.Mode != nil {
		perm = mode(*f.Mode)
	}
	name, err := below(f.Path)
	if err != nil {
		return err
	}
	if f.Contents.Source != nil || len(f.Append) == 0 {
		data, err := content(f.Contents)
		if err != nil {
			return err
		}
		if err := w.write(name, data, perm, os.O_TRUNC); err != nil {
			return err
		}
	}
	for _, part := range f.Append {
		data, err := content(part)
		if err != nil {
			return err
		}
		if err := w.write(name, data, perm, os.O_APPEND); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) write(name string, data []byte, perm fs.FileMode, how int) error {
	if err := w.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := w.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|how, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Chmod(perm), f.Close())
}

func (w *writer) links(c types.Config) error {
	for _, l := range c.Storage.Links {
		name, err := below(l.Path)
		if err != nil {
			return err
		}
		if l.Target == nil || (l.Hard != nil && *l.Hard) {
			return fmt.Errorf("link %s: only symbolic links are possible on a simulated machine", l.Path)
		}
		if err := w.root.MkdirAll(path.Dir(name), 0o755); err != nil {
			return fmt.Errorf("link %s: %w", l.Path, err)
		}
		if l.Overwrite != nil && *l.Overwrite {
			if err := w.root.RemoveAll(name); err != nil {
				return fmt.Errorf("link %s: %w", l.Path, err)
			}
		}
		if err := w.root.Symlink(*l.Target, name); err != nil {
			return fmt.Errorf("link %s: %w", l.Path, err)
		}
	}
	return nil
}

// units writes unit files and drop-ins, and remembers what is enabled.
func (w *writer) units(c types.Config) error {
	dir := strings.TrimPrefix(hostfile.UnitDir, "/")
	for _, u := range c.Systemd.Units {
		masked := u.Mask != nil && *u.Mask
		w.system.Enabled[u.Name] = u.Enabled != nil && *u.Enabled && !masked
		if u.Contents != nil {
			if err := w.write(path.Join(dir, u.Name), []byte(*u.Contents), 0o644, os.O_TRUNC); err != nil {
				return fmt.Errorf("unit %s: %w", u.Name, err)
			}
		}
		for _, d := range u.Dropins {
			if d.Contents == nil {
				continue
			}
			if err := w.write(path.Join(dir, u.Name+".d", d.Name), []byte(*d.Contents), 0o644, os.O_TRUNC); err != nil {
				return fmt.Errorf("unit %s: drop-in %s: %w", u.Name, d.Name, err)
			}
		}
	}
	return nil
}

// content returns the bytes of a resource with an inline source.
func content(r types.Resource) ([]byte, error) {
	if r.Source == nil || *r.Source == "" {
		return nil, nil
	}
	data, err := decodeData(*r.Source)
	if err != nil {
		return nil, err
	}
	switch compression := r.Compression; {
	case compression == nil || *compression == "":
		return data, nil
	case *compression == "gzip":
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		out, err := io.ReadAll(io.LimitReader(z, maxFile+1))
		if err == nil && len(out) > maxFile {
			err = fmt.Errorf("more than %d MiB unpacked", maxFile>>20)
		}
		return out, err
	default:
		return nil, fmt.Errorf("compression %q is not known", *compression)
	}
}

// decodeData decodes a data URL (RFC 2397).
func decodeData(source string) ([]byte, error) {
	rest, ok := strings.CutPrefix(source, "data:")
	if !ok {
		scheme, _, _ := strings.Cut(source, ":")
		return nil, fmt.Errorf("a source with %s: is not possible on a simulated machine, only data: is", scheme)
	}
	kind, data, ok := strings.Cut(rest, ",")
	if !ok {
		return nil, errors.New("the data: source has no comma")
	}
	plain, err := url.PathUnescape(data)
	if err != nil {
		return nil, fmt.Errorf("data: source: %w", err)
	}
	if !strings.HasSuffix(kind, ";base64") {
		return []byte(plain), nil
	}
	raw, err := base64.StdEncoding.DecodeString(plain)
	if err != nil {
		return nil, fmt.Errorf("data: source: %w", err)
	}
	return raw, nil
}
