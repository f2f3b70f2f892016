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

// profile keeps profiles of the controller, one after the other.
func (s *surroundings) profile(ctx context.Context) {
	for _, p := range []struct{ file, kind string }{
		{"cpu.pprof", fmt.Sprintf("profile?seconds=%d", profiled)}, {"heap.pprof", "heap"},
	} {
		if err := profile.Keep(ctx, s.pprof, p.kind, filepath.Join(s.lab.Dir, p.file)); err != nil {
			fmt.Fprintf(os.Stderr, "bench fleet: profile %s: %v\n", p.kind, err)
		}
	}
}
