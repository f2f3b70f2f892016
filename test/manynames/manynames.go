// Package manynames tests the binaries that hold many programs: what each name answers
// when it is asked for help, and how one is called.
package manynames

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Main is that of a binary: it returns the exit code.
type Main func(ctx context.Context, s program.Streams, argv []string) int

// Call runs the command line in a root directory of its own, unless the test has set one,
// and returns exit code, stdout and stderr.
func (m Main) Call(t *testing.T, argv ...string) (int, string, string) {
	t.Helper()
	if os.Getenv(hostfile.RootEnv) == "" {
		t.Setenv(hostfile.RootEnv, t.TempDir())
	}
	var out, errs bytes.Buffer
	code := m(t.Context(), program.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, argv)
	return code, out.String(), errs.String()
}

// Usages holds the help of the binary and of each of its programs against the files below
// testdata/usage of the caller; update writes those anew.
func (m Main) Usages(t *testing.T, binary string, programs []program.Program, update bool) {
	t.Helper()
	names := []string{binary}
	for _, p := range programs {
		names = append(names, p.Name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			code, out, errs := m.Call(t, "/usr/bin/"+name, "--help")
			g.Expect(code).To(gomega.BeZero())
			g.Expect(errs).To(gomega.BeEmpty(), "help that was asked for is output")
			golden := filepath.Join("testdata", "usage", name+".txt")
			if update {
				g.Expect(os.MkdirAll(filepath.Dir(golden), 0o755)).To(gomega.Succeed())
				g.Expect(os.WriteFile(golden, []byte(out), 0o644)).To(gomega.Succeed())
			}
			want, err := os.ReadFile(golden)
			g.Expect(err).NotTo(gomega.HaveOccurred(), "run the tests of this package with -update")
			g.Expect(out).To(gomega.Equal(string(want)))
			if name == binary {
				return
			}
			_, single, _ := m.Call(t, name, "-help")
			g.Expect(single).To(gomega.Equal(out), "one dash is as good as two")
			_, argument, _ := m.Call(t, binary, name, "--help")
			g.Expect(argument).To(gomega.Equal(out), "a name as an argument is as good as a link")
		})
	}
}
