package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/ironflow/ironflow/test/bench/profile"
)

// profileTime is how long the hub's processor time is looked at where nothing ends sooner.
const profileTime = time.Minute

// profile keeps a CPU profile of a part, from now on, and of the heap.
func (w *world) profile(ctx context.Context, part string, took time.Duration) {
	if w.options.profile == "" {
		return
	}
	for name, kind := range map[string]string{"cpu": fmt.Sprintf("profile?seconds=%.0f", took.Seconds()), "heap": "heap", "goroutines": "goroutine"} {
		go func() {
			if err := profile.Keep(ctx, w.pprof, kind, filepath.Join(w.options.profile, part+"-"+name+".pprof")); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "profile:", err)
			}
		}()
	}
}
