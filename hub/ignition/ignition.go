// Package ignition gives every host the Ignition configuration that its
// installed system starts with.
//
// Where configurations come from is behind [Source]. [Directory] reads files by
// role (master.ign, worker.ign, …) and falls back to a minimal one, so that a
// cluster needs no other tool. Whatever the source gives, [Render] adds the
// host's name and merges the user's override last.
package ignition

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path"

	"github.com/coreos/ignition/v2/config/v3_4"
	v3 "github.com/coreos/ignition/v2/config/v3_6"
	"github.com/coreos/ignition/v2/config/v3_6/types"
)

// ErrNone tells that the source has no such file.
var ErrNone = errors.New("no such Ignition file")

// maxFile bounds a file of the directory, in bytes.
const maxFile = 32 << 20

// Source gives Ignition files of a cluster by name: "master.ign",
// "bootstrap.ign" and so on. A file that does not exist is [ErrNone].
type Source interface {
	Role(ctx context.Context, clusterID, file string) ([]byte, error)
}

// Directory is a source that reads a folder: CLUSTER_ID/FILE first, then FILE,
// which serves every cluster. The zero value, or a nil root, has no files.
type Directory struct {
	// Root is the folder; files outside of it cannot be reached.
	Root *os.Root
}

// Role implements [Source].
func (d Directory) Role(_ context.Context, clusterID, file string) ([]byte, error) {
	if d.Root == nil {
		return nil, ErrNone
	}
	if file != path.Base(file) {
		return nil, fmt.Errorf("ignition file %q: want a name without folders", file)
	}
	for _, name := range []string{path.Join(clusterID, file), file} {
		f, err := d.Root.Open(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("ignition file %s: %w", file, err)
		}
		raw, err := io.ReadAll(io.LimitReader(f, maxFile+1))
		if err := errors.Join(err, f.Close()); err != nil {
			return nil, fmt.Errorf("ignition file %s: %w", name, err)
		}
		if len(raw) > maxFile {
			return nil, fmt.Errorf("ignition file %s: larger than %d MiB", name, maxFile>>20)
		}
		return raw, nil
	}
	return nil, fmt.Errorf("%s: %w", file, ErrNone)
}

// Host is what a host's own configuration depends on.
type Host struct {
	// ClusterID and Role pick the source's file.
	ClusterID, Role string
	// Hostname is written to /etc/hostname; empty leaves it to the system.
	Hostname string
	// SSHKey lets its owner log in as user core; used by the minimal configuration.
	SSHKey string
	// Override is Ignition JSON of any version up to 3.6, merged last.
	Override string
	// Pointer says who has the configuration of a host that joins an installed cluster;
	// used where the source has no file for the role. nil for nobody.
	Pointer *Pointer
}

// Render returns the host's configuration, in the oldest version of the
// specification that says all of it, 3.2 to 3.6.
func Render(ctx context.Context, source Source, h Host) ([]byte, error) {
	base, err := baseConfig(ctx, source, h)
	if err != nil {
		return nil, err
	}
	if h.Hostname != "" {
		base = v3.Merge(base, hostname(h.Hostname))
	}
	if h.Override != "" {
		override, err := parse([]byte(h.Override))
		if err != nil {
			return nil, fmt.Errorf("override of the host: %w", err)
		}
		base = v3.Merge(base, override)
	}
	return encode(base)
}

// parse reads a configuration of any version up to 3.6. What Ignition would drop from
// it is refused, see [dropped].
func parse(raw []byte) (types.Config, error) {
	config, report, err := v3.ParseCompatibleVersion(raw)
	if err != nil {
		return config, fmt.Errorf("%w: %s", err, report.String())
	}
	if err := dropped(report); err != nil {
		return config, err
	}
	keepAdvertisements(raw, config.Storage.Luks)
	return config, nil
}

// keepAdvertisements puts back what the library forgets when it translates version 3.4
// to 3.5: the advertisements of Tang servers, without which a disk is not encrypted offline.
func keepAdvertisements(raw []byte, volumes []types.Luks) {
	old, _, err := v3_4.Parse(raw)
	if err != nil {
		return // of another version
	}
	for i, luks := range old.Storage.Luks {
		for j, tang := range luks.Clevis.Tang {
			volumes[i].Clevis.Tang[j].Advertisement = tang.Advertisement
		}
	}
}

// Valid reports what is wrong with a user's Ignition; empty text is fine.
func Valid(text string) error {
	if text == "" {
		return nil
	}
	_, err := parse([]byte(text))
	return err
}

func baseConfig(ctx context.Context, source Source, h Host) (types.Config, error) {
	raw, err := source.Role(ctx, h.ClusterID, h.Role+".ign")
	if errors.Is(err, ErrNone) && h.Pointer != nil {
		return h.Pointer.config(), nil
	}
	if errors.Is(err, ErrNone) {
		return minimal(h), nil
	}
	if err != nil {
		return types.Config{}, err
	}
	config, err := parse(raw)
	if err != nil {
		return types.Config{}, fmt.Errorf("%s.ign: %w", h.Role, err)
	}
	return config, nil
}

// minimal is a system that boots, and that the owner of the key can log in to.
func minimal(h Host) types.Config {
	config := types.Config{Ignition: types.Ignition{Version: types.MaxVersion.String()}}
	if h.SSHKey != "" {
		config.Passwd.Users = []types.PasswdUser{{
			Name: "core", SSHAuthorizedKeys: []types.SSHAuthorizedKey{types.SSHAuthorizedKey(h.SSHKey)},
		}}
	}
	return config
}

func hostname(name string) types.Config {
	source := "data:," + url.PathEscape(name)
	return types.Config{
		Ignition: types.Ignition{Version: types.MaxVersion.String()},
		Storage: types.Storage{Files: []types.File{{
			Node: types.Node{Path: "/etc/hostname", Overwrite: new(true)},
			FileEmbedded1: types.FileEmbedded1{
				Contents: types.Resource{Source: &source}, Mode: new(0o644),
			},
		}}},
	}
}
