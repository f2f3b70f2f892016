package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

// profileTime is how long the hub's processor time is looked at where nothing ends sooner.
const profileTime = time.Minute

// profile keeps a CPU profile of a part, from now on, and of the heap.
func (w *world) profile(ctx context.Context, part string, took time.Duration) {
	if w.options.profile == "" {
		return
	}
	for name, path := range map[string]string{"cpu": fmt.Sprintf("profile?seconds=%.0f", took.Seconds()), "heap": "heap", "goroutines": "goroutine"} {
		go func() {
			if err := w.keep(ctx, path, filepath.Join(w.options.profile, part+"-"+name+".pprof")); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "profile:", err)
			}
		}()
	}
}

func (w *world) keep(ctx context.Context, path, file string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.pprof+"/debug/pprof/"+path, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if err := os.MkdirAll(w.options.profile, 0o755); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer out.Close()
	_, err = io.Copy(out, answer.Body)
	return err
}
