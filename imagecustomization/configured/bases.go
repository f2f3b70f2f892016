package configured

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/imagecustomization/hostprograms"
	"github.com/ironflow/ironflow/imagecustomization/media"
)

// Bases opens the folder of base images, and prepares the downloads of those that are listed; there is no mirror without a list.
func Bases(ctx context.Context, s v1alpha1.Images, dataDir string) (*media.Registry, *media.Mirror, error) {
	dir := s.BaseImage
	if s.BaseImageList != "" {
		if dir == "" {
			dir = filepath.Join(dataDir, "base")
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, nil, fmt.Errorf("folder of base images: %w; with a list, --base-image must be a folder", err)
		}
	}
	registry, err := media.Open(ctx, dir, media.Options{})
	if err != nil {
		return nil, nil, fmt.Errorf("base images: %w", err)
	}
	if s.BaseImageList == "" {
		return registry, nil, nil
	}
	// A list that cannot be read is a mistake of the operator, to be seen at once.
	if _, err := media.ReadList(s.BaseImageList); err != nil {
		return nil, nil, err
	}
	return registry, &media.Mirror{File: s.BaseImageList, Dir: dir, Registry: registry}, nil
}

// noPrograms as a setting keeps the host programs out of the images.
const noPrograms = "none"

// Programs makes the archives of the host programs, nil for none. Those beside the running program are taken where none are named.
func Programs(s v1alpha1.LiveSystem, dataDir string) (*hostprograms.Archives, error) {
	dir := s.HostPrograms
	if dir == noPrograms || s.AgentImage != "" {
		return nil, nil
	}
	if dir == "" {
		self, err := os.Executable()
		if err != nil {
			return nil, fmt.Errorf("find the folder of the host programs: %w", err)
		}
		if !hostprograms.Present(filepath.Dir(self)) {
			return nil, nil
		}
		dir = filepath.Dir(self)
	}
	archives, err := hostprograms.Open(dir, filepath.Join(dataDir, "programs"))
	if err != nil {
		return nil, err
	}
	if s.HostPrograms != "" && archives.Architectures() == 0 {
		return nil, fmt.Errorf("--host-programs %s holds no programs: put ironflow-agent and ironflow-step there, or those of other machines into folders like aarch64", dir)
	}
	return archives, nil
}
