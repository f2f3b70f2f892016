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
)

// kept is what is known of the state directory's files, by name.
type kept struct {
	mu    sync.Mutex
	files map[string]keptSpec
}

// keptSpec is one state of one file.
type keptSpec struct {
	key      string
	modified time.Time
	size     int64
}

// CatchUp takes over what another replica has changed in the state directory since
// the last call: new images, changed ones, and those that were revoked. It is for
// replicas that do not put images themselves. A spec that cannot be built is
// skipped: its owner puts it again and learns the reason.
func (s *Store) CatchUp(ctx context.Context) error {
	s.kept.mu.Lock()
	defer s.kept.mu.Unlock()
	entries, err := os.ReadDir(s.options.StateDir)
	if err != nil {
		return fmt.Errorf("state of the image server: %w", err)
	}
	files := map[string]keptSpec{}
	for _, entry := range entries {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if !strings.HasSuffix(entry.Name(), ".json") {
			continue
		}
		spec, err := s.takeOver(ctx, entry)
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

// takeOver puts the image of a file, unless the file is known as it is.
func (s *Store) takeOver(ctx context.Context, entry fs.DirEntry) (keptSpec, error) {
	info, err := entry.Info()
	if err != nil {
		return keptSpec{}, err
	}
	now := keptSpec{modified: info.ModTime(), size: info.Size()}
	if before := s.kept.files[entry.Name()]; before.modified.Equal(now.modified) && before.size == now.size {
		return before, nil
	}
	raw, err := os.ReadFile(filepath.Join(s.options.StateDir, entry.Name()))
	if err != nil {
		return keptSpec{}, err
	}
	var spec Spec
	if json.Unmarshal(raw, &spec) != nil {
		return now, nil //nolint:nilerr // not a spec, or half of one: whoever wrote it writes it again
	}
	now.key = spec.Key
	b, revisions, err := s.build(ctx, spec)
	switch {
	case err == nil: // not saved: the file is its owner's, who may have changed it by now
		s.add(spec, b, revisions)
	case ctx.Err() != nil:
		return keptSpec{}, context.Cause(ctx)
	}
	return now, nil
}
