// Package releases knows which releases of OpenShift a hub offers.
//
// They come from a file in YAML or JSON, such as a mounted ConfigMap: the release
// images as existing hubs are configured with them, and optionally sources: channels
// of which an update service knows the releases. What the file names itself wins. The
// main type is [File]; without one there are none.
package releases

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/releases/versions"
	"github.com/ironflow/ironflow/hub/wire"
)

// maxFile bounds the file, in bytes.
const maxFile = 4 << 20

// Catalog is the file's content.
type Catalog struct {
	// Images are the releases, each for one version and architecture.
	Images wire.ReleaseImages `json:"release_images"`
	// Sources are channels whose releases [Service] is asked for.
	Sources wire.ReleaseSources `json:"release_sources"`
}

// File is a catalog that is read again when the file changes. The zero value has
// an empty catalog.
type File struct {
	// Path of the file.
	Path string
	// Service is asked for the releases of the file's sources, see [File.Run].
	Service Service

	mu      sync.Mutex
	read    time.Time
	size    int64
	catalog Catalog
	// asked is what the update service said last.
	asked wire.ReleaseImages
}

// Catalog returns the file's content, with the releases of its sources. Where the file
// has become unreadable, the error says why.
func (f *File) Catalog() (Catalog, error) {
	own, err := f.own()
	if err != nil || f == nil {
		return own, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(own.Sources) > 0 {
		own.Images = joined(own.Images, f.asked)
	}
	return own, nil
}

// own is the file's content alone.
func (f *File) own() (Catalog, error) {
	if f == nil || f.Path == "" {
		return Catalog{}, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	info, err := os.Stat(f.Path)
	if err != nil {
		return Catalog{}, fmt.Errorf("releases: %w", err)
	}
	if info.ModTime().Equal(f.read) && info.Size() == f.size {
		return f.catalog, nil
	}
	catalog, err := load(f.Path)
	if err != nil {
		return Catalog{}, err
	}
	f.catalog, f.read, f.size = catalog, info.ModTime(), info.Size()
	return catalog, nil
}

func load(path string) (c Catalog, err error) {
	file, err := os.Open(path)
	if err != nil {
		return c, fmt.Errorf("releases: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err := errors.Join(err, file.Close()); err != nil {
		return c, fmt.Errorf("releases %s: %w", path, err)
	}
	if len(raw) > maxFile {
		return c, fmt.Errorf("releases %s: larger than %d MiB", path, maxFile>>20)
	}
	if c, err = Parse(raw); err != nil {
		return c, fmt.Errorf("releases %s: %w", path, err)
	}
	return c, nil
}

// Parse reads a catalog: an object with release_images and release_sources, or a
// list of release images alone, as existing hubs take them.
func Parse(raw []byte) (Catalog, error) {
	var c Catalog
	if yaml.UnmarshalStrict(raw, &c.Images) != nil {
		c.Images = nil
		if err := yaml.UnmarshalStrict(raw, &c); err != nil {
			return Catalog{}, err
		}
	}
	for i, image := range c.Images {
		if image.Version == "" || image.URL == "" || image.OpenshiftVersion == "" || image.CPUArchitecture == "" {
			return Catalog{}, fmt.Errorf("release_images[%d]: openshift_version, version, cpu_architecture and url are required", i)
		}
	}
	return c, nil
}

// Versions returns the releases by version: those that begin with the given text,
// and of each 4.x only the newest if wanted.
func (c Catalog) Versions(begin string, onlyLatest bool) wire.OpenshiftVersions {
	out := wire.OpenshiftVersions{}
	for _, image := range c.Images {
		if !strings.HasPrefix(image.Version, begin) {
			continue
		}
		v := out[image.Version]
		v.DisplayName = image.Version
		v.SupportLevel = cmp.Or(v.SupportLevel, image.SupportLevel, levelOf(image.Version))
		v.Default = v.Default || image.Default
		v.CPUArchitectures = slices.Compact(slices.Sorted(slices.Values(append(v.CPUArchitectures, architectures(image)...))))
		out[image.Version] = v
	}
	if onlyLatest {
		keepLatest(out)
	}
	return out
}

// Find returns the release of a version, such as 4.20.1, or the newest one of a stream,
// such as 4.20, for an architecture. A release for several serves each of them.
func (c Catalog) Find(version, architecture string) (found wire.ReleaseImage, ok bool) {
	for _, image := range c.Images {
		fits := image.Version == version || image.OpenshiftVersion == version || stream(image.Version) == version
		serves := func(a string) bool { return sameArchitecture(a, architecture) }
		if !fits || !slices.ContainsFunc(architectures(image), serves) && !serves(image.CPUArchitecture) {
			continue
		}
		if !ok || before(found.Version, image.Version) {
			found, ok = image, true
		}
	}
	return found, ok
}

// sameArchitecture tells that both are words for the same one.
func sameArchitecture(a, b string) bool {
	arm := []string{wire.ReleaseImageCPUArchitectureAarch64, wire.ReleaseImageCPUArchitectureArm64}
	return a == b || slices.Contains(arm, a) && slices.Contains(arm, b)
}

func architectures(image wire.ReleaseImage) []string {
	if len(image.CPUArchitectures) > 0 {
		return image.CPUArchitectures
	}
	return []string{image.CPUArchitecture}
}

// levelOf is what the version says of itself: candidates have a dash in them.
func levelOf(version string) string {
	if strings.Contains(version, "-") {
		return wire.OpenshiftVersionSupportLevelBeta
	}
	return wire.OpenshiftVersionSupportLevelProduction
}

func keepLatest(all wire.OpenshiftVersions) {
	newest := map[string]string{}
	for version := range all {
		stream := stream(version)
		if have, ok := newest[stream]; !ok || before(have, version) {
			newest[stream] = version
		}
	}
	maps.DeleteFunc(all, func(version string, _ wire.OpenshiftVersion) bool { return newest[stream(version)] != version })
}

// stream is the release without its last number.
func stream(version string) string {
	parts := strings.SplitN(version, ".", 3)
	return strings.Join(parts[:min(2, len(parts))], ".")
}

// before orders versions; a candidate comes before its release.
func before(a, b string) bool {
	if versions.Older(a, b) || versions.Older(b, a) {
		return versions.Older(a, b)
	}
	_, candidateA, isA := strings.Cut(a, "-")
	_, candidateB, isB := strings.Cut(b, "-")
	if isA != isB {
		return isA
	}
	return candidateA < candidateB
}
