package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

// profiled is how many seconds the CPU profile covers.
const profiled = 40

// profile keeps profiles of the controller, one after the other.
func (s *surroundings) profile(ctx context.Context) {
	for _, p := range []struct{ file, path string }{
		{"cpu.pprof", fmt.Sprintf("profile?seconds=%d", profiled)}, {"heap.pprof", "heap"},
	} {
		if err := s.keepProfile(ctx, p.file, p.path); err != nil {
			fmt.Fprintf(os.Stderr, "bench fleet: profile %s: %v\n", p.path, err)
		}
	}
}

func (s *surroundings) keepProfile(ctx context.Context, file, path string) error {
	url := "http://" + s.pprof + "/debug/pprof/" + path
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	out, err := os.Create(filepath.Join(s.lab.Dir, file))
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, response.Body); err != nil {
		return err
	}
	return out.Close()
}
