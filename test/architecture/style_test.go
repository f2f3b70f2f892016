package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// chosenByMap is a map that stands for an if.
var chosenByMap = regexp.MustCompile(`\bmap\[bool\][^{\n]*\{[^\n]*\}\[|\bmap\[bool\]string\{[^}]`)

// TestNoMapStandsForAnIf: a reader has to work out which of two values is meant, and both are made.
func TestNoMapStandsForAnIf(t *testing.T) {
	g := gomega.NewWithT(t)
	files := 0
	g.Expect(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || path == filepath.Join(root, "bin")):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || filepath.Base(path) == "style_test.go":
			return nil
		}
		files++
		source, err := os.ReadFile(path)
		g.Expect(chosenByMap.FindString(string(source))).To(gomega.BeEmpty(), path)
		return err
	})).To(gomega.Succeed())
	g.Expect(files).To(gomega.BeNumerically(">", 2000))
}
