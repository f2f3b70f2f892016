// Package cache keeps what takes minutes to build or install, keyed by what it
// is made from, outside the source tree and for all labs of a user. One process
// builds while others wait for it; an entry counts only once it is complete,
// and an interrupted one is made again.
package cache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// EnvDir names the environment variable that overrides the cache's folder.
	EnvDir = "IRONFLOW_CACHE"
	// marker is written into an entry as the last thing. Entries are not built
	// elsewhere and renamed, because a Python environment has its own path in it.
	marker = ".complete"
	// lockPoll is how often a waiting process tries the lock again.
	lockPoll = 200 * time.Millisecond
)

// DefaultDir is the folder of the cache: $IRONFLOW_CACHE, or ironflow in the
// user's cache folder.
func DefaultDir() (string, error) {
	if dir := os.Getenv(EnvDir); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder to keep builds in: set HOME, XDG_CACHE_HOME or %s: %w", EnvDir, err)
	}
	return filepath.Join(dir, "ironflow"), nil
}

// Key is a short hash of everything that an entry is made from.
func Key(inputs ...[]byte) string {
	sum := sha256.New()
	for _, input := range inputs {
		// The length keeps ("ab", "c") apart from ("a", "bc").
		fmt.Fprintf(sum, "%d\n", len(input))
		sum.Write(input)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// Entry is one thing in the cache.
type Entry struct {
	// Dir is the cache's folder.
	Dir string
	// Name says what it is, for people who look into the folder.
	Name string
	// Key is its [Key].
	Key string
}

// Path is the entry's folder, whether or not it exists.
func (e Entry) Path() string { return filepath.Join(e.Dir, e.Name+"-"+e.Key) }

// Ready reports whether the entry is complete.
func (e Entry) Ready() bool {
	_, err := os.Stat(filepath.Join(e.Path(), marker))
	return err == nil
}

// Get returns the entry's folder and calls build to fill it if it is not
// complete. The folder's path is final when build sees it, and it is empty.
// Where another process builds the same entry, waiting is called once and Get
// returns when that process is done.
func (e Entry) Get(ctx context.Context, waiting func(), build func(ctx context.Context, dir string) error) (string, error) {
	if e.Ready() {
		return e.Path(), nil
	}
	if err := os.MkdirAll(e.Dir, 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder (set %s to use another): %w", EnvDir, err)
	}
	lock, err := e.lock(ctx, waiting)
	if err != nil {
		return "", fmt.Errorf("lock the cache entry %s: %w", e.Path(), err)
	}
	// Closing the file ends the lock. The file stays, so that all lock the same one.
	defer lock.Close()
	if e.Ready() {
		return e.Path(), nil
	}
	if err := e.fill(ctx, build); err != nil {
		return "", errors.Join(err, os.RemoveAll(e.Path()))
	}
	return e.Path(), nil
}

// fill builds the entry from nothing and marks it complete.
func (e Entry) fill(ctx context.Context, build func(ctx context.Context, dir string) error) error {
	if err := os.RemoveAll(e.Path()); err != nil {
		return fmt.Errorf("remove an interrupted build: %w", err)
	}
	if err := os.Mkdir(e.Path(), 0o755); err != nil {
		return fmt.Errorf("make the cache entry: %w", err)
	}
	if err := build(ctx, e.Path()); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(e.Path(), marker), nil, 0o644); err != nil {
		return fmt.Errorf("mark the cache entry complete: %w", err)
	}
	return nil
}

// lock waits for the entry's lock.
func (e Entry) lock(ctx context.Context, waiting func()) (*os.File, error) {
	file, err := os.OpenFile(e.Path()+".lock", os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	for first := true; ; first = false {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(err, file.Close())
		}
		if first && waiting != nil {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), file.Close())
		case <-time.After(lockPoll):
		}
	}
}
