package bootstrap

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// pullSecret is the root user's registry credentials.
const pullSecret = "/root/.docker/config.json" //nolint:gosec // a path

// maxContent bounds one unpacked file.
const maxContent = 32 << 20

// config is the part of an Ignition configuration that a live system can be given.
type config struct {
	Ignition struct {
		Version string `json:"version"`
	} `json:"ignition"`
	Storage struct {
		Files []file `json:"files"`
	} `json:"storage"`
	Systemd struct {
		Units []unit `json:"units"`
	} `json:"systemd"`
}

type file struct {
	Path     string     `json:"path"`
	Mode     *int       `json:"mode"`
	Contents *resource  `json:"contents"`
	Append   []resource `json:"append"`
}

type resource struct {
	Source      *string `json:"source"`
	Compression string  `json:"compression"`
}

type unit struct {
	Name     string  `json:"name"`
	Contents *string `json:"contents"`
	Dropins  []struct {
		Name     string  `json:"name"`
		Contents *string `json:"contents"`
	} `json:"dropins"`
}

func parse(raw []byte) (config, error) {
	var c config
	if err := json.Unmarshal(raw, &c); err != nil {
		return c, errors.New("it is not the JSON of an Ignition configuration") // not quoted: it holds secrets
	}
	if c.Ignition.Version == "" {
		return c, errors.New("it has no ignition.version")
	}
	return c, nil
}

// file returns the content of one of the configuration's files.
func (c config) file(path string) ([]byte, bool, error) {
	for _, f := range c.Storage.Files {
		if f.Path == path && f.Contents != nil {
			raw, err := f.Contents.content()
			return raw, true, err
		}
	}
	return nil, false, nil
}

// content unpacks a data URL; other sources are not for a live system.
func (r resource) content() ([]byte, error) {
	if r.Source == nil {
		return nil, nil
	}
	rest, ok := strings.CutPrefix(*r.Source, "data:")
	head, body, comma := strings.Cut(rest, ",")
	if !ok || !comma {
		return nil, errors.New("its source is no data URL")
	}
	var raw []byte
	var err error
	if strings.HasSuffix(head, ";base64") {
		raw, err = base64.StdEncoding.DecodeString(body)
	} else {
		var text string
		text, err = url.PathUnescape(body)
		raw = []byte(text)
	}
	if err != nil {
		return nil, errors.New("its data URL is broken")
	}
	switch r.Compression {
	case "":
		return raw, nil
	case "gzip":
		unpacked, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		raw, err = io.ReadAll(io.LimitReader(unpacked, maxContent+1))
		if err == nil && len(raw) > maxContent {
			err = fmt.Errorf("more than %d MiB unpacked", maxContent>>20)
		}
		return raw, err
	default:
		return nil, fmt.Errorf("compression %q is not known", r.Compression)
	}
}

// unitName is what systemd takes for one, with a name that stays in its folder.
var unitName = regexp.MustCompile(`^[A-Za-z0-9:_.\\@-]+\.[a-z]+$`)

// apply writes files and units onto the live system.
func (c config) apply(dir hostfile.Dir) error {
	for _, f := range c.Storage.Files {
		if !path.IsAbs(f.Path) || path.Clean(f.Path) != f.Path {
			return fmt.Errorf("file %q: want a clean absolute path", f.Path)
		}
		if err := f.apply(dir); err != nil {
			return fmt.Errorf("file %s: %w", f.Path, err)
		}
	}
	for _, u := range c.Systemd.Units {
		if err := u.apply(dir); err != nil {
			return fmt.Errorf("unit %s: %w", u.Name, err)
		}
	}
	return nil
}

func (f file) apply(dir hostfile.Dir) error {
	mode := fs.FileMode(0o644)
	if f.Mode != nil {
		mode = fs.FileMode(*f.Mode) & fs.ModePerm
	}
	var raw []byte
	if f.Contents == nil {
		var err error
		if raw, err = os.ReadFile(dir.Path(f.Path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	} else {
		var err error
		if raw, err = f.Contents.content(); err != nil {
			return err
		}
	}
	for _, more := range f.Append {
		part, err := more.content()
		if err != nil {
			return err
		}
		if !bytes.HasSuffix(raw, part) { // a second run appends nothing twice
			raw = append(raw, part...)
		}
	}
	return writeFile(dir, f.Path, raw, mode)
}

func (u unit) apply(dir hostfile.Dir) error {
	if !unitName.MatchString(u.Name) {
		return errors.New("this is no unit's name")
	}
	target := path.Join(hostfile.UnitDir, u.Name)
	if u.Contents != nil {
		if err := writeFile(dir, target, []byte(*u.Contents), 0o644); err != nil {
			return err
		}
	}
	for _, d := range u.Dropins {
		if !unitName.MatchString(d.Name) {
			return fmt.Errorf("drop-in %q: this is no name of one", d.Name)
		}
		if d.Contents == nil {
			continue
		}
		if err := writeFile(dir, path.Join(target+".d", d.Name), []byte(*d.Contents), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file of the host completely or not at all.
func writeFile(dir hostfile.Dir, path string, raw []byte, mode fs.FileMode) error {
	target := dir.Path(path)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".bootstrap-*")
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

func exists(dir hostfile.Dir, path string) bool {
	_, err := os.Stat(dir.Path(path))
	return err == nil
}
