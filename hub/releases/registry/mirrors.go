package registry

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"sigs.k8s.io/yaml"
)

// Mirrors are where images are to be had instead of where their references say.
type Mirrors struct{ rules []rule }

// rule is for the images below one prefix.
type rule struct {
	prefix string
	// location takes the prefix's place at the source; blocked asks there never.
	location          string
	insecure, blocked bool
	mirrors           []mirror
}

type mirror struct {
	location          string
	insecure          bool
	noDigests, noTags bool
}

// place is one reference to try.
type place struct {
	image    string
	insecure bool
}

// repository is the image without tag and digest, as the library writes it.
func (p place) repository() string {
	text, _, _ := strings.Cut(p.image, "@")
	if i := strings.LastIndex(text, ":"); i > strings.LastIndex(text, "/") {
		text = text[:i]
	}
	return canonical(text)
}

// places are the references for an image, in the order in which they are tried. The
// rule with the longest prefix counts.
func (m Mirrors) places(image string) []place {
	best := -1
	for i, r := range m.rules {
		if r.covers(image) && (best < 0 || len(r.prefix) > len(m.rules[best].prefix)) {
			best = i
		}
	}
	if best < 0 {
		return []place{{image: image}}
	}
	r, digest := m.rules[best], strings.Contains(image, "@")
	var out []place
	for _, one := range r.mirrors {
		if digest && !one.noDigests || !digest && !one.noTags {
			out = append(out, place{r.moved(image, one.location), one.insecure})
		}
	}
	if !r.blocked {
		out = append(out, place{r.moved(image, r.location), r.insecure})
	}
	return out
}

// covers tells that the image is the prefix's, or below it. A prefix that begins with *.
// is for all hosts of a domain.
func (r rule) covers(image string) bool {
	if domain, ok := strings.CutPrefix(r.prefix, "*"); ok {
		host, _, _ := strings.Cut(image, "/")
		return strings.HasSuffix(host, domain)
	}
	rest, ok := strings.CutPrefix(image, r.prefix)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "/:@"))
}

func (r rule) moved(image, location string) string {
	if strings.HasPrefix(r.prefix, "*") {
		host, rest, _ := strings.Cut(image, "/")
		return cmp.Or(location, host) + "/" + rest
	}
	return cmp.Or(location, r.prefix) + strings.TrimPrefix(image, r.prefix)
}

// ParseMirrors reads registries.conf (version 2), or YAML documents of the kinds
// ImageContentSourcePolicy, ImageDigestMirrorSet and ImageTagMirrorSet. What it does not
// act upon is refused.
func ParseMirrors(raw []byte) (Mirrors, error) {
	if strings.TrimSpace(string(raw)) == "" {
		return Mirrors{}, nil
	}
	var head struct {
		Kind string `json:"kind"`
	}
	first, _, _ := strings.Cut(string(raw), "\n---\n")
	if yaml.Unmarshal([]byte(first), &head) == nil && (head.Kind != "" || strings.HasPrefix(string(raw), "---\n")) {
		return parseKinds(string(raw))
	}
	return parseConf(string(raw))
}

func parseConf(text string) (Mirrors, error) {
	var conf struct {
		Search   []string `toml:"unqualified-search-registries"`
		Short    string   `toml:"short-name-mode"`
		Registry []struct {
			Prefix     string `toml:"prefix"`
			Location   string `toml:"location"`
			Insecure   bool   `toml:"insecure"`
			Blocked    bool   `toml:"blocked"`
			DigestOnly bool   `toml:"mirror-by-digest-only"`
			Mirror     []struct {
				Location string `toml:"location"`
				Insecure bool   `toml:"insecure"`
				Pull     string `toml:"pull-from-mirror"`
			} `toml:"mirror"`
		} `toml:"registry"`
	}
	meta, err := toml.Decode(text, &conf)
	if err != nil {
		return Mirrors{}, fmt.Errorf("registries.conf: %w", err)
	}
	if rest := meta.Undecoded(); len(rest) > 0 {
		return Mirrors{}, fmt.Errorf("registries.conf: %s is not supported; remove it", rest[0])
	}
	var out Mirrors
	for i, r := range conf.Registry {
		one := rule{prefix: cmp.Or(r.Prefix, r.Location), location: r.Location, insecure: r.Insecure, blocked: r.Blocked}
		if one.prefix == "" {
			return Mirrors{}, fmt.Errorf("registries.conf: registry[%d] has neither prefix nor location", i)
		}
		for _, m := range r.Mirror {
			if m.Location == "" || !slices.Contains([]string{"", "all", "digest-only", "tag-only"}, m.Pull) {
				return Mirrors{}, fmt.Errorf("registries.conf: mirror of %s: want a location, and pull-from-mirror all, digest-only or tag-only", one.prefix)
			}
			one.mirrors = append(one.mirrors, mirror{m.Location, m.Insecure, m.Pull == "tag-only", r.DigestOnly || m.Pull == "digest-only"})
		}
		out.rules = append(out.rules, one)
	}
	return out, nil
}

// set is one entry of a kind.
type set struct {
	Source  string   `json:"source"`
	Mirrors []string `json:"mirrors"`
	Policy  string   `json:"mirrorSourcePolicy"`
}

func parseKinds(text string) (Mirrors, error) {
	var out Mirrors
	for i, document := range strings.Split("\n"+text, "\n---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		var object struct {
			Kind string `json:"kind"`
			Spec struct {
				Policy  []set `json:"repositoryDigestMirrors"`
				Digests []set `json:"imageDigestMirrors"`
				Tags    []set `json:"imageTagMirrors"`
			} `json:"spec"`
		}
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return Mirrors{}, fmt.Errorf("mirrors, document %d: %w", i+1, err)
		}
		if !slices.Contains([]string{"ImageContentSourcePolicy", "ImageDigestMirrorSet", "ImageTagMirrorSet"}, object.Kind) {
			return Mirrors{}, fmt.Errorf("mirrors, document %d: kind %q: want ImageContentSourcePolicy, ImageDigestMirrorSet or ImageTagMirrorSet", i+1, object.Kind)
		}
		for _, s := range slices.Concat(object.Spec.Policy, object.Spec.Digests) {
			if err := out.add(s, mirror{noTags: true}); err != nil {
				return Mirrors{}, err
			}
		}
		for _, s := range object.Spec.Tags {
			if err := out.add(s, mirror{noDigests: true}); err != nil {
				return Mirrors{}, err
			}
		}
	}
	return out, nil
}

// add adds the mirrors of an entry to those of its source.
func (m *Mirrors) add(s set, like mirror) error {
	if s.Source == "" {
		return errors.New("mirrors: an entry has no source")
	}
	if !slices.Contains([]string{"", "AllowContactingSource", "NeverContactSource"}, s.Policy) {
		return fmt.Errorf("mirrors of %s: mirrorSourcePolicy %q: want AllowContactingSource or NeverContactSource", s.Source, s.Policy)
	}
	i := slices.IndexFunc(m.rules, func(r rule) bool { return r.prefix == s.Source })
	if i < 0 {
		m.rules = append(m.rules, rule{prefix: s.Source})
		i = len(m.rules) - 1
	}
	m.rules[i].blocked = m.rules[i].blocked || s.Policy == "NeverContactSource"
	for _, location := range s.Mirrors {
		like.location = location
		m.rules[i].mirrors = append(m.rules[i].mirrors, like)
	}
	return nil
}
