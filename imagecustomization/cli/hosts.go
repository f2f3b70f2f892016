package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/sharednetwork"
)

// hostNames lists the hosts of a directory, sorted: every file or folder that
// describes one.
func hostNames(dir string) ([]string, error) {
	root := os.DirFS(dir) // the folder's own name may look like a pattern
	var names []string
	for _, pattern := range []string{"*.ign", "*.yaml", "*.json", "*/*.nmconnection"} {
		found, err := fs.Glob(root, pattern)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if strings.HasPrefix(pattern, "*/") {
				f = path.Dir(f)
			}
			names = append(names, strings.TrimSuffix(path.Base(f), strings.TrimPrefix(pattern, "*")))
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// hostName is what may be part of a URL.
var hostName = regexp.MustCompile(`^[A-Za-z0-9._-]+$`)

// spec reads what describes a host.
func (o serveOptions) spec(name string) (images.Spec, error) {
	if !hostName.MatchString(name) {
		return images.Spec{}, fmt.Errorf("%q cannot be the name of a host, which is part of its URL: rename the file or folder (letters, digits, '.', '_' and '-')", name)
	}
	config, err := readConfig(filepath.Join(o.hosts, name+".ign"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return images.Spec{}, err
	}
	settings, err := o.network(name)
	if err != nil {
		return images.Spec{}, err
	}
	if settings.Nmstate != "" || settings.Hostname != "" {
		host := ignition.HostConfig{Hostname: settings.Hostname, Override: config}
		if settings.Nmstate != "" {
			host.Nmstate = []ignition.Nmstate{{Document: settings.Nmstate}}
		}
		if config, err = ignition.Build(host); err != nil {
			return images.Spec{}, err
		}
	}
	keyfiles, files := sharednetwork.OfHost(settings)
	return images.Spec{Key: hostKey(name), Format: o.format, Ignition: config, NetworkKeyfiles: keyfiles, InitrdFiles: files}, nil
}

// hostKey is the key of a host's image.
func hostKey(name string) string { return "hosts/" + name }

// network reads the network of a host: a description, and ready keyfiles, which win.
func (o serveOptions) network(name string) (network.Settings, error) {
	data := map[string][]byte{}
	for key, file := range map[string]string{"nmstate": name + ".yaml", "network_data.json": name + ".json"} {
		raw, err := os.ReadFile(filepath.Join(o.hosts, file))
		switch {
		case err == nil:
			data[key] = raw
		case !errors.Is(err, fs.ErrNotExist):
			return network.Settings{}, err
		}
	}
	settings := network.Settings{Keyfiles: map[string][]byte{}}
	if len(data) > 0 {
		var err error
		if settings, err = o.live.FromSecret(data); err != nil {
			return network.Settings{}, err
		}
	}
	keyfiles, err := readKeyfiles(filepath.Join(o.hosts, name))
	maps.Copy(settings.Keyfiles, keyfiles)
	return settings, err
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
