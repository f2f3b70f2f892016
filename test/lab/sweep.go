package lab

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

const (
	// temporaryPrefix begins the names of temporary folders of state.
	temporaryPrefix = "ironflow-lab-"
	// lockName is the file in a folder of state that a running lab holds locked.
	lockName = "lock"
	// abandonedAfter keeps a sweep away from folders that are just being made.
	abandonedAfter = 10 * time.Minute
)

// errInUse says that another lab holds the lock.
var errInUse = errors.New("in use by another lab")

// lockFolder takes the lock of a folder of state. Closing the file gives it back.
func lockFolder(dir string, flags int) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|flags, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errInUse
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// sweep removes temporary folders of labs that were killed. It is a courtesy:
// what cannot be removed stays.
func sweep(parent string, now time.Time) {
	folders, err := filepath.Glob(filepath.Join(parent, temporaryPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range folders {
		info, err := os.Lstat(filepath.Join(dir, lockName))
		if err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < abandonedAfter {
			continue
		}
		lock, err := lockFolder(dir, 0)
		if err != nil {
			continue
		}
		_ = os.RemoveAll(dir)
		_ = lock.Close()
	}
}
