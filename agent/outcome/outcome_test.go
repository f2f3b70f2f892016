package outcome_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
)

func booted(t *testing.T, g *WithT) hostfile.Dir {
	dir := hostfile.Dir{Root: t.TempDir()}
	path := dir.Path(hostfile.BootIDPath())
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(path, []byte("boot-1\n"), 0o600)).To(Succeed())
	return dir
}

func TestMarkerOnlyAfterAnInstallation(t *testing.T) {
	t.Setenv(outcome.InvocationEnv, "abc")
	for name, tc := range map[string]struct {
		end    outcome.End
		marker bool
	}{
		"installed":              {outcome.End{Installed: true, Disk: "/dev/sda", Text: "installed"}, true},
		"failed":                 {outcome.End{Exit: exitcode.AgentFailed, Text: "no", Stage: "Installing", Percent: 7}, false},
		"cancelled":              {outcome.End{Exit: exitcode.AgentCancelled, Text: "stopped"}, false},
		"exit 0 of another kind": {outcome.End{Text: "register again"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := booted(t, g)
			g.Expect(dir.Write(hostfile.StepFile, hostfile.StepState{BootID: "boot-1", NodeUUID: "node"})).To(Succeed())
			g.Expect(tc.end.Write(dir)).To(Succeed())
			var reason hostfile.Reason
			g.Expect(dir.Read(hostfile.ReasonFile, &reason)).To(Succeed())
			g.Expect(reason).To(And(HaveField("BootID", "boot-1"), HaveField("Text", tc.end.Text), HaveField("Exit", tc.end.Exit), HaveField("Stage", tc.end.Stage), HaveField("Percent", tc.end.Percent)))
			var marker hostfile.Installed
			err := dir.Read(hostfile.InstalledFile, &marker)
			if !tc.marker {
				g.Expect(err).To(MatchError(hostfile.ErrNoState))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(marker).To(And(HaveField("BootID", "boot-1"), HaveField("InvocationID", "abc"), HaveField("NodeUUID", "node"), HaveField("Disk", "/dev/sda")))
		})
	}
}

func TestMarkerOfNobodyElsesStep(t *testing.T) {
	g := NewWithT(t)
	dir := booted(t, g)
	g.Expect(dir.Write(hostfile.StepFile, hostfile.StepState{BootID: "an older boot", NodeUUID: "node"})).To(Succeed())
	g.Expect((&outcome.End{Installed: true}).Write(dir)).To(Succeed())
	var marker hostfile.Installed
	g.Expect(dir.Read(hostfile.InstalledFile, &marker)).To(Succeed())
	g.Expect(marker.NodeUUID).To(BeEmpty())
}

func TestWithoutABootIDNothingIsProven(t *testing.T) {
	g := NewWithT(t)
	g.Expect((&outcome.End{Installed: true}).Write(hostfile.Dir{Root: t.TempDir()})).To(MatchError(ContainSubstring("boot id")))
}

func TestWriteReasonAddsTheServiceManagersView(t *testing.T) {
	systemd := func(name string) string {
		return map[string]string{"SERVICE_RESULT": "signal", "EXIT_CODE": "killed", "EXIT_STATUS": "KILL"}[name]
	}
	for name, tc := range map[string]struct {
		before *hostfile.Reason
		text   string
		exit   int
	}{
		"the agent's last word stays": {&hostfile.Reason{BootID: "boot-1", Text: "disk broke", Exit: 90, Stage: "Installing"}, "disk broke", 90},
		"no last word":                {nil, "the agent ended without a last word", -1},
		"a word of another boot":      {&hostfile.Reason{BootID: "boot-0", Text: "old news"}, "the agent ended without a last word", -1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := booted(t, g)
			if tc.before != nil {
				g.Expect(dir.Write(hostfile.ReasonFile, tc.before)).To(Succeed())
			}
			g.Expect(outcome.WriteReason(dir, systemd)).To(Succeed())
			var got hostfile.Reason
			g.Expect(dir.Read(hostfile.ReasonFile, &got)).To(Succeed())
			g.Expect(got).To(And(
				HaveField("Text", tc.text), HaveField("Exit", tc.exit), HaveField("ServiceResult", "signal"), HaveField("ExitCode", "killed"),
				HaveField("ExitStatus", "KILL"), HaveField("BootID", "boot-1"),
			))
			g.Expect(got.Time).NotTo(BeZero())
		})
	}
}
