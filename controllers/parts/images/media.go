package images

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/controllers/selfcheck"
	"github.com/ironflow/ironflow/imagecustomization/media"
)

// LookAtMedia opens the base images for a moment, as the image server does.
func LookAtMedia(ctx context.Context, s *v1alpha1.IronflowConfiguration) (selfcheck.BaseImages, error) {
	place := mediaPlace(s)
	if place == "" {
		return selfcheck.BaseImages{}, errors.New("none is set: neither --base-image nor --base-image-list")
	}
	registry, err := media.Open(ctx, place, media.Options{})
	if err != nil {
		return selfcheck.BaseImages{}, err
	}
	b := baseImages(registry, place, s.Images.BaseImageList)
	if b.List != "" {
		b.Failed, err = media.Failures(place) // the program beside this one downloads them
	}
	return b, err
}

// mediaPlace is the file or folder of base images; empty if none is set.
func mediaPlace(s *v1alpha1.IronflowConfiguration) string {
	if s.Images.BaseImage == "" && s.Images.BaseImageList != "" {
		return filepath.Join(s.Store.DataDir, "base")
	}
	return s.Images.BaseImage
}

// baseImages are those of a registry in the terms of the check.
func baseImages(registry *media.Registry, place, list string) selfcheck.BaseImages {
	b := selfcheck.BaseImages{Place: place, List: list, Broken: registry.Problems()}
	for _, m := range registry.List() {
		b.Usable = append(b.Usable, strings.TrimSpace(m.Arch+" "+m.Version))
	}
	return b
}

// lookAtMedia are the base images as the image server has them.
func (p *Part) lookAtMedia(context.Context) (selfcheck.BaseImages, error) {
	b := baseImages(p.served.Media, mediaPlace(&p.Settings), p.Settings.Images.BaseImageList)
	b.Failed = p.served.FailedBases()
	return b, nil
}
