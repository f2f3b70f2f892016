package bootstrap

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// pullSecret is the root user's registry credentials.
const pullSecret = "/root/.docker/config.json" //nolint:gosec // a path

// maxContent bounds one unpacked file.
const maxContent = 32 << 20

// config is what is looked at of bootstrap.ign whoever writes it onto the live system.
type config struct {
	Ignition struct {
		Version string `json:"version"`
	} `json:"ignition"`
	Storage struct {
		Files []file `json:"files"`
	} `json:"storage"`
}

type file struct {
	Path     string    `json:"path"`
	Contents *resource `json:"contents"`
}

type resource struct {
	Source      *string `json:"source"`
	Compression string  `json:"compression"`
	// Hash is that of the unpacked content, "sha512-HEX" or "sha256-HEX"; empty for none.
	Hash string `json:"-"`
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
		return nil, errors.New("its source is no data URL; put the content into one")
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
	if raw, err = decompress(raw, r.Compression); err != nil {
		return nil, err
	}
	return raw, verify(raw, r.Hash)
}

func decompress(raw []byte, compression string) ([]byte, error) {
	switch compression {
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
		return nil, fmt.Errorf("compression %q is not known", compression)
	}
}

func verify(raw []byte, hash string) error {
	kind, want, _ := strings.Cut(hash, "-")
	var have string
	switch kind {
	case "":
		return nil
	case "sha256":
		have = fmt.Sprintf("%x", sha256.Sum256(raw))
	case "sha512":
		have = fmt.Sprintf("%x", sha512.Sum512(raw))
	default:
		return fmt.Errorf("verification.hash %q: want sha512-HEX or sha256-HEX", kind)
	}
	if !strings.EqualFold(have, want) {
		return errors.New("its content has another hash than verification.hash says")
	}
	return nil
}

// writeFile writes a file of the host completely or not at all.
func writeFile(dir hostfile.Dir, path string, raw []byte, mode fs.FileMode) error {
	return writeOwned(dir, path, raw, mode, ids{-1, -1})
}

// writeOwned gives the file an owner as well.
func writeOwned(dir hostfile.Dir, path string, raw []byte, mode fs.FileMode, owner ids) error {
	target := dir.Path(path)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(target), ".bootstrap-*")
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	if owner != (ids{-1, -1}) { // it takes special bits of the mode away
		err = errors.Join(err, f.Chown(owner.user, owner.group))
	}
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
