package openshiftinstall

import (
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/ironflow/ironflow/hub/sources"
)

// Folders of a run: where the program's files are, its home, and what it writes for itself.
const (
	assetsFolder = "assets"
	homeFolder   = "home"
	tempFolder   = "tmp"
	// tlsFolder is below the first of them.
	tlsFolder = "tls"
)

// secretFile is the mode of files that hold secrets.
const secretFile = 0o600

// run runs the program in a folder of its own, which is gone afterwards.
func (s *Source) run(ctx context.Context, j *job) (made *sources.Made, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.Limits.Wall, errWall)
	defer cancel()
	dir, err := s.folders.begin()
	if err != nil {
		return nil, err
	}
	defer func() {
		if err = errors.Join(err, dir.end()); err != nil {
			made = nil
		}
	}()
	if err := dir.WriteFile(path.Join(assetsFolder, "install-config.yaml"), j.config, secretFile); err != nil {
		return nil, fmt.Errorf("openshift-install: write its install-config.yaml: %w", err)
	}
	if err := addCertificates(dir, j.certificates); err != nil {
		return nil, err
	}
	if err := s.command(ctx, dir, j, "create", "manifests"); err != nil {
		return nil, err
	}
	if err := addManifests(dir, j.manifests); err != nil {
		return nil, err
	}
	what := "ignition-configs"
	if j.inPlace {
		what = "single-node-ignition-config"
	}
	if err := s.command(ctx, dir, j, "create", what); err != nil {
		return nil, err
	}
	return results(dir, j)
}

// addCertificates puts those that were handed in where the program looks for its own.
func addCertificates(dir *folder, all map[string][]byte) error {
	for name, content := range all {
		file := path.Join(assetsFolder, tlsFolder, name)
		err := dir.MkdirAll(path.Dir(file), private)
		if err == nil {
			err = dir.WriteFile(file, content, secretFile)
		}
		if err != nil {
			return fmt.Errorf("openshift-install: add the certificate %s: %w", name, err)
		}
	}
	return nil
}

// addManifests puts the user's manifests beside those of the program. One of the same
// name replaces the program's own.
func addManifests(dir *folder, all []sources.Manifest) error {
	for _, m := range all {
		folder := path.Join(assetsFolder, m.Folder)
		if err := dir.MkdirAll(folder, private); err != nil {
			return fmt.Errorf("openshift-install: folder %s of the manifests: %w", m.Folder, err)
		}
		if err := dir.WriteFile(path.Join(folder, m.Name), m.Content, secretFile); err != nil {
			return fmt.Errorf("openshift-install: add the manifest %s/%s: %w", m.Folder, m.Name, err)
		}
	}
	return nil
}
