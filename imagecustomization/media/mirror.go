package media

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
)

// manifestName is the file in which a mirror remembers what it downloaded, so
// that it never removes a medium that somebody else put into the folder.
const manifestName = ".ironflow-downloads.json"

// Mirror keeps the media of a [List] in the folder of a registry: it downloads
// what is listed, and removes what it downloaded and is listed no more.
type Mirror struct {
	// File is the list.
	File string
	// Dir is the registry's folder.
	Dir string
	// Registry learns about new and gone media.
	Registry *Registry
	// Configure, unless nil, changes each downloader before its use.
	Configure func(*Downloader)

	mu     sync.Mutex
	failed []string
}

// Sync reads the list and does what it takes. Media that cannot be downloaded
// are named by the error and do not keep the others away; so Sync may be called
// again and again, e.g. once a minute. They are kept for [Mirror.Failed] and [Failures].
func (m *Mirror) Sync(ctx context.Context) error {
	problems := m.sync(ctx)
	if ctx.Err() == nil {
		problems = append(problems, m.note(problems))
	}
	return errors.Join(problems...)
}

// sync does what the list takes, and returns what did not succeed.
func (m *Mirror) sync(ctx context.Context) []error {
	list, err := ReadList(m.File)
	if err != nil {
		return []error{err}
	}
	downloader, err := list.Downloader(m.Dir)
	if err != nil {
		return []error{err}
	}
	downloader.Known = m.Registry.holds
	if m.Configure != nil {
		m.Configure(downloader)
	}
	described := map[string]Description{}
	for _, image := range list.Images {
		name, err := image.FileName()
		if err != nil {
			return []error{err}
		}
		described[name] = Description{
			SHA256: image.SHA256, Arch: NormalArch(image.Architecture), Version: image.Version, OpenShiftVersion: image.OpenShiftVersion,
			Nmstatectl: said(image.Nmstatectl),
		}
	}
	m.Registry.Describe(described)
	problems := []error{m.removeOthers(described), m.Registry.Rescan(ctx)}
	for _, image := range list.Images {
		path, fetched, err := downloader.Fetch(ctx, image)
		if fetched {
			err = m.remember(filepath.Base(path))
		}
		if err == nil {
			err = m.Registry.Rescan(ctx)
		}
		if ctx.Err() != nil {
			return []error{context.Cause(ctx)}
		}
		problems = append(problems, err)
	}
	return problems
}

// said is what somebody says about a medium, "" for nothing.
func said(value *bool) string {
	if value == nil {
		return ""
	}
	return strconv.FormatBool(*value)
}

// removeOthers removes downloads that are not wanted any more. Images over one
// keep working as long as the program runs, because its file stays open.
func (m *Mirror) removeOthers(wanted map[string]Description) error {
	have, err := m.manifest()
	if err != nil {
		return err
	}
	var problems []error
	for name := range have {
		if _, listed := wanted[name]; listed {
			continue
		}
		if err := os.Remove(filepath.Join(m.Dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			problems = append(problems, fmt.Errorf("remove a base image that is listed no more: %w", err))
			continue
		}
		delete(have, name)
		problems = append(problems, m.write(have))
	}
	return errors.Join(problems...)
}

func (m *Mirror) remember(name string) error {
	have, err := m.manifest()
	if err != nil || have[name] {
		return err
	}
	have[name] = true
	return m.write(have)
}

// manifest returns the names of what was downloaded.
func (m *Mirror) manifest() (map[string]bool, error) {
	raw, err := os.ReadFile(filepath.Join(m.Dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]bool{}, nil
	}
	var names []string
	if err == nil {
		err = json.Unmarshal(raw, &names)
	}
	if err != nil {
		return nil, fmt.Errorf("notes about downloaded base images: %w", err)
	}
	have := map[string]bool{}
	for _, name := range names {
		if name == filepath.Base(name) {
			have[name] = true
		}
	}
	return have, nil
}

func (m *Mirror) write(have map[string]bool) error {
	raw, err := json.Marshal(slices.Sorted(maps.Keys(have)))
	if err != nil {
		return err
	}
	tmp := filepath.Join(m.Dir, manifestName+".new")
	if err := os.WriteFile(tmp, raw, 0o600); err != nil {
		return fmt.Errorf("notes about downloaded base images: %w", err)
	}
	return os.Rename(tmp, filepath.Join(m.Dir, manifestName))
}
