package media

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"sigs.k8s.io/yaml"
)

// List is the configuration of media that are downloaded, a YAML file:
//
//	images:
//	- url: https://mirror.example.com/live-42.x86_64.iso
//	  sha256: 0123…
//	  architecture: x86_64   # optional, else taken from the medium
//	  version: "42.1"        # optional, else taken from the medium
//	  openshiftVersion: "4.18"   # optional, for clients that ask by it
//	  nmstatectl: true           # optional, else what is known of the medium's label
//	headers: {Authorization: Bearer …}   # optional, sent with every request
//	caFile: /etc/ironflow/mirror-ca.crt  # optional, beside the system's CAs
type List struct {
	// Images are the media, in any order.
	Images []Remote `json:"images"`
	// Headers are sent with every request.
	Headers map[string]string `json:"headers,omitempty"`
	// CAFile is a PEM bundle to verify the servers with.
	CAFile string `json:"caFile,omitempty"`
}

// ReadList reads a configuration. Errors name the entry and the field.
func ReadList(file string) (List, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return List{}, fmt.Errorf("list of base images: %w", err)
	}
	var l List
	if err := yaml.UnmarshalStrict(raw, &l); err != nil {
		return List{}, fmt.Errorf("list of base images %s: %w", file, err)
	}
	var problems []error
	names := map[string]bool{}
	for i, image := range l.Images {
		name, err := image.FileName()
		if err == nil && image.Architecture != "" && !slices.Contains(Architectures(), NormalArch(image.Architecture)) {
			err = fmt.Errorf("architecture %q is none of %v", image.Architecture, Architectures())
		}
		if err == nil && names[name] {
			err = fmt.Errorf("the file name %s appears twice, set file", name)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("images[%d]: %w", i, err))
		}
		names[name] = true
	}
	if len(problems) > 0 {
		return List{}, fmt.Errorf("list of base images %s: %w", file, errors.Join(problems...))
	}
	return l, nil
}

// Downloader returns what fetches the list's media into dir.
func (l List) Downloader(dir string) (*Downloader, error) {
	d := &Downloader{Dir: dir, Header: http.Header{}}
	for k, v := range l.Headers {
		d.Header.Set(k, v)
	}
	if l.CAFile == "" {
		return d, nil
	}
	var err error
	if d.CA, err = os.ReadFile(filepath.Clean(l.CAFile)); err != nil {
		return nil, fmt.Errorf("CA of base images: %w", err)
	}
	return d, nil
}
