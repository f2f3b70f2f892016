package lab

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// moduleLine begins the go.mod of this repository.
var moduleLine = []byte("module github.com/ironflow/ironflow\n")

// sourceRoot finds the repository's root: above the working directory, which is
// where tests and make run, or else above this source file.
func sourceRoot() (string, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the source tree: %w", err)
	}
	_, here, _, _ := runtime.Caller(0)
	for _, start := range []string{cwd, filepath.Dir(here)} {
		for dir := start; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
			if mod, err := os.ReadFile(filepath.Join(dir, "go.mod")); err == nil && bytes.HasPrefix(mod, moduleLine) {
				return dir, nil
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return "", errors.New("the source tree, from which the control plane is built, was not found: run inside it or set KUBEBUILDER_ASSETS")
}
