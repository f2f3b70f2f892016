package registry

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

const (
	// references and metadata are the files that make an image a release.
	references, metadata = "release-manifests/image-references", "release-manifests/release-metadata"
	// maxFile and maxLayer bound what is read of one of them, and of a layer, in bytes.
	maxFile, maxLayer = 8 << 20, 1 << 30
	// maxLayers bounds the layers of an image.
	maxLayers = 128
)

// contents reads the release's files. They are in one of its last layers; a layer is
// read to its end, because only then its digest is known to be right.
func contents(image v1.Image, out *Release) error {
	layers, err := image.Layers()
	if err != nil {
		return err
	}
	if len(layers) > maxLayers {
		return fmt.Errorf("it has more than %d layers", maxLayers)
	}
	files := map[string][]byte{}
	for _, layer := range slices.Backward(layers) {
		if err := readLayer(layer, files); err != nil {
			return err
		}
		if len(files) == 2 { //nolint:mnd // both of them
			return parse(files, out)
		}
	}
	return fmt.Errorf("it is no release image: it has no /%s or no /%s", references, metadata)
}

// readLayer adds the files of a layer that no later one had.
func readLayer(layer v1.Layer, files map[string][]byte) (err error) {
	stream, err := layer.Uncompressed()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	limited := &io.LimitedReader{R: stream, N: maxLayer}
	for archive := tar.NewReader(limited); ; {
		header, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			_, err := io.Copy(io.Discard, limited)
			return err
		case limited.N <= 0:
			return fmt.Errorf("a layer is larger than %d MiB", maxLayer>>20)
		case err != nil:
			return fmt.Errorf("layer: %w", err)
		}
		file := path.Clean("/" + header.Name)[1:]
		if file != references && file != metadata || files[file] != nil || header.Typeflag != tar.TypeReg {
			continue
		}
		if header.Size > maxFile {
			return fmt.Errorf("/%s is larger than %d MiB", file, maxFile>>20)
		}
		if files[file], err = io.ReadAll(archive); err != nil {
			return fmt.Errorf("/%s: %w", file, err)
		}
	}
}

func parse(files map[string][]byte, out *Release) error {
	var about struct {
		Kind    string `json:"kind"`
		Version string `json:"version"`
	}
	if err := json.Unmarshal(files[metadata], &about); err != nil {
		return fmt.Errorf("/%s: %w", metadata, err)
	}
	var list struct {
		Spec struct {
			Tags []struct {
				Name string `json:"name"`
				From struct {
					Name string `json:"name"`
				} `json:"from"`
			} `json:"tags"`
		} `json:"spec"`
	}
	if err := json.Unmarshal(files[references], &list); err != nil {
		return fmt.Errorf("/%s: %w", references, err)
	}
	if about.Version == "" || len(list.Spec.Tags) == 0 {
		return errors.New("it is no release image: it says no version, or names no images")
	}
	out.Version, out.Images = about.Version, make(map[string]string, len(list.Spec.Tags))
	for _, tag := range list.Spec.Tags {
		out.Images[tag.Name] = tag.From.Name
	}
	return nil
}
