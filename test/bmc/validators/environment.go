package validators

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/ironflow/ironflow/test/lab/cache"
	"github.com/ironflow/ironflow/test/lab/prereq"
)

//go:embed requirements.txt
var requirements []byte

// Environment returns the folder of the Python environment with the checkers,
// installed at the first call from pinned packages, checked by their hashes, and
// kept in the cache.
func Environment(ctx context.Context) (string, error) {
	dir, err := cache.DefaultDir()
	if err != nil {
		return "", err
	}
	python, err := prereq.FindPython(ctx, prereq.Local())
	if err != nil {
		return "", err
	}
	entry := cache.Entry{Dir: dir, Name: "redfish-validators", Key: cache.Key(requirements, []byte(python.Version), []byte(python.Path))}
	return entry.Get(ctx, nil, func(ctx context.Context, dir string) error {
		list := filepath.Join(dir, "requirements.txt")
		if err := os.WriteFile(list, requirements, 0o644); err != nil {
			return fmt.Errorf("write the list of packages: %w", err)
		}
		if err := run(ctx, python.Path, "-m", "venv", dir); err != nil {
			return err
		}
		return run(ctx, filepath.Join(dir, "bin", "python"), "-m", "pip", "install", "--quiet", "--no-input", "--disable-pip-version-check",
			"--no-deps", "--only-binary", ":all:", "--require-hashes", "-r", list)
	})
}

// run runs a program to its end; the error has its output.
func run(ctx context.Context, path string, args ...string) error {
	if output, err := exec.CommandContext(ctx, path, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("run %s: %w\n%s", filepath.Base(path), err, output)
	}
	return nil
}
