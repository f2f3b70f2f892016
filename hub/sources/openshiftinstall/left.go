package openshiftinstall

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// endLeft kills what a run has left whose hub was killed. The program itself went with its
// hub, but not what it has started. Such processes are known by their working folder.
func endLeft(folder string) error {
	folder, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return fmt.Errorf("look for processes of a run that was cut short: %w", err)
	}
	var problems []error
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		at, err := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
		if err != nil || at != folder && !strings.HasPrefix(at, folder+"/") {
			continue // gone meanwhile, somebody else's, or elsewhere
		}
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			problems = append(problems, fmt.Errorf("end the process %d of a run that was cut short: %w", pid, err))
		}
	}
	return errors.Join(problems...)
}
