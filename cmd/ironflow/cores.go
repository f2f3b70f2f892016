package main

import (
	"os"
	"runtime"
)

// coresToUse is on how many cores the controllers run at the same moment, of so many.
// They wait for answers most of the time, from an API server that is often beside them:
// on all cores, an eighth of their time would go into waking and looking for work.
func coresToUse(of int) int { return max(1, of/2) }

// spareCores leaves half the cores to others. The environment variable GOMAXPROCS has
// the last word.
func spareCores() {
	if _, set := os.LookupEnv("GOMAXPROCS"); !set {
		runtime.GOMAXPROCS(coresToUse(runtime.GOMAXPROCS(0)))
	}
}
