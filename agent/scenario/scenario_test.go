package scenario_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
)

const minimal = `
name: node-1
hardware:
  system: {manufacturer: Example, product: Box, serial: S1}
  cpu: {architecture: x86_64, model: Example, count: 8, mhz: 2000}
  memoryMiB: 16384
  nics: [{name: eth0, mac: "52:54:00:00:00:01"}]
  disks: [{name: sda, sizeGiB: 120, type: SSD}]
`

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoad(t *testing.T) {
	for name, tc := range map[string]struct{ text, wantErr string }{
		"minimal":         {minimal, ""},
		"unknown member":  {minimal + "surprise: 1\n", "surprise"},
		"no interface":    {"name: x\nhardware: {cpu: {count: 1}, memoryMiB: 1}\n", "hardware.nics"},
		"bad duration":    {minimal + "timing: {post: soon}\n", "duration"},
		"unknown fault":   {minimal + "faults: [{kind: fire}]\n", "faults[0].kind"},
		"duration number": {minimal + "timing: {post: 5}\n", "want text"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s, err := scenario.Load(write(t, tc.text))
			if tc.wantErr != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(s.Hardware.CPU.Count).To(Equal(8))
		})
	}
}

func TestSaveAndLoadKeepEverything(t *testing.T) {
	g := NewWithT(t)
	path := write(t, minimal+"install: {stages: {Rebooting: 1m30s}}\n")
	first, err := scenario.Load(path)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first.Save(path)).To(Succeed())
	g.Expect(scenario.Load(path)).To(Equal(first))
}

func TestFaultsAreCountedAcrossProcesses(t *testing.T) {
	g := NewWithT(t)
	path := write(t, minimal+`faults:
- {kind: agent-dies, stage: Installing, times: 2}
- {kind: install, stage: Installing, text: no}
`)
	take := func(kind scenario.FaultKind, stage string) bool {
		s, err := scenario.Load(path) // each time as a new process would
		g.Expect(err).NotTo(HaveOccurred())
		_, taken, err := scenario.FaultsOf(path, s).Take(kind, stage)
		g.Expect(err).NotTo(HaveOccurred())
		return taken
	}
	g.Expect(take(scenario.FaultAgentDies, "Rebooting")).To(BeFalse(), "another stage")
	g.Expect(take(scenario.FaultAgentDies, "Installing")).To(BeTrue())
	g.Expect(take(scenario.FaultInstall, "Installing")).To(BeTrue(), "counted apart")
	g.Expect(take(scenario.FaultAgentDies, "Installing")).To(BeTrue())
	g.Expect(take(scenario.FaultAgentDies, "Installing")).To(BeFalse(), "twice is enough")
	g.Expect(take(scenario.FaultInstall, "Installing")).To(BeFalse(), "zero times means once")
}
