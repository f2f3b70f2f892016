package auth

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// LoadSecret reads a file with at least 32 secret bytes; a missing one is made
// with random bytes and mode 0600, in a folder that is made as well. Replicas share
// the file: the one that is first makes it, whole or not at all. What a secret has
// signed becomes invalid when the file is lost, so a damaged one is an error.
func LoadSecret(path string) ([]byte, error) {
	secret, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return makeSecret(path)
	case err != nil:
		return nil, err
	case len(secret) < minKey:
		return nil, fmt.Errorf("%s has %d bytes, want at least %d: restore it, or remove it to make a new one", path, len(secret), minKey)
	}
	return secret, nil
}

// makeSecret makes the file with random bytes.
func makeSecret(path string) ([]byte, error) {
	secret := make([]byte, minKey)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	kept, err := keepSecret(path, secret)
	if err == nil && !kept {
		return LoadSecret(path) // another replica was faster
	}
	return secret, err
}

// keepSecret writes the file under another name first, and gives it its own only
// if nobody else has, which is told by kept: a link, unlike a rename, replaces nothing.
func keepSecret(path string, secret []byte) (kept bool, err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return false, fmt.Errorf("make the folder of a secret: %w", err)
	}
	f, err := os.CreateTemp(dir, ".secret-*") // mode 0600
	if err != nil {
		return false, err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(secret)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return false, fmt.Errorf("write %s: %w", path, err)
	}
	err = os.Link(f.Name(), path)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}
