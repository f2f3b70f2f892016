package prereq

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/ironflow/ironflow/test/lab/ports"
)

// Machine answers the questions of [Check]. [Local] is the real one.
type Machine struct {
	// Getenv reads an environment variable.
	Getenv func(name string) string
	// GoVersion is the version of the Go tool chain, like 1.26.1.
	GoVersion func(ctx context.Context) (string, error)
	// Python examines the interpreter of that name. The error means that it does
	// not exist or does not run.
	Python func(ctx context.Context, name string) (PythonInfo, error)
	// FreeSpace is the number of bytes that the user may still write at dir.
	FreeSpace func(dir string) (uint64, error)
	// Writable makes dir, if need be, and says why it cannot be written to.
	Writable func(dir string) error
	// FileLimit reads, and SetFileLimit sets, the limit of open files of this
	// process and of those that it starts.
	FileLimit    func() (soft, hard uint64, err error)
	SetFileLimit func(soft uint64) error
	// PortFree says, in a sentence for the user, why a port cannot be used.
	PortFree func(port int) error
}

// PythonInfo is what an interpreter tells about itself.
type PythonInfo struct {
	Version string `json:"version"`
	// Venv and Pip say whether it can make an environment and put pip into it.
	Venv bool `json:"venv"`
	Pip  bool `json:"pip"`
}

// Local is this machine.
func Local() Machine {
	return Machine{
		Getenv:       os.Getenv,
		GoVersion:    goVersion,
		Python:       examinePython,
		FreeSpace:    freeSpace,
		Writable:     writable,
		FileLimit:    fileLimit,
		SetFileLimit: setFileLimit,
		PortFree:     ports.Check,
	}
}

// goVersion asks the Go tool in PATH.
func goVersion(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOVERSION").Output()
	if err != nil {
		return "", err
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "go"), nil
}

// pythonProbe makes an interpreter print its [PythonInfo]. Debian ships venv
// without ensurepip, so both are looked for.
const pythonProbe = `
import importlib.util, json, platform
has = lambda name: importlib.util.find_spec(name) is not None
print(json.dumps({"version": platform.python_version(), "venv": has("venv"), "pip": has("ensurepip")}))
`

// examinePython runs the probe.
func examinePython(ctx context.Context, name string) (PythonInfo, error) {
	out, err := exec.CommandContext(ctx, name, "-c", pythonProbe).Output()
	if err != nil {
		return PythonInfo{}, err
	}
	var info PythonInfo
	if err := json.Unmarshal(out, &info); err != nil {
		return PythonInfo{}, fmt.Errorf("%s answers %q: %w", name, out, err)
	}
	return info, nil
}

// freeSpace asks the file system of dir, or of the nearest folder above that exists.
func freeSpace(dir string) (uint64, error) {
	for {
		var stat syscall.Statfs_t
		err := syscall.Statfs(dir, &stat)
		if err == nil {
			return stat.Bavail * uint64(stat.Bsize), nil
		}
		parent := filepath.Dir(dir)
		if !errors.Is(err, syscall.ENOENT) || parent == dir {
			return 0, err
		}
		dir = parent
	}
}

// writable makes the folder and a file in it.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), os.Remove(file.Name()))
}

// fileLimit reads what the kernel has for this process. The Go runtime raises
// its own soft limit at start but gives its children the old one, so the value
// is right for this process and setFileLimit has still to be called for them.
func fileLimit() (soft, hard uint64, err error) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, 0, err
	}
	// Setting it, even to the same value, makes children inherit it.
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, 0, err
	}
	return limit.Cur, limit.Max, nil
}

// setFileLimit raises the soft limit for this process and its children.
func setFileLimit(soft uint64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	limit.Cur = soft
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}
