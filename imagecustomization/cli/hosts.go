package cli

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// hostNames lists the hosts of a directory, sorted: every file or folder that
// describes one.
func hostNames(dir string) ([]string, error) {
	var names []string
	for _, pattern := range []string{"*.ign", "*.yaml", "*.json", "*/*.nmconnection"} {
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if strings.HasPrefix(pattern, "*/") {
				f = filepath.Dir(f)
			}
			names = append(names, strings.TrimSuffix(filepath.Base(f), strings.TrimPrefix(pattern, "*")))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// spec reads what describes a host.
func (o serveOptions) spec(name string) (images.Spec, error) {
	config, err := os.ReadFile(filepath.Join(o.hosts, name+".ign"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return images.Spec{}, err
	}
	keyfiles := map[string][]byte{}
	for _, read := range []func() (map[string][]byte, error){
		func() (map[string][]byte, error) {
			return translated(filepath.Join(o.hosts, name+".json"), network.FromNetworkData)
		},
		func() (map[string][]byte, error) {
			return translated(filepath.Join(o.hosts, name+".yaml"), network.Keyfiles)
		},
		func() (map[string][]byte, error) { return readKeyfiles(filepath.Join(o.hosts, name)) },
	} {
		more, err := read()
		if err != nil {
			return images.Spec{}, err
		}
		maps.Copy(keyfiles, more)
	}
	return images.Spec{Key: hostKey(name), Format: o.format, Ignition: config, NetworkKeyfiles: keyfiles}, nil
}

// hostKey is the key of a host's image.
func hostKey(name string) string { return "hosts/" + name }

// translated returns the keyfiles of a description, none when there is none.
func translated(file string, translate func([]byte) (map[string][]byte, error)) (map[string][]byte, error) {
	raw, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return translate(raw)
}

// readKeyfiles returns the keyfiles of a directory, none when there is none.
func readKeyfiles(dir string) (map[string][]byte, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string][]byte{}
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".nmconnection" {
			continue
		}
		if out[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return out, nil
}
