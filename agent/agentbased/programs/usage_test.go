package programs

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/program"
	"github.com/ironflow/ironflow/api/hostfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// call runs the command line in a root directory of its own, unless the test has
// set one, and returns exit code, stdout and stderr.
func call(t *testing.T, argv ...string) (int, string, string) {
	t.Helper()
	if os.Getenv(hostfile.RootEnv) == "" {
		t.Setenv(hostfile.RootEnv, t.TempDir())
	}
	var out, errs bytes.Buffer
	code := Main(t.Context(), program.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}, argv)
	return code, out.String(), errs.String()
}

func TestTheUsageOfEveryName(t *testing.T) {
	names := []string{BinaryName}
	for _, p := range Programs() {
		names = append(names, p.Name)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			code, out, errs := call(t, "/usr/bin/"+name, "--help")
			g.Expect(code).To(BeZero())
			g.Expect(errs).To(BeEmpty(), "help that was asked for is output")
			golden := filepath.Join("testdata", "usage", name+".txt")
			if *update {
				g.Expect(os.MkdirAll(filepath.Dir(golden), 0o755)).To(Succeed())
				g.Expect(os.WriteFile(golden, []byte(out), 0o644)).To(Succeed())
			}
			want, err := os.ReadFile(golden)
			g.Expect(err).NotTo(HaveOccurred(), "run go test ./agent/agentbased/programs -update")
			g.Expect(out).To(Equal(string(want)))
		})
	}
}
