package demo

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

func TestTheFirstLinesSayWhatIsSimulated(t *testing.T) {
	g := NewWithT(t)
	var out strings.Builder
	d := &demo{screen: newScreen(Options{Out: &out})}
	d.introduce()
	g.Expect(strings.Split(out.String(), "\n")).To(HaveExactElements(HaveSuffix(Real), HaveSuffix(Simulated), ""))
}

func TestThePagesSayWhatTheDemoSays(t *testing.T) {
	g := NewWithT(t)
	for _, page := range []string{"../../README.md", "../../docs/machines.md"} {
		raw, err := os.ReadFile(page)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(raw)).To(And(ContainSubstring(Real), ContainSubstring(Simulated)), page)
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
	for program, standin := range map[string]bool{"ironflow": false, "lab/ironflow-agent": false, "lab/ironflow-step": true} {
		g := NewWithT(t)
		info, err := buildinfo.ReadFile(filepath.Join(dir, program))
		g.Expect(err).NotTo(HaveOccurred())
		tags := ""
		for _, s := range info.Settings {
			if s.Key == "-tags" {
				tags = s.Value
			}
		}
		g.Expect(strings.Contains(tags, "standin")).To(Equal(standin), program)
	}
}
