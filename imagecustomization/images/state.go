package images

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// save keeps the spec for the next start. Nothing is written when the file
// holds it already.
func (s *Store) save(spec Spec) error {
	if s.options.StateDir == "" || !kinds[spec.Kind].kept {
		return nil
	}
	raw, err := json.Marshal(spec)
	if err != nil {
		return fmt.Errorf("keep the image of %s: %w", spec.Key, err)
	}
	file := s.stateFile(spec.Key)
	if have, err := os.ReadFile(file); err == nil && string(have) == string(raw) {
		return nil
	}
	tmp, err := os.CreateTemp(s.options.StateDir, halfWritten)
	if err != nil {
		return fmt.Errorf("keep the image of %s: %w", spec.Key, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(raw)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return fmt.Errorf("keep the image of %s: %w", spec.Key, err)
	}
	return os.Rename(tmp.Name(), file)
}

// drop forgets a kept spec.
func (s *Store) drop(key string) error {
	if s.options.StateDir == "" {
		return nil
	}
	if err := os.Remove(s.stateFile(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget the image of %s: %w", key, err)
	}
	return nil
}

// stateFile is a key's file; keys hold slashes, so its name is a hash.
func (s *Store) stateFile(key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(s.options.StateDir, hex.EncodeToString(sum[:16])+".json")
}

// halfWritten are the files that are not yet what they are to be. One that a killed program
// has left holds the secrets of a host that may be gone.
const (
	halfWritten = "new-*"
	leftAfter   = time.Hour // another replica may be writing one
)

// clearHalfWritten removes those that were left.
func clearHalfWritten(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, halfWritten))
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err == nil && time.Since(info.ModTime()) > leftAfter {
			err = os.Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("state of the image server: %w", err)
		}
	}
	return nil
}

// restore builds the kept images again. One that cannot be built is skipped:
// its owner puts it again and learns the reason.
func (s *Store) restore(ctx context.Context) error {
	dir := s.options.StateDir
	if dir == "" {
		return nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("state of the image server: %w", err)
	}
	if err := clearHalfWritten(dir); err != nil {
		return err
	}
	return s.CatchUp(ctx)
}
