package release_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/test/quickstart"
)

// loading are the commands by which docs/air-gap.md has the images of a release loaded into a registry.
func loading(t *testing.T) []quickstart.Command {
	t.Helper()
	raw, err := os.ReadFile("../../docs/air-gap.md")
	g := NewWithT(t)
	g.Expect(err).NotTo(HaveOccurred())
	commands, err := quickstart.Commands(string(raw), "Load the images of a release")
	g.Expect(err).NotTo(HaveOccurred())
	return commands
}

// Forms of the commands: each image is made from its archive, and pushed by the same name.
var (
	created = regexp.MustCompile(`^buildah manifest create ([a-z-]+)$`)
	added   = regexp.MustCompile(`^buildah manifest add --all ([a-z-]+) oci-archive:(\S+)$`)
	pushed  = regexp.MustCompile(`^buildah manifest push --all ([a-z-]+) docker://(\S+)$`)
)

// TestCommandsOfTheAirGapPage: each is known, archives and chart are named as in a release, and the values are what was pushed.
func TestCommandsOfTheAirGapPage(t *testing.T) {
	g := NewWithT(t)
	references, made, values := map[string]string{}, "", ""
	for _, c := range loading(t) {
		line := c.String()
		switch {
		case line == "sha256sum --check SHA256SUMS":
		case created.MatchString(line):
			made = created.FindStringSubmatch(line)[1]
		case added.MatchString(line):
			found := added.FindStringSubmatch(line)
			g.Expect(found[1:]).To(Equal([]string{made, made + "-" + quickstart.Version + "-image.tar"}))
		case pushed.MatchString(line):
			found := pushed.FindStringSubmatch(line)
			g.Expect(found[1]).To(Equal(made))
			references[made] = found[2]
		case c.File == "images.yaml":
			values = strings.TrimSuffix(c.Text[strings.Index(c.Text, "\n")+1:], "END\n")
		default:
			g.Expect(line).To(HavePrefix("helm install ironflow ironflow-"+strings.TrimPrefix(quickstart.Version, "v")+".tgz "), "nobody knows this command")
			g.Expect(line).To(HaveSuffix(" --values site.yaml --values images.yaml"), "the later one overrides")
		}
	}
	script, err := os.ReadFile("../scripts/release.sh")
	g.Expect(err).NotTo(HaveOccurred())
	for image := range references {
		g.Expect(string(script)).To(MatchRegexp(`\$\{IMAGES-[a-z -]*\b`+image+`\b`), "the release has it")
	}
	g.Expect(string(script)).To(ContainSubstring(`"$out/$name-$version-image.tar"`))
	var set struct {
		Image     struct{ Repository, Tag string }
		LiveImage struct {
			AgentImage string `json:"agentImage"`
		} `json:"liveImage"`
		Settings map[string]string
	}
	g.Expect(yaml.UnmarshalStrict([]byte(values), &set)).To(Succeed(), values)
	g.Expect(references).To(Equal(map[string]string{
		"ironflow": set.Image.Repository + ":" + set.Image.Tag, "ironic-python-agent": set.LiveImage.AgentImage, "ironflow-cluster": set.Settings["IRONFLOW_HUB_CLUSTER_IMAGE"],
	}))
}
