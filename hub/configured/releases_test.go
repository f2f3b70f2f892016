package configured

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// TestSettingsOfTheReleaseLookup: what is wrong with them is said at the start, and changed files are read again.
func TestSettingsOfTheReleaseLookup(t *testing.T) {
	g := NewWithT(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		return path
	}
	for _, tc := range []struct {
		lookup v1alpha1.HubReleases
		says   string
	}{
		{v1alpha1.HubReleases{Lookup: "sometimes"}, `--hub-release-lookup "sometimes": want one of`},
		{v1alpha1.HubReleases{Lookup: "needed", MirrorsFile: file("pod", "kind: Pod\n")}, `kind "Pod"`},
		{v1alpha1.HubReleases{Lookup: "needed", CAFile: filepath.Join(dir, "none")}, "no such file"},
	} {
		_, err := ReleaseFinder(t.Context(), tc.lookup, nil)
		g.Expect(err).To(MatchError(ContainSubstring(tc.says)))
	}
	good := v1alpha1.HubReleases{Lookup: "needed", MirrorsFile: file("mirrors", "")}
	_, err := ReleaseFinder(t.Context(), good, nil)
	g.Expect(err).NotTo(HaveOccurred())

	site := &siteReader{files: ReleaseFiles{Mirrors: good.MirrorsFile}}
	one, err := site.current()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(site.current()).To(BeIdenticalTo(one), "what was read is kept")
	file("mirrors", "[[registry]]\nlocation = \"quay.example\"\nblocked = true\n")
	_, err = site.Release(t.Context(), "quay.example/ocp/release:1", "")
	g.Expect(err).To(MatchError(ContainSubstring("leave no place to ask")))
	g.Expect(site.current()).NotTo(BeIdenticalTo(one))

	g.Expect(os.Remove(filepath.Join(dir, "mirrors"))).To(Succeed())
	_, err = site.Release(t.Context(), "quay.example/ocp/release:1", "")
	g.Expect(err).To(MatchError(And(ContainSubstring("no such file"), Not(ContainSubstring(dir)))), "users are not told paths")
}
