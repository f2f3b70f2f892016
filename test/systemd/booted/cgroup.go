package booted

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// Lacks says why no systemd can be booted here; empty for nothing.
func Lacks() string {
	switch {
	case os.Geteuid() != 0:
		return "a real systemd needs root"
	case Cgroup2() == "":
		return "a real systemd needs cgroup v2 mounted below /sys/fs/cgroup"
	}
	return ""
}

// Cgroup2 finds the version 2 hierarchy, alone or beside version 1; empty for none.
func Cgroup2() string {
	for _, dir := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		var fs unix.Statfs_t
		if unix.Statfs(dir, &fs) == nil && fs.Type == unix.CGROUP2_SUPER_MAGIC {
			return dir
		}
	}
	return ""
}

// RemoveCgroup removes a machine's cgroups, the inner ones first; the machine has been killed.
func RemoveCgroup(group string) error {
	deadline := time.Now().Add(10 * time.Second)
	for {
		var dirs []string
		_ = filepath.WalkDir(group, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				dirs = append(dirs, path)
			}
			return nil
		})
		for i := len(dirs) - 1; i >= 0; i-- {
			_ = os.Remove(dirs[i])
		}
		if _, err := os.Stat(group); errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the cgroup %s cannot be removed", group)
		}
		runtime.Gosched()
	}
}
