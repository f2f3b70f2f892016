package pages_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

var (
	// flagInText and variableInText are what a page names in its text.
	flagInText     = regexp.MustCompile("`--([a-z][a-z0-9-]+)")
	variableInText = regexp.MustCompile(`\b(IRONFLOW_[A-Z0-9_]*[A-Z0-9])\b`)
	// literal is a string of the code that may be the name of a flag or variable.
	literal = regexp.MustCompile(`["'$](?:--)?([A-Za-z][A-Za-z0-9_-]+)`)
)

// ofOthers are flags that pages name of helm, podman and kubelet.
var ofOthers = []string{"values", "skip-crds", "take-ownership", "uts", "fail-cgroupv1"}

// TestFlagsAndVariablesOfTheTextExist: what a page names in a sentence is in the code, whichever program has it. Whole commands are held
// to their programs elsewhere (TestCommandsOfTheDocumentation).
func TestFlagsAndVariablesOfTheTextExist(t *testing.T) {
	g := NewWithT(t)
	there := map[string]bool{}
	for _, name := range ofOthers {
		there[name] = true
	}
	for _, file := range sources(t, ".go", ".sh", ".py", "Makefile") {
		for _, found := range literal.FindAllStringSubmatch(text(t, file), -1) {
			there[found[1]] = true
		}
	}
	g.Expect(len(there)).To(BeNumerically(">", 1000))
	named := 0
	for _, file := range sources(t, ".md", ".yaml", ".tpl", "NOTES.txt") {
		page := text(t, file)
		for _, pattern := range []*regexp.Regexp{flagInText, variableInText} {
			for _, found := range pattern.FindAllStringSubmatch(page, -1) {
				named++
				g.Expect(there).To(HaveKey(found[1]), file)
			}
		}
	}
	g.Expect(named).To(BeNumerically(">", 300))
}

// sources are the files of the tree with one of these ends.
func sources(t *testing.T, ends ...string) (files []string) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".git" || d.Name() == "bin" || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		for _, end := range ends {
			if err == nil && !d.IsDir() && strings.HasSuffix(path, end) {
				files = append(files, path)
			}
		}
		return err
	})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return files
}

func text(t *testing.T, file string) string {
	t.Helper()
	raw, err := os.ReadFile(file)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return string(raw)
}
