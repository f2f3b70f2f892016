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

	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/releases/registry"
)

// releaseLookup says how the hub finds out which release an image is.
type releaseLookup struct {
	mode  string
	files releaseFiles
}

func (l *releaseLookup) settings() []setting {
	return []setting{
		{"hub-release-lookup", "IRONFLOW_HUB_RELEASE_LOOKUP", string(lookup.Needed), "which release images the hub reads from their registry, with the cluster's pull secret: needed, those of which neither --hub-releases-file nor the user nor the tag says the version; always, all that are not in that file; never, none", text(&l.mode)},
		{"hub-release-mirrors", "IRONFLOW_HUB_RELEASE_MIRRORS", "", "file with the mirrors that release images are read from: registries.conf, or an ImageDigestMirrorSet or ImageContentSourcePolicy; read again when it changes", text(&l.files.mirrors)},
		{"hub-release-ca", "IRONFLOW_HUB_RELEASE_CA", "", "PEM file with the authorities that these registries are trusted for beside the system's; read again when it changes", text(&l.files.ca)},
	}
}

// desk checks the settings and returns what finds out releases, until ctx ends.
func (l *releaseLookup) desk(ctx context.Context, list *releases.File) (*lookup.Desk, error) {
	mode := cmp.Or(lookup.Mode(l.mode), lookup.Needed)
	if !slices.Contains(lookup.Modes, mode) {
		return nil, fmt.Errorf("--hub-release-lookup %.40q: want one of %q", l.mode, lookup.Modes)
	}
	site := &siteReader{files: l.files}
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
