package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/test/needs"
)

// krewPlugin is a manifest as Krew reads it: a field that is none of these is an error there.
type krewPlugin struct {
	metav1.TypeMeta `json:",inline"`

	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Version          string         `json:"version"`
		ShortDescription string         `json:"shortDescription"`
		Description      string         `json:"description"`
		Caveats          string         `json:"caveats"`
		Homepage         string         `json:"homepage"`
		Platforms        []krewPlatform `json:"platforms"`
	} `json:"spec"`
}

type krewPlatform struct {
	URI      string                `json:"uri"`
	SHA256   string                `json:"sha256"`
	Selector *metav1.LabelSelector `json:"selector"`
	Files    []struct {
		From string `json:"from"`
		To   string `json:"to"`
	} `json:"files"`
	Bin string `json:"bin"`
}

// krewPlatforms are those that Krew runs on.
var krewPlatforms = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}}

// TestKrewManifest: what a release makes keeps the rules of Krew's index, and Krew installs it.
func TestKrewManifest(t *testing.T) {
	g := NewWithT(t)
	binaries, out := t.TempDir(), t.TempDir()
	args := []string{"../../test/scripts/krew.sh", "v0.9.1-rc.2", out}
	program := built(t)
	for _, p := range krewPlatforms {
		name, from := "kubectl-ironflow", program
		if p[0] == "windows" {
			name += ".exe"
		}
		if p[0] != runtime.GOOS || p[1] != runtime.GOARCH {
			from = "exit_test.go" // any file: it is packed, and not run
		}
		dir := filepath.Join(binaries, p[0]+"-"+p[1])
		raw, err := os.ReadFile(from)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(dir, name), raw, 0o755)).To(Succeed())
		args = append(args, p[0]+"/"+p[1])
	}
	cmd := exec.CommandContext(t.Context(), "bash", args...)
	cmd.Env = append(os.Environ(), "BINARIES="+binaries, "DOWNLOADS=https://example.test/v0.9.1-rc.2")
	told, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(told))

	raw, err := os.ReadFile(filepath.Join(out, "ironflow.yaml"))
	g.Expect(err).NotTo(HaveOccurred())
	var p krewPlugin
	g.Expect(yaml.UnmarshalStrict(raw, &p)).To(Succeed())
	p.keepsTheRules(t)
	g.Expect(p.Spec.Platforms).To(HaveLen(len(krewPlatforms)))
	plugin := installed(t, out)
	version, err := exec.CommandContext(t.Context(), plugin, "version").Output()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(version)).To(HavePrefix("kubectl ironflow "))
	help, err := exec.CommandContext(t.Context(), plugin, "reboot", "--help").Output()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(help)).To(ContainSubstring("kubectl ironflow reboot HOST"))
}

// built is the program: the one of `make test`, or else one that is built here.
func built(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("IRONFLOW_BIN"); dir != "" {
		return filepath.Join(dir, "kubectl-ironflow")
	}
	if testing.Short() {
		t.Skip("builds the program; run without -short")
	}
	file := filepath.Join(t.TempDir(), "kubectl-ironflow")
	told, err := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", file, ".").CombinedOutput()
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), string(told))
	return file
}

// keepsTheRules are those of Krew's validation and of its index.
func (p *krewPlugin) keepsTheRules(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	g.Expect(p.APIVersion).To(Equal("krew.googlecontainertools.github.com/v1alpha2"))
	g.Expect(p.Kind).To(Equal("Plugin"))
	g.Expect(p.Metadata.Name).To(Equal("ironflow"), "the name of the file, and what comes after kubectl-")
	g.Expect(p.Spec.Version).To(MatchRegexp(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?$`))
	g.Expect(p.Spec.Homepage).To(HavePrefix("https://"))
	g.Expect(p.Spec.ShortDescription).To(MatchRegexp(`^[^\r\n]{1,70}$`))
	for _, text := range []string{p.Spec.Description, p.Spec.Caveats} {
		g.Expect(text).NotTo(BeEmpty())
		for line := range strings.Lines(text) {
			g.Expect(len(strings.TrimRight(line, "\n"))).To(BeNumerically("<=", 80), line)
		}
	}
	for _, platform := range krewPlatforms {
		found := 0
		for i := range p.Spec.Platforms {
			if p.Spec.Platforms[i].is(t, platform) {
				found++
			}
		}
		g.Expect(found).To(Equal(1), "%v", platform)
	}
	for _, platform := range p.Spec.Platforms {
		g.Expect(platform.URI).To(MatchRegexp(`^https://example\.test/v0\.9\.1-rc\.2/kubectl-ironflow-v0\.9\.1-rc\.2-[a-z]+-[a-z0-9]+\.tar\.gz$`))
		g.Expect(platform.SHA256).To(MatchRegexp(`^[a-f0-9]{64}$`))
		g.Expect(platform.Bin).NotTo(BeEmpty())
		g.Expect(platform.Files).NotTo(BeEmpty())
		for _, f := range platform.Files {
			g.Expect(f.From).NotTo(BeEmpty())
			g.Expect(f.To).NotTo(BeEmpty())
		}
		for key := range platform.Selector.MatchLabels {
			g.Expect([]string{"os", "arch"}).To(ContainElement(key))
		}
		g.Expect(platform.Selector.MatchExpressions).To(BeEmpty())
	}
	raw, err := yaml.Marshal(p)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(regexp.MustCompile(`\b(VERSION|OS|ARCH|URI|SHA256|BINARY)\b`).FindAllString(string(raw), -1)).To(BeEmpty(), "of the template")
}

func (p *krewPlatform) is(t *testing.T, platform [2]string) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(p.Selector)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return selector.Matches(labels.Set{"os": platform[0], "arch": platform[1]})
}

// installed is the plugin as Krew installs it: from the manifest and the platform's archive in the folder.
func installed(t *testing.T, folder string) string {
	t.Helper()
	g := NewWithT(t)
	archives, err := filepath.Glob(filepath.Join(folder, "*-"+runtime.GOOS+"-"+runtime.GOARCH+".tar.gz"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(archives).To(HaveLen(1))
	root := t.TempDir()
	cmd := exec.CommandContext(t.Context(), needs.Krew(t), "install", "--manifest", filepath.Join(folder, "ironflow.yaml"), "--archive", archives[0])
	cmd.Env = append(os.Environ(), "KREW_ROOT="+root)
	told, err := cmd.CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(told))
	g.Expect(string(told)).To(And(ContainSubstring("Installed plugin: ironflow"), ContainSubstring("ironflow completion kubectl")))
	return filepath.Join(root, "bin", "kubectl-ironflow")
}
