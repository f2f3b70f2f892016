package pages_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

var (
	// makeInText and makeInBlock are calls of make in a page.
	makeInText  = regexp.MustCompile("`make ([^`\n]+)`")
	makeInBlock = regexp.MustCompile(`(?m)^ *(?:\$ )?make ([^\n]+)$`)
	// target and variable are words of such a call.
	target   = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)
	variable = regexp.MustCompile(`^([A-Z][A-Z_]*)=`)
	// inFolder is a file or folder of the tree that a command names.
	inFolder = regexp.MustCompile(`(?:^|[ =])((?:config|customdeploy|test)/[A-Za-z0-9_./-]+)`)
	// withFiles are the programs that are given files of the tree.
	withFiles = regexp.MustCompile(`(?m)^ *(?:\$ )?((?:kubectl|helm|bin/helm|podman|test/scripts/[a-z-]+\.sh)(?: [^\n]+)?)$`)
)

// TestTargetsOfThePagesExist: what pages tell people to make has a target, and each variable that they set is read.
func TestTargetsOfThePagesExist(t *testing.T) {
	g := NewWithT(t)
	makefile := text(t, "../../Makefile")
	files, err := pages.Markdown("../..")
	g.Expect(err).NotTo(HaveOccurred())
	calls := 0
	for _, file := range files {
		page := text(t, filepath.Join("../..", file))
		for _, call := range slices.Concat(makeInText.FindAllStringSubmatch(page, -1), makeInBlock.FindAllStringSubmatch(page, -1)) {
			calls++
			for word := range strings.FieldsSeq(call[1]) {
				if strings.HasPrefix(word, "#") || word == "&&" {
					break
				}
				if set := variable.FindStringSubmatch(word); set != nil {
					g.Expect(makefile).To(MatchRegexp(`\b`+set[1]+`\b`), "%s: make %s: nothing reads %s", file, call[1], set[1])
				}
				if target.MatchString(word) {
					g.Expect(makefile).To(MatchRegexp(`(?m)^`+word+`:`), "%s: make %s: there is no target %s", file, call[1], word)
				}
			}
		}
	}
	g.Expect(calls).To(BeNumerically(">", 50))
}

// TestFilesOfTheCommandsExist: what a command of a page takes from the tree is there.
func TestFilesOfTheCommandsExist(t *testing.T) {
	g := NewWithT(t)
	files, err := pages.Markdown("../..")
	g.Expect(err).NotTo(HaveOccurred())
	named := 0
	for _, file := range files {
		for _, command := range withFiles.FindAllStringSubmatch(text(t, filepath.Join("../..", file)), -1) {
			before, _, _ := strings.Cut(command[1], " #")
			for _, path := range inFolder.FindAllStringSubmatch(before, -1) {
				named++
				_, err := os.Stat(filepath.Join("../..", path[1]))
				g.Expect(err).NotTo(HaveOccurred(), "%s: %s", file, command[1])
			}
		}
	}
	g.Expect(named).To(BeNumerically(">=", 10))
}
