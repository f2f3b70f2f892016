package hostfile_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

func TestParseStepDeadlines(t *testing.T) {
	for text, want := range map[string]hostfile.StepDeadlines{
		"":                        {},
		"start=10m":               {StartSeconds: 600},
		"start=90s, total=3h":     {StartSeconds: 90, TotalSeconds: 10800},
		"stage=2h":                {StageSeconds: 7200},
		"idle=30m,start=1s,":      {StartSeconds: 1, IdleSeconds: 1800},
		" total = 2h , idle = 5m": {IdleSeconds: 300, TotalSeconds: 7200},
	} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			got, err := hostfile.ParseStepDeadlines(text)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(Equal(want))
		})
	}
	for _, text := range []string{"begin=1m", "start", "start=soon", "start=0s", "start=-1m"} {
		t.Run("refuses "+text, func(t *testing.T) {
			_, err := hostfile.ParseStepDeadlines(text)
			NewWithT(t).Expect(err).To(MatchError(ContainSubstring("deadline")))
		})
	}
}

func TestDirKeepsToItsRoot(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	d := hostfile.Dir{Root: root}
	g.Expect(d.Path("/run/ironflow/step.json")).To(Equal(filepath.Join(root, "run/ironflow/step.json")))
	g.Expect(d.Path(d.Path("/etc/x"))).To(Equal(filepath.Join(root, "etc/x")), "resolving twice is harmless")
	g.Expect(hostfile.Dir{}.Path("/etc/x")).To(Equal("/etc/x"))
}

func TestStateFiles(t *testing.T) {
	g := NewWithT(t)
	d := hostfile.Dir{Root: t.TempDir()}
	var got hostfile.Reason
	g.Expect(d.Read(hostfile.ReasonFile, &got)).To(MatchError(hostfile.ErrNoState))

	want := hostfile.Reason{BootID: "b", Stage: "Rebooting", Exit: 90, Text: "no disk"}
	g.Expect(d.Write(hostfile.ReasonFile, want)).To(Succeed())
	g.Expect(d.Read(hostfile.ReasonFile, &got)).To(Succeed())
	g.Expect(got).To(Equal(want))
	info, err := os.Stat(d.Path(hostfile.ReasonFile))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))

	g.Expect(os.WriteFile(d.Path(hostfile.ReasonFile), []byte("{"), 0o600)).To(Succeed())
	err = d.Read(hostfile.ReasonFile, &got)
	g.Expect(err).To(MatchError(ContainSubstring(hostfile.ReasonFile)))
	g.Expect(errors.Is(err, hostfile.ErrNoState)).To(BeFalse(), "a broken file is not a missing one")
}

// TestTheStepFileOfAHostWithManyDisks: hosts with 15,000 paths of disks exist, and a node may say of all that nobody
// may touch them. A file that could not be read again is not written.
func TestTheStepFileOfAHostWithManyDisks(t *testing.T) {
	g := NewWithT(t)
	d := hostfile.Dir{Root: t.TempDir()}
	state := hostfile.StepState{BootID: "b", Kept: map[string]string{}}
	for i := range 15000 {
		state.Kept[fmt.Sprintf("/dev/sd%05d", i)] = "it is the same disk as /dev/sdaaaa, and the node's skip_block_devices has vendor=NETAPP"
	}
	g.Expect(d.Write(hostfile.StepFile, state)).To(Succeed())
	var got hostfile.StepState
	g.Expect(d.Read(hostfile.StepFile, &got)).To(Succeed())
	g.Expect(got).To(Equal(state))

	state.Kept["/dev/sda"] = strings.Repeat("x", 16<<20)
	g.Expect(d.Write(hostfile.StepFile, state)).To(MatchError(ContainSubstring(hostfile.StepFile)))
	g.Expect(d.Read(hostfile.StepFile, &got)).To(Succeed(), "the old one stays")
}
