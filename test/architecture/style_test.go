package architecture

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/onsi/gomega"
)

// chosenByMap is a map that stands for an if.
var chosenByMap = regexp.MustCompile(`\bmap\[bool\][^{\n]*\{[^\n]*\}\[|\bmap\[bool\]string\{[^}]`)

// TestNoMapStandsForAnIf: a reader has to work out which of two values is meant, and both are made.
func TestNoMapStandsForAnIf(t *testing.T) {
	g := gomega.NewWithT(t)
	files := 0
	for path, source := range sources(t) {
		if filepath.Base(path) == "style_test.go" {
			continue
		}
		files++
		g.Expect(chosenByMap.FindString(source)).To(gomega.BeEmpty(), path)
	}
	g.Expect(files).To(gomega.BeNumerically(">", 2000))
}

// longestLine is how many characters a line of a test has at most, and a tab is one.
const longestLine = 200

// TestNoLineOfATestIsTooLong: of a longer one, the end is neither read nor seen to have changed, and it is the end that says what is
// expected. A row of a table that has no room has its fields on lines of their own, and a long text is put together from several.
func TestNoLineOfATestIsTooLong(t *testing.T) {
	g := gomega.NewWithT(t)
	tests := 0
	var long []string
	for path, source := range sources(t) {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		tests++
		for i, line := range strings.Split(source, "\n") {
			if n := utf8.RuneCountInString(line); n > longestLine {
				long = append(long, fmt.Sprintf("%s:%d has %d characters", path, i+1, n))
			}
		}
	}
	g.Expect(long).To(gomega.BeEmpty())
	g.Expect(tests).To(gomega.BeNumerically(">", 1000))
}

// sources are the Go files of the repository, and what is in them.
func sources(t *testing.T) iter.Seq2[string, string] {
	t.Helper()
	return func(yield func(path, source string) bool) {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || path == filepath.Join(root, "bin")):
				return filepath.SkipDir
			case !strings.HasSuffix(path, ".go"):
				return nil
			}
			source, err := os.ReadFile(path)
			if err == nil && !yield(path, string(source)) {
				return filepath.SkipAll
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}
