package promise_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/upgrade/promise"
)

var flags = promise.Flags("ironflow")

// tree is a repository with a release for each record of flags and with that page.
func tree(t *testing.T, page string, releases map[string]string) string {
	t.Helper()
	g := NewWithT(t)
	root := t.TempDir()
	g.Expect(os.MkdirAll(filepath.Join(root, "docs"), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(root, "docs", "upgrade.md"), []byte(page), 0o644)).To(Succeed())
	for release, text := range releases {
		dir := filepath.Join(root, "test", "upgrade", "testdata", release)
		g.Expect(os.MkdirAll(dir, 0o755)).To(Succeed())
		if text != "" {
			g.Expect(os.WriteFile(filepath.Join(dir, flags.File), []byte(text), 0o644)).To(Succeed())
		}
	}
	return root
}

// told is a test that takes notes.
type told struct {
	testing.TB

	failures []string
}

func (*told) Helper() {}

func (r *told) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *told) Failed() bool { return len(r.failures) > 0 }

// TestWhatIsGoneFails, unless the page says what comes in its place.
func TestWhatIsGoneFails(t *testing.T) {
	const page = "# Upgrade\n\n## What has gone\n\n| gone | instead |\n|---|---|\n| `run --old` | `run --new` |\n\n## Other\n\n`run --other`\n"
	strict := flags
	strict.Replaced = false
	for name, tc := range map[string]struct {
		topic promise.Topic
		have  []string
		want  []string
	}{
		"nothing is gone":           {flags, []string{"run --a", "run --old", "run --other", "more"}, nil},
		"one that the page names":   {flags, []string{"run --a", "run --other"}, nil},
		"one that it names besides": {flags, []string{"run --a", "run --old"}, []string{`release 0.2 had "run --other"`}},
		"one of two releases":       {flags, []string{"run --old", "run --other"}, []string{`release 0.1 had "run --a"`, `release 0.2 had "run --a"`}},
		"a name that must stay":     {strict, []string{"run --a", "run --other"}, []string{`release 0.1 had "run --old"`}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root := tree(t, page, map[string]string{"0.1": "# Flags\nrun --a\nrun --old\n", "0.2": "run --a\nrun --other\n"})
			r := &told{TB: t}
			promise.Kept(r, root, tc.topic, tc.have, true)
			g.Expect(r.failures).To(HaveLen(len(tc.want)), "%v", r.failures)
			for i, want := range tc.want {
				g.Expect(r.failures[i]).To(ContainSubstring(want))
			}
		})
	}
}

// TestUpdateTakesNothingBack: what is new is added to the newest release alone, and nothing at all where a promise is broken.
func TestUpdateTakesNothingBack(t *testing.T) {
	g := NewWithT(t)
	root := tree(t, "", map[string]string{"0.9": "run --a\n", "0.10": ""})
	record := func(release string) string {
		raw, err := os.ReadFile(filepath.Join(root, "test", "upgrade", "testdata", release, flags.File))
		g.Expect(err).NotTo(HaveOccurred())
		return string(raw)
	}
	promise.Kept(t, root, flags, []string{"run --b", "run --a"}, true)
	g.Expect(record("0.9")).To(Equal("run --a\n"))
	g.Expect(record("0.10")).To(And(HavePrefix("# Commands of ironflow, and their flags.\n"), HaveSuffix("\nrun --a\nrun --b\n")))
	r := &told{TB: t}
	promise.Kept(r, root, flags, []string{"run --c", "run --a"}, true)
	g.Expect(r.failures).To(ConsistOf(ContainSubstring("run --b")))
	g.Expect(record("0.10")).To(HaveSuffix("\nrun --a\nrun --b\n"))
}
