package images

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/media"
)

// kept is what is known of the state directory's files, by name.
type kept struct {
	mu    sync.Mutex
	files map[string]keptSpec
}

// keptSpec is one state of one file, and what became of it.
type keptSpec struct {
	key      string
	modified time.Time
	size     int64
	// arch and version choose the medium, which is nil where none fits.
	arch, version string
	medium        *media.Medium
	// again tells that the image could not be built, for a reason that may pass.
	again bool
}

// CatchUp takes over what another replica has changed in the state directory since
// the last call: new images, changed ones, and those that were revoked. Images whose
// medium is another one by now, or has come at last, are made anew, as their owner does it:
// the file stays the same then. It is for replicas that do not put images themselves. A spec
// that cannot be built is skipped: its owner puts it again and learns the reason.
func (s *Store) CatchUp(ctx context.Context) error {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	entries, err := os.ReadDir(s.options.StateDir)
	if err != nil {
		return fmt.Errorf("state of the image server: %w", err)
	}
	files, selected := map[string]keptSpec{}, s.selection()
	for _, entry := range entries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if !strings.HasSuffix(entry.Name(), ".json") {
			continue
		}
		spec, err := s.takeOver(ctx, entry, selected)
		switch {
		case errors.Is(err, fs.ErrNotExist): // revoked since the folder was read
		case err != nil:
			return fmt.Errorf("state of the image server: %w", err)
		default:
			files[entry.Name()] = spec
		}
	}
	for name, spec := range s.kept.files {
		if _, there := files[name]; !there && spec.key != "" {
			s.revoke(spec.key)
		}
	}
	s.kept.files = files
	return nil
}

// selection finds the medium of an architecture and version, once for all images.
func (s *Store) selection() func(ctx context.Context, arch, version string) *media.Medium {
	known := map[[2]string]*media.Medium{}
	return func(ctx context.Context, arch, version string) *media.Medium {
		key := [2]string{arch, version}
		m, is := known[key]
		if !is {
			m, _ = s.options.Media.Select(ctx, arch, version) // nil where none fits
			known[key] = m
		}
		return m
	}
}

// takeOver puts the image of a file, unless file and medium are known as they are.
func (s *Store) takeOver(ctx context.Context, entry fs.DirEntry, selected func(ctx context.Context, arch, version string) *media.Medium) (keptSpec, error) {
	info, err := entry.Info()
	if err != nil {
		return keptSpec{}, err
	}
	now := keptSpec{modified: info.ModTime(), size: info.Size()}
	if before := s.kept.files[entry.Name()]; before.modified.Equal(now.modified) && before.size == now.size {
		if before.key == "" || !before.again && before.medium == selected(ctx, before.arch, before.version) {
			return before, nil
		}
	}
	raw, err := os.ReadFile(filepath.Join(s.options.StateDir, entry.Name()))
	if err != nil {
		return keptSpec{}, err
	}
	var spec Spec
	if json.Unmarshal(raw, &spec) != nil {
		return now, nil //nolint:nilerr // not a spec, or half of one: whoever wrote it writes it again
	}
	now.key, now.arch, now.version, now.medium = spec.Key, spec.Arch, spec.Version, selected(ctx, spec.Arch, spec.Version)
	b, revisions, err := s.build(ctx, spec)
	switch {
	case err == nil: // not saved: the file is its owner's, who may have changed it by now
		s.add(spec, b, revisions)
	case ctx.Err() != nil:
		return keptSpec{}, context.Cause(ctx)
	default:
		now.again = !errors.Is(err, ErrBadSpec) && !errors.Is(err, ErrUnsupported) && !errors.Is(err, media.ErrNoMedium)
	}
	return now, nil
}
