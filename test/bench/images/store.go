package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/imagecustomization/hostprograms"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
)

// programBytes is the size of each of the two host programs, which do not
// compress: about what the real ones have when they are packed.
const programBytes = 3 << 20

// makePrograms writes what stands for the host programs beside the base, and
// their archive, so that the server under test only opens it.
func makePrograms(path string) error {
	dir := programsOf(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var seed [32]byte
	noise := rand.NewChaCha8(seed)
	for _, name := range []string{"ironflow-agent", "ironflow-step"} {
		program := make([]byte, programBytes)
		_, _ = noise.Read(program) // never fails
		if err := os.WriteFile(filepath.Join(dir, name), program, 0o755); err != nil {
			return err
		}
	}
	_, err := hostprograms.Open(dir, dir)
	return err
}

func programsOf(path string) string { return filepath.Join(filepath.Dir(path), "programs") }

// openStore is a store as in production: the host programs ride in every image.
func openStore(ctx context.Context, path, address string) (*images.Store, error) {
	registry, err := media.Open(ctx, path, media.Options{})
	if err != nil {
		return nil, err
	}
	programs, err := hostprograms.Open(programsOf(path), programsOf(path))
	if err != nil {
		return nil, err
	}
	return images.NewStore(ctx, images.Options{
		Media: registry, BaseURL: address, SigningKey: bytes.Repeat([]byte("bench"), 8), Programs: programs.ForArch,
	})
}

// hostSpec is the image of host number i.
func hostSpec(i int) images.Spec {
	config := fmt.Sprintf(`{"host":%d,"files":%q}`, i, strings.Repeat("/etc/some/file with content ", 180))
	return images.Spec{Key: fmt.Sprintf("bench/host-%d", i), Arch: "x86_64", Ignition: []byte(config)}
}

// model builds the images that are read once more, in this process: equal inputs
// give equal addresses, so what a server sends can be compared.
func model(ctx context.Context, path string, t *target) (func(path string) io.ReaderAt, error) {
	store, err := openStore(ctx, path, "http://"+t.addr)
	if err != nil {
		return nil, err
	}
	for i, want := range t.paths {
		b, err := store.Put(ctx, hostSpec(i))
		if err != nil {
			return nil, err
		}
		if b.URL != "http://"+t.addr+want {
			return nil, fmt.Errorf("the image of host %d is at %s, here it would be at %s", i, want, b.URL)
		}
	}
	return func(path string) io.ReaderAt { return store.Lookup(path).Image }, nil
}
