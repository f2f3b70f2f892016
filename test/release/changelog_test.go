package release_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/quickstart"
)

const changelog = "../../CHANGELOG.md"

// heading is one of a release, or of what is not released yet.
var heading = regexp.MustCompile(`(?m)^## (.*)$`)

// headings are those of the changelog, the newest first.
func headings(t *testing.T) (all []string) {
	t.Helper()
	raw, err := os.ReadFile(changelog)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for _, found := range heading.FindAllStringSubmatch(string(raw), -1) {
		all = append(all, found[1])
	}
	return all
}

// judged is what `make release` says of a changelog before it makes anything.
func judged(t *testing.T, version, file string) (string, error) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bash", "../scripts/changelog.sh", version, file).CombinedOutput()
	return string(out), err
}

// TestTheChangelogHasTheReleases: the newest can be made by `make release`, which asks for its heading, and each release whose promises are recorded
// has one. Pages for users are of the newest.
func TestTheChangelogHasTheReleases(t *testing.T) {
	g := NewWithT(t)
	all := headings(t)
	released := slices.DeleteFunc(slices.Clone(all), func(h string) bool { return h == "Not released yet" })
	g.Expect(released).NotTo(BeEmpty())
	g.Expect(released).To(HaveEach(MatchRegexp(`^\d+\.\d+\.\d+$`)), "no other headings, no dates: the script compares them")
	g.Expect(len(all)-len(released)).To(Equal(slices.Index(all, released[0])), "what is not released yet comes first, and once")
	g.Expect("v"+released[0]).To(Equal(quickstart.Version), "the quick start is of the newest release")
	records, err := filepath.Glob("../upgrade/testdata/*")
	g.Expect(err).NotTo(HaveOccurred())
	for _, record := range records {
		g.Expect(released).To(ContainElement(HavePrefix(filepath.Base(record) + ".")))
	}
	script, err := os.ReadFile("../scripts/release.sh")
	g.Expect(err).NotTo(HaveOccurred())
	asked := strings.Index(string(script), `bash test/scripts/changelog.sh "$version" CHANGELOG.md`)
	g.Expect(asked).To(And(BeNumerically(">", 0), BeNumerically("<", strings.Index(string(script), "rm -rf"))), "it is asked before anything is made")
	if all[0] == released[0] {
		said, err := judged(t, quickstart.Version, changelog)
		g.Expect(err).NotTo(HaveOccurred(), said)
	}
}

func TestAReleaseNeedsItsHeading(t *testing.T) {
	for name, c := range map[string]struct{ version, first, want string }{
		"its own":                  {"v0.2.0", "0.2.0", ""},
		"of the one before":        {"v0.2.0", "0.1.0", "has to be '## 0.2.0'"},
		"not released yet":         {"v0.2.0", "Not released yet", "begins with '## Not released yet'"},
		"a candidate of its own":   {"v0.2.0-rc.1", "0.2.0", ""},
		"a candidate of what is":   {"v0.2.0-rc.1", "Not released yet", ""},
		"a candidate of another":   {"v0.2.0-rc.1", "0.1.0", "has to be '## 0.2.0'"},
		"one that begins the same": {"v0.2.0", "0.2.01", "has to be '## 0.2.0'"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			file := filepath.Join(t.TempDir(), "CHANGELOG.md")
			g.Expect(os.WriteFile(file, fmt.Appendf(nil, "# Changelog\n\n## %s\n\n### Added\n\n- a\n\n## 0.0.9\n", c.first), 0o600)).To(Succeed())
			said, err := judged(t, c.version, file)
			if c.want == "" {
				g.Expect(err).NotTo(HaveOccurred(), said)
				return
			}
			g.Expect(err).To(HaveOccurred())
			g.Expect(said).To(ContainSubstring(c.want))
		})
	}
}
