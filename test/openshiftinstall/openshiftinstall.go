// Package openshiftinstall gives tests a stand-in with openshift-install's command line:
// a script that makes files of the same names and shapes, and misbehaves when it is
// told to. What it makes installs nothing. The main type is [Program].
package openshiftinstall

import (
	_ "embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

//go:embed openshift-install
var script []byte

// Program is a stand-in of one test.
type Program struct {
	// Path is where it lies, in a folder of its own.
	Path string
	t    testing.TB
}

// New puts a stand-in into a folder that goes with the test.
func New(t testing.TB) *Program {
	t.Helper()
	return In(t, t.TempDir())
}

// In puts a stand-in into a given folder, such as one of a machine, which need not be there.
func In(t testing.TB, folder string) *Program {
	t.Helper()
	p := &Program{Path: filepath.Join(folder, "openshift-install"), t: t}
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(p.Path, script, 0o700)); err != nil {
		t.Fatal(err)
	}
	return p
}

// Behave makes all runs from now on do something: hang, leave, compute, memory, file,
// killed, refuse, tell, or missing, empty, half and link with a colon and a file; the
// empty text is the usual.
func (p *Program) Behave(how string) {
	p.t.Helper()
	if err := os.WriteFile(p.beside("behaviour"), []byte(how), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// Change makes it another program that does the same.
func (p *Program) Change() {
	p.t.Helper()
	if err := os.WriteFile(p.Path, append(script, "# changed\n"...), 0o700); err != nil {
		p.t.Fatal(err)
	}
}

// Bootstrap puts files by their paths, and units by their names, into bootstrap.ign from now
// on, in the place of a unit that does nothing.
func (p *Program) Bootstrap(files, units map[string]string) {
	p.t.Helper()
	for folder, all := range map[string]map[string]string{"root": files, "units": units} {
		for name, text := range all {
			path := filepath.Join(p.beside("bootstrap"), folder, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

// Runs are the commands of all runs so far.
func (p *Program) Runs() []string { return p.lines("runs") }

// Environment are the variables of the last run.
func (p *Program) Environment() []string { return p.lines("environment") }

// HandedIn are the files that lay in its folder tls when the last run made manifests, with
// their content.
func (p *Program) HandedIn() []string { return p.lines("handed-in") }

// Folder is where the last run was to put its files.
func (p *Program) Folder() string { return strings.Join(p.lines("folder"), "") }

// Child is the number of the process that the last run started, and 0 before it did.
func (p *Program) Child() int {
	p.t.Helper()
	text := strings.Join(p.lines("child"), "")
	if text == "" {
		return 0
	}
	id, err := strconv.Atoi(text)
	if err != nil {
		p.t.Fatal(err)
	}
	return id
}

func (p *Program) lines(name string) []string {
	p.t.Helper()
	raw, err := os.ReadFile(p.beside(name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	text := strings.TrimSpace(string(raw))
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (p *Program) beside(name string) string { return filepath.Join(filepath.Dir(p.Path), name) }
