package main

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	. "github.com/onsi/gomega"
)

func TestHalfOfTheCoresIsLeftToOthers(t *testing.T) {
	g := NewWithT(t)
	for of, use := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 16: 8} {
		g.Expect(coresToUse(of)).To(Equal(use), "of %d", of)
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	nowhere := settings{kubeconfig: filepath.Join(t.TempDir(), "missing")}
	t.Run("unless told otherwise", func(t *testing.T) {
		t.Setenv("GOMAXPROCS", "4")
		NewWithT(t).Expect(runControllers(t.Context(), nowhere)).NotTo(Succeed())
		NewWithT(t).Expect(runtime.GOMAXPROCS(0)).To(Equal(4))
	})
	t.Setenv("GOMAXPROCS", "") // restored at the end
	g.Expect(os.Unsetenv("GOMAXPROCS")).To(Succeed())
	g.Expect(runControllers(t.Context(), nowhere)).NotTo(Succeed())
	g.Expect(runtime.GOMAXPROCS(0)).To(Equal(2))
}
