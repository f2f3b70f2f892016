package image

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/api/names"
)

// source is where images come from instead of where their names say, as an install-config
// has it.
type source struct {
	Source  string   `json:"source"`
	Mirrors []string `json:"mirrors"`
}

// Fields of an install-config with such sources.
const (
	digestSources  = "imageDigestSources"
	contentSources = "imageContentSources"
)

// mirrors gives the live system, and with it the hub, the mirrors that the cluster will
// have, unless the folder has a registries.conf of its own.
func (r *reading) mirrors(d *manifests.Draft) {
	var all []source
	read := func(raw []byte, at manifests.Document, path string) {
		var list []source
		if len(raw) == 0 {
			return
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			at.Wrong(path, "is no list of mirrors: write source and mirrors, a list, for each")
		}
		for i, s := range list {
			for _, text := range append([]string{s.Source}, s.Mirrors...) {
				if text == "" || strings.ContainsAny(text, " \t\r\n\"'\\") || strings.Contains(text, "://") {
					at.Wrong(fmt.Sprintf("%s[%d]", path, i), "has %.80q: write a registry with the path of images, such as registry.example/release", text)
				}
			}
		}
		all = append(all, list...)
	}
	switch {
	case d.Install != nil:
		for path, free := range map[string]manifests.Free{digestSources: d.Install.DigestSources, contentSources: d.Install.ContentSources} {
			raw, err := json.Marshal(free)
			if err == nil && !free.IsZero() {
				read(raw, d.InstallAt, path)
			}
		}
	case d.Set.AgentClusterInstall != nil:
		var overrides map[string]json.RawMessage
		if err := json.Unmarshal([]byte(d.Set.AgentClusterInstall.Metadata.Annotations[names.InstallConfigOverrides]), &overrides); err != nil {
			return // there are none, or the manifests' reader says so
		}
		for _, field := range []string{digestSources, contentSources} {
			read(overrides[field], d.ClusterInstallAt, "metadata.annotations."+field)
		}
	}
	if r.plan.registries == "" && r.plan.Format != ConfigImage {
		r.plan.registries = registriesOf(all)
	}
}

// registriesOf is a registries.conf with the mirrors, which hold for digests, as in the
// cluster.
func registriesOf(all []source) string {
	var b strings.Builder
	for i, s := range all {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "[[registry]]\nlocation = %s\nmirror-by-digest-only = true\n", strconv.Quote(s.Source))
		for _, m := range s.Mirrors {
			fmt.Fprintf(&b, "[[registry.mirror]]\nlocation = %s\n", strconv.Quote(m))
		}
	}
	return b.String()
}

// mirrorOf is where a registries.conf has an image first; empty for where its name says.
// Who installs asks for the release by the name that it is given, so a mirror for digests
// alone counts as well.
func mirrorOf(conf, image string) string {
	var c struct {
		Registries []struct {
			Prefix   string `toml:"prefix"`
			Location string `toml:"location"`
			Mirrors  []struct {
				Location string `toml:"location"`
			} `toml:"mirror"`
		} `toml:"registry"`
	}
	if err := toml.Unmarshal([]byte(conf), &c); err != nil { // checked before
		return ""
	}
	best, mirror := 0, ""
	for _, r := range c.Registries {
		prefix := r.Prefix
		if prefix == "" {
			prefix = r.Location
		}
		rest, covers := strings.CutPrefix(image, prefix)
		if !covers || prefix == "" || rest != "" && !strings.ContainsAny(rest[:1], "/:@") || len(prefix) <= best || len(r.Mirrors) == 0 {
			continue
		}
		best, mirror = len(prefix), r.Mirrors[0].Location+rest
	}
	return mirror
}
