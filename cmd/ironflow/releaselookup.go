package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/releases/registry"
)

// releaseDesk checks the settings and returns what finds out releases, until ctx ends.
func releaseDesk(ctx context.Context, c v1alpha1.HubReleases, list *releases.File) (*lookup.Desk, error) {
	mode := cmp.Or(lookup.Mode(c.Lookup), lookup.Needed)
	if !slices.Contains(lookup.Modes, mode) {
		return nil, fmt.Errorf("--hub-release-lookup %.40q: want one of %q", c.Lookup, lookup.Modes)
	}
	site := &siteReader{files: releaseFiles{mirrors: c.MirrorsFile, ca: c.CAFile}}
	if _, err := site.current(); err != nil {
		return nil, fmt.Errorf("--hub-release-mirrors, --hub-release-ca: %w", err)
	}
	return &lookup.Desk{List: list, Mode: mode, Reader: site, Context: ctx}, nil
}

// siteReader reads releases as the site's files say now.
type siteReader struct {
	files releaseFiles

	mu     sync.Mutex
	text   string
	reader *registry.Reader
}

// current is the reader of the files; as long as they are as they were it is the same, which keeps what was read.
func (s *siteReader) current() (*registry.Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts, err := s.files.read()
	if err != nil {
		return nil, err
	}
	text := strings.Join([]string{string(texts.mirrors), string(texts.ca)}, "\x00")
	if s.reader == nil || text != s.text {
		reader, err := texts.reader()
		if err != nil {
			return nil, err
		}
		s.text, s.reader = text, reader
	}
	return s.reader, nil
}

// Release implements [lookup.Reader].
func (s *siteReader) Release(ctx context.Context, image, pullSecret string) (registry.Release, error) {
	reader, err := s.current()
	if file, is := errors.AsType[*fs.PathError](err); is {
		err = file.Err // users of the hub are not told its paths
	}
	if err != nil {
		return registry.Release{}, fmt.Errorf("the hub's --hub-release-mirrors or --hub-release-ca: %w", err)
	}
	return reader.Release(ctx, image, pullSecret)
}
