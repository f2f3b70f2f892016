// Package crate builds programs from their crates, once per version, and keeps them in
// the lab's cache. Tests judge our own work by them ([CoreOSInstaller], [Nmstatectl]);
// nothing of Ironflow needs them to be built here.
package crate

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

// tailLines is how much of cargo's output an error carries.
const tailLines = 15

// Program is one program of crates.io.
type Program struct {
	// Name is that of the crate and of the program in it.
	Name string
	// Version is the release that is built, with the versions of its own lock file.
	Version string
	// Flags are further ones of cargo install, as for the crate's features.
	Flags []string
	// Debug leaves optimisation out: where a program has little to do in tests, the build
	// takes a third of the time.
	Debug bool
	// Env names a variable of the environment with a program to use instead.
	Env string
	// AnyVersion tells that a program of the PATH does as well.
	AnyVersion bool
	// Make is the command that builds it, Needs what has to be installed for that.
	Make, Needs string
	// Usual is how long the build takes on two cores.
	Usual time.Duration
}

// CoreOSInstaller is what writes systems to disks, and reads and edits media.
var CoreOSInstaller = Program{
	Name: "coreos-installer", Version: "0.27.0", Debug: true, Env: "COREOS_INSTALLER", AnyVersion: true,
	Make: "make coreos-installer", Needs: "cargo (https://rustup.rs) and the packages libssl-dev liblzma-dev libzstd-dev pkg-config",
	Usual: 4 * time.Minute,
}

// Nmstatectl makes NetworkManager's keyfiles of nmstate's documents; it can do nothing
// else, so that it needs no libraries. What it makes is compared to the letter, which is
// why another version will not do.
var Nmstatectl = Program{
	Name: "nmstatectl", Version: "2.2.62", Env: "IRONFLOW_NMSTATECTL",
	Flags: []string{"--no-default-features", "--features", "gen_conf"},
	Make:  "make nmstatectl", Needs: "cargo with Rust 1.88 or newer (https://rustup.rs)",
	Usual: 3 * time.Minute,
}

// entry is the program's place in the cache; an empty folder is the default one.
func (p Program) entry(cacheDir string) (cache.Entry, error) {
	if cacheDir == "" {
		var err error
		if cacheDir, err = cache.DefaultDir(); err != nil {
			return cache.Entry{}, err
		}
	}
	inputs := [][]byte{[]byte(p.Version), []byte(runtime.GOARCH)}
	for _, flag := range p.Flags {
		inputs = append(inputs, []byte(flag))
	}
	return cache.Entry{Dir: cacheDir, Name: p.Name, Key: cache.Key(inputs...)}, nil
}

func (p Program) in(dir string) string { return filepath.Join(dir, "bin", p.Name) }

// Find returns the program of the environment, of the PATH if that does as well, or of
// the cache, in this order; false when there is none.
func (p Program) Find() (string, bool) {
	if path := os.Getenv(p.Env); path != "" {
		return path, true
	}
	if path, err := exec.LookPath(p.Name); err == nil && p.AnyVersion {
		return path, true
	}
	e, err := p.entry("")
	return p.in(e.Path()), err == nil && e.Ready()
}

// Build returns the program of the cache, built at the first call. It needs cargo, a C
// compiler, and the development files that the crate asks for.
func (p Program) Build(ctx context.Context, cacheDir string, report progress.Func) (string, error) {
	e, err := p.entry(cacheDir)
	if err != nil {
		return "", err
	}
	waiting := func() { report.Say(p.Name, "waiting for another process that builds it") }
	dir, err := e.Get(ctx, waiting, func(ctx context.Context, dir string) error {
		return report.Track(p.Name, "building "+p.Version+" from its crate, once", p.Usual, func() error { return p.build(ctx, dir) })
	})
	return p.in(dir), err
}

func (p Program) build(ctx context.Context, dir string) error {
	target := filepath.Join(dir, "target")
	defer os.RemoveAll(target)
	args := []string{"install", p.Name, "--version", p.Version, "--locked", "--root", dir, "--target-dir", target}
	if p.Debug {
		args = append(args, "--debug")
	}
	cmd := exec.CommandContext(ctx, "cargo", append(args, p.Flags...)...)
	cmd.Env = append(os.Environ(), "CARGO_PROFILE_DEV_DEBUG=false")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		lines := strings.Split(strings.TrimSpace(output.String()), "\n")
		return fmt.Errorf("cargo install %s: %w\n%s\nnext: install %s, then run %s again",
			p.Name, err, strings.Join(lines[max(0, len(lines)-tailLines):], "\n"), p.Needs, p.Make)
	}
	return nil
}
