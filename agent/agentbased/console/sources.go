package console

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/BurntSushi/toml"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Source is a registry that may have the release.
type Source struct {
	// Registry is its host, with a port where it has one.
	Registry string
	// Insecure registries need no valid certificate.
	Insecure bool
}

// registries is where the host's container tools are told of mirrors.
const registries = "/etc/containers/registries.conf"

// Release reads which release this host will install, and where it may come from: mirrors
// first, as container tools do.
func Release(dir hostfile.Dir) (image string, sources []Source, err error) {
	raw, err := os.ReadFile(dir.Path(places.ClusterImageSet))
	if err != nil {
		return "", nil, err
	}
	var set struct {
		Spec struct {
			ReleaseImage string `json:"releaseImage"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(raw, &set); err != nil {
		return "", nil, fmt.Errorf("%s: %w", places.ClusterImageSet, err)
	}
	image = set.Spec.ReleaseImage
	if host(image) == "" {
		return "", nil, fmt.Errorf("%s: spec.releaseImage %q does not name a registry", places.ClusterImageSet, image)
	}
	raw, err = os.ReadFile(dir.Path(registries))
	if errors.Is(err, fs.ErrNotExist) {
		return image, []Source{{Registry: host(image)}}, nil
	}
	if err != nil {
		return "", nil, err
	}
	sources, err = mirrors(raw, image)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", registries, err)
	}
	return image, sources, nil
}

// place is a registry, or a mirror of one, in registries.conf.
type place struct {
	Prefix   string  `toml:"prefix"`
	Location string  `toml:"location"`
	Insecure bool    `toml:"insecure"`
	Blocked  bool    `toml:"blocked"`
	Mirrors  []place `toml:"mirror"`
}

// mirrors finds where an image comes from by containers-registries.conf(5): the entry with
// the longest prefix of it counts.
func mirrors(conf []byte, image string) ([]Source, error) {
	var c struct {
		Registries []place `toml:"registry"`
	}
	if err := toml.Unmarshal(conf, &c); err != nil {
		return nil, err
	}
	var best *place
	longest := 0
	for i, r := range c.Registries {
		prefix := r.Prefix
		if prefix == "" {
			prefix = r.Location
		}
		if n := len(prefix); n > longest && covers(prefix, image) {
			best, longest = &c.Registries[i], n
		}
	}
	if best == nil {
		return []Source{{Registry: host(image)}}, nil
	}
	var sources []Source
	for _, m := range best.Mirrors {
		sources = append(sources, Source{host(m.Location + "/"), m.Insecure})
	}
	own := best.Location
	if own == "" {
		own = image
	}
	if !best.Blocked {
		sources = append(sources, Source{host(own + "/"), best.Insecure})
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("it blocks %s, and has no mirror of it", image)
	}
	return sources, nil
}

// covers tells whether an image lies below a prefix: a registry, a folder, a name, or all
// hosts of a domain (*.example.com).
func covers(prefix, image string) bool {
	if domain, wild := strings.CutPrefix(prefix, "*"); wild {
		return strings.HasSuffix(strings.Split(host(image), ":")[0], domain)
	}
	rest, found := strings.CutPrefix(image, prefix)
	return found && (rest == "" || strings.ContainsAny(rest[:1], "/:@"))
}

// host is the registry in the name of an image; empty for none.
func host(image string) string {
	registry, _, found := strings.Cut(image, "/")
	if !found {
		return ""
	}
	return registry
}
