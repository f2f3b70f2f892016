package configured

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/releases/registry"
)

// ReleaseFiles are what a site has to reach its registries.
type ReleaseFiles struct{ PullSecret, Mirrors, CA string }

// ReleaseTexts are the contents of these files; empty where none is named.
type ReleaseTexts struct{ PullSecret, Mirrors, CA []byte }

// Read reads those that are named.
func (f ReleaseFiles) Read() (texts ReleaseTexts, err error) {
	var problems []error
	for _, file := range []struct {
		path string
		text *[]byte
	}{{f.PullSecret, &texts.PullSecret}, {f.Mirrors, &texts.Mirrors}, {f.CA, &texts.CA}} {
		if file.path == "" {
			continue
		}
		*file.text, err = os.ReadFile(file.path)
		problems = append(problems, err)
	}
	return texts, errors.Join(problems...)
}

// Reader makes the reader of releases.
func (t ReleaseTexts) Reader() (*registry.Reader, error) {
	mirrors, err := registry.ParseMirrors(t.Mirrors)
	if err != nil {
		return nil, fmt.Errorf("mirrors: %w", err)
	}
	return &registry.Reader{Mirrors: mirrors, CA: t.CA}, nil
}

// Releases are those of the site's file, or of its update service.
func Releases(c v1alpha1.HubReleases) (*releases.File, error) {
	if u, err := url.Parse(c.UpdateService); c.UpdateService != "" && (err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http") {
		return nil, fmt.Errorf("--hub-update-service %q is not a URL such as https://host/graph", c.UpdateService)
	}
	list := &releases.File{Path: c.File, Service: releases.Service{URL: c.UpdateService}}
	if _, err := list.Catalog(); err != nil {
		return nil, fmt.Errorf("--hub-releases-file: %w", err)
	}
	return list, nil
}

// ReleaseFinder checks the settings and returns what finds out releases, until ctx ends.
func ReleaseFinder(ctx context.Context, c v1alpha1.HubReleases, list *releases.File) (*lookup.Finder, error) {
	mode := cmp.Or(lookup.Mode(c.Lookup), lookup.Needed)
	if !slices.Contains(lookup.Modes, mode) {
		return nil, fmt.Errorf("--hub-release-lookup %.40q: want one of %q", c.Lookup, lookup.Modes)
	}
	site := &siteReader{files: ReleaseFiles{Mirrors: c.MirrorsFile, CA: c.CAFile}}
	if _, err := site.current(); err != nil {
		return nil, fmt.Errorf("--hub-release-mirrors, --hub-release-ca: %w", err)
	}
	return &lookup.Finder{List: list, Mode: mode, Reader: site, Context: ctx}, nil
}

// siteReader reads releases as the site's files say now.
type siteReader struct {
	files ReleaseFiles

	mu     sync.Mutex
	text   string
	reader *registry.Reader
}

// current is the reader of the files; as long as they are as they were it is the same, which keeps what was read.
func (s *siteReader) current() (*registry.Reader, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	texts, err := s.files.Read()
	if err != nil {
		return nil, err
	}
	text := strings.Join([]string{string(texts.Mirrors), string(texts.CA)}, "\x00")
	if s.reader == nil || text != s.text {
		reader, err := texts.Reader()
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
