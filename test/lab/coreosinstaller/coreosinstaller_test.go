package coreosinstaller_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/cache"
	"github.com/ironflow/ironflow/test/lab/coreosinstaller"
)

// cargo puts a pretended cargo first in the PATH; it counts its runs in a file.
func cargo(t *testing.T, script string) (runs string) {
	t.Helper()
	dir := t.TempDir()
	runs = filepath.Join(dir, "runs")
	text := "#!/bin/sh\necho run >>'" + runs + "'\n" + script + "\n"
	if err := os.WriteFile(filepath.Join(dir, "cargo"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	t.Setenv(coreosinstaller.Env, "")
	t.Setenv(cache.EnvDir, t.TempDir())
	return runs
}

func TestBuiltOnceAndFound(t *testing.T) {
	g := NewWithT(t)
	runs := cargo(t, `[ "$1 $2 $3 $4 $5" = "install coreos-installer --version `+coreosinstaller.Version+` --locked" ] || exit 1
mkdir -p "$7/bin" "$9" && echo "#!/bin/sh" >"$7/bin/coreos-installer"`)
	_, found := coreosinstaller.Find()
	g.Expect(found).To(BeFalse())
	first, err := coreosinstaller.Build(context.Background(), "", nil)
	g.Expect(err).NotTo(HaveOccurred())
	again, err := coreosinstaller.Build(context.Background(), "", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again).To(Equal(first))
	g.Expect(os.ReadFile(runs)).To(BeEquivalentTo("run\n"))
	path, found := coreosinstaller.Find()
	g.Expect(found).To(BeTrue())
	g.Expect(path).To(Equal(first))
	g.Expect(path).To(BeAnExistingFile())
	g.Expect(filepath.Join(filepath.Dir(first), "../target")).NotTo(BeAnExistingFile(), "only the program is kept")

	t.Setenv(coreosinstaller.Env, "/mine")
	path, found = coreosinstaller.Find()
	g.Expect(found).To(BeTrue())
	g.Expect(path).To(Equal("/mine"))
}

func TestFailedBuildSaysWhatToDo(t *testing.T) {
	g := NewWithT(t)
	cargo(t, "echo 'error: linker cc not found'; exit 101")
	_, err := coreosinstaller.Build(context.Background(), "", nil)
	g.Expect(err).To(MatchError(And(ContainSubstring("linker cc not found"), ContainSubstring("libssl-dev"), ContainSubstring(coreosinstaller.Make))))
	_, found := coreosinstaller.Find()
	g.Expect(found).To(BeFalse())
}
