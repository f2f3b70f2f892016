package demo

import (
	"debug/buildinfo"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the golden files")

// TestTheFirstLines say what is simulated and how to look, with --once too. With
// MACHINE=1 they say which machine is a whole one, and where its console is.
func TestTheFirstLines(t *testing.T) {
	for name, options := range map[string]Options{
		"first-lines":         {BinDir: "/src/ironflow/bin", Once: true},
		"first-lines-machine": {BinDir: "/src/ironflow/bin", Machine: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				var out strings.Builder
				d := &demo{options: options, dir: "/tmp/ironflow-demo", screen: newScreen(Options{Out: &out})}
				d.introduce()
				golden := filepath.Join("testdata", name+".golden")
				if *update {
					g.Expect(os.WriteFile(golden, []byte(out.String()), 0o644)).To(Succeed())
				}
				want, err := os.ReadFile(golden)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(out.String()).To(Equal(string(want)), "run with -update after a change that is meant")
			})
		})
	}
}

func TestThePagesSayWhatTheDemoSays(t *testing.T) {
	g := NewWithT(t)
	for _, page := range []string{"../../README.md", "../../docs/machines.md"} {
		raw, err := os.ReadFile(page)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(raw)).To(And(ContainSubstring(Real), ContainSubstring(Proven)), page)
	}
}

// TestTheListOfWhatIsSimulatedIsExact: the six things that a machine has and the demo's machines do not.
func TestTheListOfWhatIsSimulatedIsExact(t *testing.T) {
	g := NewWithT(t)
	_, list, _ := strings.Cut(Real, "; simulated: ")
	words := regexp.MustCompile(` \([^)]*\)`).ReplaceAllString(list, "")
	g.Expect(strings.FieldsFunc(strings.ReplaceAll(words, " and ", ", "), func(c rune) bool { return c == ',' || c == ' ' })).To(
		Equal([]string{"BMC", "machine", "Ignition", "IPA", "systemd", "disk"}))
	g.Expect(Real).NotTo(ContainSubstring("\n"), "one line")
}

// TestWhereTheRealThingIsProven: the targets that the demo names are there, and the tests that the page for developers names for it.
func TestWhereTheRealThingIsProven(t *testing.T) {
	g := NewWithT(t)
	_, named, found := strings.Cut(pages.Read(t, "../..", "machines.md"), "Where it is for real, tests show it: ")
	g.Expect(found).To(BeTrue())
	named, _, _ = strings.Cut(named, "\n")
	g.Expect(pages.Tests(t, "../..", named)).To(Equal(4))
	makefile, err := os.ReadFile("../../Makefile")
	g.Expect(err).NotTo(HaveOccurred())
	for _, target := range regexp.MustCompile(`make (test-\w+)`).FindAllStringSubmatch(Proven, -1) {
		g.Expect(string(makefile)).To(ContainSubstring("\n" + target[1] + ": "))
	}
}

// TestTheDemosPrograms are the shipped ones, except for the step's: it has the stand-in for systemd in it.
func TestTheDemosPrograms(t *testing.T) {
	dir := os.Getenv("IRONFLOW_BIN")
	if dir == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("IRONFLOW_BIN is not set: run this by `make test`")
		}
		t.Skip("IRONFLOW_BIN is not set: run this by `make test`, which builds the programs first")
	}
	const module = "github.com/ironflow/ironflow/"
	for program, source := range map[string]string{"ironflow": "cmd/ironflow", "lab/ironflow-agent": "cmd/ironflow-agent", "lab/ironflow-step": "test/cmd/ironflow-step"} {
		g := NewWithT(t)
		info, err := buildinfo.ReadFile(filepath.Join(dir, program))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Path).To(Equal(module+source), program)
	}
}

// TestKubectlIsLinked: the folder that the first lines put into PATH has the
// control plane's kubectl, also after an earlier run in the same folder.
func TestKubectlIsLinked(t *testing.T) {
	g := NewWithT(t)
	d := &demo{dir: t.TempDir()}
	for _, assets := range []string{"earlier", "now"} {
		assets = filepath.Join(t.TempDir(), assets)
		g.Expect(os.MkdirAll(assets, 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(assets, "kubectl"), []byte(assets), 0o600)).To(Succeed())
		d.lab = &lab.Lab{ControlPlane: &lab.ControlPlane{AssetsDir: assets}}
		g.Expect(d.linkTools()).To(Succeed())
		raw, err := os.ReadFile(filepath.Join(d.toolDir(), "kubectl"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(raw)).To(Equal(assets))
	}
}
