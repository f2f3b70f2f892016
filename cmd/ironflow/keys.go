package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// keySize is the length of a signing key in bytes.
const keySize = 32

// signingKey reads the key file in dir, or makes it. What a key has signed
// becomes invalid when the file is lost, so a damaged one is an error.
func signingKey(dir, name string) ([]byte, error) {
	file := filepath.Join(dir, name)
	key, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case len(key) != keySize:
		return nil, fmt.Errorf("%s has %d bytes, a key has %d: restore it, or remove it to make a new one", file, len(key), keySize)
	default:
		return key, nil
	}
	key = make([]byte, keySize)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the data folder: %w", err)
	}
	tmp := file + ".new"
	if err := os.WriteFile(tmp, key, 0o600); err != nil {
		return nil, err
	}
	return key, os.Rename(tmp, file)
}
