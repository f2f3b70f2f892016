package crate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/cache"
	"github.com/ironflow/ironflow/test/lab/crate"
)

// programs are all that are built.
var programs = map[string]crate.Program{"coreos-installer": crate.CoreOSInstaller, "nmstatectl": crate.Nmstatectl}

// cargo puts a pretended cargo first in the PATH; it counts its runs in a file.
func cargo(t *testing.T, p crate.Program, script string) (runs string) {
	t.Helper()
	dir := t.TempDir()
	runs = filepath.Join(dir, "runs")
	text := "#!/bin/sh\necho run >>'" + runs + "'\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "cargo"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Setenv(p.Env, "")
	t.Setenv(cache.EnvDir, t.TempDir())
	return runs
}

func TestBuiltOnceAndFound(t *testing.T) {
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			runs := cargo(t, p, `[ "$1 $2 $3 $4 $5" = "install `+name+` --version `+p.Version+` --locked" ] || exit 1
case "$*" in *"`+strings.Join(p.Flags, " ")+`") ;; *) exit 1 ;; esac
mkdir -p "$7/bin" "$9" && echo "#!/bin/sh" >"$7/bin/`+name+`"`)
			_, found := p.Find()
			g.Expect(found).To(BeFalse())
			first, err := p.Build(t.Context(), "", nil)
			g.Expect(err).NotTo(HaveOccurred())
			again, err := p.Build(t.Context(), "", nil)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(again).To(Equal(first))
			g.Expect(os.ReadFile(runs)).To(BeEquivalentTo("run\n"))
			path, found := p.Find()
			g.Expect(found).To(BeTrue())
			g.Expect(path).To(Equal(first))
			g.Expect(path).To(BeAnExistingFile())
			g.Expect(filepath.Join(filepath.Dir(first), "../target")).NotTo(BeAnExistingFile(), "only the program is kept")

			t.Setenv(p.Env, "/mine")
			path, found = p.Find()
			g.Expect(found).To(BeTrue())
			g.Expect(path).To(Equal("/mine"))
		})
	}
}

// What is compared to the letter is of one version; a program that somebody has
// installed is of any.
func TestAProgramOfThePath(t *testing.T) {
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			g, dir := NewWithT(t), t.TempDir()
			g.Expect(os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755)).To(Succeed())
			cargo(t, p, "exit 1")
			t.Setenv("PATH", dir)
			path, found := p.Find()
			g.Expect(found).To(Equal(p.AnyVersion))
			if found {
				g.Expect(path).To(Equal(filepath.Join(dir, name)))
			}
		})
	}
}

func TestFailedBuildSaysWhatToDo(t *testing.T) {
	for name, p := range programs {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cargo(t, p, "echo 'error: linker cc not found'; exit 101")
			_, err := p.Build(t.Context(), "", nil)
			g.Expect(err).To(MatchError(And(ContainSubstring("linker cc not found"), ContainSubstring("https://rustup.rs"), ContainSubstring("make "+name))))
			_, found := p.Find()
			g.Expect(found).To(BeFalse())
		})
	}
}
