package main

import (
	"runtime"
	"testing"

	. "github.com/onsi/gomega"
)

func TestHalfOfTheCoresIsLeftToOthers(t *testing.T) {
	g := NewWithT(t)
	for of, use := range map[int]int{1: 1, 2: 1, 3: 1, 4: 2, 16: 8} {
		g.Expect(coresToUse(of)).To(Equal(use), "of %d", of)
	}
	before := runtime.GOMAXPROCS(4)
	defer runtime.GOMAXPROCS(before)
	t.Setenv("GOMAXPROCS", "4")
	spareCores()
	g.Expect(runtime.GOMAXPROCS(0)).To(Equal(4), "who says how many is not overruled")
}
