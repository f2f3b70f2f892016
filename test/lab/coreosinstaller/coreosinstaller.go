// Package coreosinstaller builds the real coreos-installer from its crate, once
// per version, and keeps it in the lab's cache. Tests judge our own work by it;
// nothing of Ironflow needs it to be built here.
package coreosinstaller

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/ironflow/ironflow/test/lab/cache"
	"github.com/ironflow/ironflow/test/lab/progress"
)

const (
	// Version is the release that is built, with the versions of its own lock file.
	Version = "0.27.0"
	// Env names a program to use instead.
	Env = "COREOS_INSTALLER"
	// Make is the command that builds it.
	Make = "make coreos-installer"

	name = "coreos-installer"
	// usual is how long the build takes on two cores.
	usual = 4 * time.Minute
	// tailLines is how much of cargo's output an error carries.
	tailLines = 15
)

// entry is the program's place in the cache; an empty folder is the default one.
func entry(cacheDir string) (cache.Entry, error) {
	if cacheDir == "" {
		var err error
		if cacheDir, err = cache.DefaultDir(); err != nil {
			return cache.Entry{}, err
		}
	}
	return cache.Entry{Dir: cacheDir, Name: name, Key: cache.Key([]byte(Version), []byte(runtime.GOARCH))}, nil
}

func program(dir string) string { return filepath.Join(dir, "bin", name) }

// Find returns the program of the environment, of the PATH, or of the cache, in
// this order; false when there is none.
func Find() (string, bool) {
	if path := os.Getenv(Env); path != "" {
		return path, true
	}
	if path, err := exec.LookPath(name); err == nil {
		return path, true
	}
	e, err := entry("")
	return program(e.Path()), err == nil && e.Ready()
}

// Build returns the program of the cache, built at the first call. It needs
// cargo, a C compiler, and the development files of OpenSSL, liblzma and libzstd.
func Build(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	e, err := entry(cacheDir)
	if err != nil {
		return "", err
	}
	waiting := func() { report.Say(name, "waiting for another process that builds it") }
	dir, err := e.Get(ctx, waiting, func(ctx context.Context, dir string) error {
		return report.Track(name, "building "+Version+" from its crate, once", usual, func() error { return build(ctx, dir) })
	})
	return program(dir), err
}

func build(ctx context.Context, dir string) error {
	target := filepath.Join(dir, "target")
	defer os.RemoveAll(target)
	// Not optimised: what it writes in tests is small, and the build takes a third of the time.
	cmd := exec.CommandContext(ctx, "cargo", "install", name, "--version", Version, "--locked", "--root", dir, "--target-dir", target, "--debug")
	cmd.Env = append(os.Environ(), "CARGO_PROFILE_DEV_DEBUG=false")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(output.String()), "\n")
		return fmt.Errorf("cargo install %s: %w\n%s\nnext: install cargo (https://rustup.rs) and the packages libssl-dev liblzma-dev libzstd-dev pkg-config, then run %s again",
			name, err, strings.Join(lines[max(0, len(lines)-tailLines):], "\n"), Make)
	}
	return nil
}
