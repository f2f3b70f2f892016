// Package ports hands out free TCP ports on loopback that nobody else takes
// before the part that needs one has bound it. The ports lie below the range
// from which the kernel serves outgoing connections and port 0, and each one is
// held by a file lock against other labs on the machine. A lock ends with its
// process, whatever happens to it.
package ports

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
)

const (
	first = 20000
	count = 10000
	// tries bounds the search; a machine with all of them taken has other problems.
	tries = 500
)

// Set holds ports until it is closed. Its zero value is ready to use.
type Set struct {
	mu    sync.Mutex
	locks []*os.File
}

// Free reserves a port that nobody listens on.
func (s *Set) Free() (int, error) {
	dir, err := lockDir()
	if err != nil {
		return 0, err
	}
	for range tries {
		port := first + rand.IntN(count) //nolint:gosec // a port number is no secret
		lock, err := tryLock(filepath.Join(dir, strconv.Itoa(port)))
		if err != nil {
			return 0, err
		}
		if lock == nil {
			continue
		}
		if Check(port) != nil {
			_ = lock.Close()
			continue
		}
		s.mu.Lock()
		s.locks = append(s.locks, lock)
		s.mu.Unlock()
		return port, nil
	}
	return 0, fmt.Errorf("no free port found on 127.0.0.1 between %d and %d: stop programs that listen there", first, first+count-1)
}

// Close gives all ports back.
func (s *Set) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, lock := range s.locks {
		errs = append(errs, lock.Close())
	}
	s.locks = nil
	return errors.Join(errs...)
}

// Check says why a port on 127.0.0.1 cannot be listened on, nil if it can.
func Check(port int) error {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port %d on 127.0.0.1 is taken: stop the program that listens there or choose another port (0 takes a free one)", port)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("port %d may not be used without root: choose one from 1024 on (0 takes a free one)", port)
	case err != nil:
		return fmt.Errorf("port %d on 127.0.0.1 cannot be used: %w", port, err)
	}
	return listener.Close()
}

// lockDir is the folder of the lock files, one per user: files of another
// user's could not be opened. Two users' labs are kept apart by the bind alone.
func lockDir() (string, error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("ironflow-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of port locks: %w", err)
	}
	return dir, nil
}

// tryLock opens and locks the file. It returns nil if somebody else holds it.
// The files stay: removing one would let two processes lock different files of
// the same name.
func tryLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock a port: %w", err)
	}
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return file, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, file.Close()
	default:
		return nil, errors.Join(fmt.Errorf("lock %s: %w", path, err), file.Close())
	}
}
