package liveimage

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_2/types"
	"github.com/vincent-petithory/dataurl"
)

// maxContent bounds the unpacked content of one file.
const maxContent = 16 << 20

// File is one file of a config with its content at hand.
type File struct {
	// Path is absolute.
	Path string
	// Mode holds the permission bits; 0644 where the config says nothing.
	Mode int
	// Data is the content; nil for a config that leaves the file's content alone.
	Data []byte
	// Append holds what is added at the end of the file, in order.
	Append [][]byte
}

// Unit is one systemd unit of a config.
type Unit struct {
	// Name is the unit's name, e.g. "agent.service".
	Name string
	// Enabled and Masked are what the config says; both are false otherwise.
	Enabled, Masked bool
	// Contents is the unit file; empty when the config only sets the state.
	Contents string
}

// Decoded is what a config does to a system, as far as live images use it.
type Decoded struct {
	// Files and Units are in the config's order.
	Files []File
	Units []Unit
}

// Decode reads a config of spec 3.0 to 3.2. Contents must be data URLs, as
// Ironflow writes them; others are an error that names the file.
func Decode(raw []byte) (*Decoded, error) {
	config, rpt, err := v3_2.ParseCompatibleVersion(raw)
	if err != nil {
		return nil, fmt.Errorf("not a usable Ignition config: %w", errors.Join(err, errors.New(rpt.String())))
	}
	d := &Decoded{}
	for _, f := range config.Storage.Files {
		file := File{Path: f.Path, Mode: 0o644}
		if f.Mode != nil {
			file.Mode = *f.Mode
		}
		if file.Data, err = content(f.Contents); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
		for _, a := range f.Append {
			data, err := content(a)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Path, err)
			}
			file.Append = append(file.Append, data)
		}
		d.Files = append(d.Files, file)
	}
	for _, u := range config.Systemd.Units {
		d.Units = append(d.Units, Unit{
			Name:     u.Name,
			Enabled:  u.Enabled != nil && *u.Enabled,
			Masked:   u.Mask != nil && *u.Mask,
			Contents: deref(u.Contents),
		})
	}
	return d, nil
}

// content decodes a data URL, nil when there is none.
func content(r types.Resource) ([]byte, error) {
	if r.Source == nil {
		return nil, nil
	}
	u, err := dataurl.DecodeString(*r.Source)
	if err != nil {
		return nil, fmt.Errorf("only data URLs can be read here: %w", err)
	}
	if deref(r.Compression) != "gzip" {
		return u.Data, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(u.Data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(z, maxContent))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
