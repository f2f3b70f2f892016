package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/test/bench/profile"
)

// profiled is how many seconds the CPU profile covers.
const profiled = 40

// profile keeps profiles of the controller in a folder, one after the other: the CPU of
// the way to available, and the heap after it.
func (s *surroundings) profile(ctx context.Context, folder string) {
	for _, p := range []struct{ file, kind string }{
		{"cpu.pprof", fmt.Sprintf("profile?seconds=%d", profiled)}, {"heap.pprof", "heap"},
	} {
		if err := profile.Keep(ctx, s.pprof, p.kind, filepath.Join(folder, p.file)); err != nil {
			fmt.Fprintf(os.Stderr, "bench fleet: profile %s: %v\n", p.kind, err)
		}
	}
}
