package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/ironflow/ironflow/api/hostfile"
)

// registriesFile is where the host's container tools are told of mirrors (containers-registries.conf(5)).
const registriesFile = "/etc/containers/registries.conf"

// Source is a repository that may have a release image.
type Source struct {
	// Repository is the registry with the path, without tag and digest.
	Repository string
	// Insecure tells that no certificate is verified there, and that it may speak without TLS.
	Insecure bool
}

// lookUp tells what a release image is, from where the host would pull it.
func (c *Client) lookUp(ctx context.Context, image, pullSecret string) (version, architecture string, err error) {
	ref, err := parse(image)
	if err != nil {
		return "", "", err
	}
	if version, architecture, told := ref.release(); told { // without a word of its mirrors
		return version, architecture, nil
	}
	sources, err := Sources(c.Dir, image, c.Settings.Mirror)
	if err != nil {
		return "", "", err
	}
	return c.Releases.Look(ctx, image, sources, pullSecret)
}

// Sources are where the image may come from on the host below dir, in the order of its registries.conf: mirrors first,
// then where the image's name says. A mirror that the file does not have is asked before all.
func Sources(dir hostfile.Dir, image, mirror string) ([]Source, error) {
	ref, err := parse(image)
	if err != nil {
		return nil, err
	}
	raw, err := os.ReadFile(dir.Path(registriesFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	sources, err := configured(raw, ref)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", registriesFile, err)
	}
	if mirror != "" {
		other, err := parse(mirror)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", mirrorEnv, err)
		}
		if !slices.ContainsFunc(sources, func(s Source) bool { return s.Repository == other.repository() }) {
			sources = slices.Insert(sources, 0, Source{Repository: other.repository()})
		}
	}
	if len(sources) == 0 {
		return nil, fmt.Errorf("%s blocks %s, and has no mirror of it", registriesFile, ref.repository())
	}
	return sources, nil
}

// location is a registry, or a mirror of one, in registries.conf.
type location struct {
	Prefix     string     `toml:"prefix"`
	Location   string     `toml:"location"`
	Insecure   bool       `toml:"insecure"`
	Blocked    bool       `toml:"blocked"`
	DigestOnly bool       `toml:"mirror-by-digest-only"`
	Pull       string     `toml:"pull-from-mirror"`
	Mirrors    []location `toml:"mirror"`
}

// configured are the sources that a registries.conf says; of all entries for an image, that with the longest prefix counts.
func configured(conf []byte, ref reference) ([]Source, error) {
	var c struct {
		Registries []location `toml:"registry"`
	}
	if err := toml.Unmarshal(conf, &c); err != nil {
		return nil, err
	}
	var best *location
	for i := range c.Registries {
		r := &c.Registries[i]
		if r.Prefix = cmp.Or(r.Prefix, r.Location); r.covers(ref) && (best == nil || len(r.Prefix) > len(best.Prefix)) {
			best = r
		}
	}
	if best == nil {
		return []Source{{Repository: ref.repository()}}, nil
	}
	var out []Source
	for _, m := range best.Mirrors {
		digests, tags := m.Pull != "tag-only", m.Pull != "digest-only" && !best.DigestOnly
		if ref.digest != "" && digests || ref.digest == "" && tags {
			out = append(out, Source{best.moved(ref, m.Location), m.Insecure})
		}
	}
	if !best.Blocked {
		out = append(out, Source{best.moved(ref, best.Location), best.Insecure})
	}
	return out, nil
}

// covers tells that the image lies below the prefix: a registry, a folder, a name, or all hosts of a domain (*.example.com).
func (l *location) covers(ref reference) bool {
	if domain, wild := strings.CutPrefix(l.Prefix, "*"); wild {
		host, _, _ := strings.Cut(ref.host, ":")
		return strings.HasSuffix(host, domain)
	}
	rest, found := strings.CutPrefix(ref.repository(), l.Prefix)
	return found && l.Prefix != "" && (rest == "" || rest[0] == '/' || rest[0] == ':')
}

// moved is the image's repository with the location in the prefix's place.
func (l *location) moved(ref reference, to string) string {
	if strings.HasPrefix(l.Prefix, "*") {
		return cmp.Or(to, ref.host) + "/" + ref.path
	}
	return cmp.Or(to, l.Prefix) + strings.TrimPrefix(ref.repository(), l.Prefix)
}
