package prereq

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// EnvPython names the environment variable that chooses the interpreter.
const EnvPython = "IRONFLOW_PYTHON"

// pythonNames are tried in order. The distribution's default comes first.
var pythonNames = []string{"python3", "python3.14", "python3.13", "python3.12", "python3.11"}

// Python is an interpreter that can make environments for the lab.
type Python struct {
	// Path is the command to call it by.
	Path string
	// Version is like 3.11.7.
	Version string
}

// FindPython returns the first usable interpreter. The error names the best one
// seen and what it lacks.
func FindPython(ctx context.Context, machine Machine) (Python, error) {
	names := pythonNames
	if chosen := machine.Getenv(EnvPython); chosen != "" {
		names = []string{chosen}
	}
	var firstErr error
	for _, name := range names {
		python, err := tryPython(ctx, machine, name)
		if err == nil {
			return python, nil
		}
		if firstErr == nil && python.Version != "" {
			firstErr = err
		}
	}
	if firstErr != nil {
		return Python{}, firstErr
	}
	return Python{}, fmt.Errorf("no Python, which Ironic runs on, was found (%s): install Python %s or newer with its venv module (Debian: apt-get install python3-venv) or set %s to its path",
		strings.Join(names, ", "), minPython, EnvPython)
}

// tryPython examines one interpreter. The version is set if it runs at all.
func tryPython(ctx context.Context, machine Machine, name string) (Python, error) {
	info, err := machine.Python(ctx, name)
	if err != nil {
		return Python{}, err
	}
	python := Python{Path: name, Version: info.Version}
	switch {
	case older(info.Version, minPython):
		return python, fmt.Errorf("%s is Python %s, too old for this Ironic: install Python %s or newer and set %s to its path",
			name, info.Version, minPython, EnvPython)
	case !info.Venv || !info.Pip:
		return python, fmt.Errorf("%s (Python %s) lacks the %s module: install it (Debian: apt-get install python3-venv) or set %s to a complete Python",
			name, info.Version, missingModule(info), EnvPython)
	}
	return python, nil
}

// missingModule names what an incomplete interpreter lacks.
func missingModule(info PythonInfo) string {
	if !info.Venv {
		return "venv"
	}
	return "ensurepip"
}

// older compares versions like 1.26.8 or 1.27rc1 by their numbers. What is not
// a number counts as 0.
func older(version, minimum string) bool {
	have, want := numbers(version), numbers(minimum)
	for i := range want {
		if have[i] != want[i] {
			return have[i] < want[i]
		}
	}
	return false
}

// numbers are the first three numbers of a version.
func numbers(version string) (parts [3]int) {
	for i, field := range strings.SplitN(version, ".", len(parts)) {
		digits := field[:len(field)-len(strings.TrimLeft(field, "0123456789"))]
		parts[i], _ = strconv.Atoi(digits)
	}
	return parts
}
