package notify_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/notify"
	"github.com/ironflow/ironflow/api/hostfile"
)

// TestTheStatusIsKeptBeforeItIsSent: who hears of the text finds its fields.
func TestTheStatusIsKeptBeforeItIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		g.Expect(os.MkdirAll(filepath.Dir(dir.Path(hostfile.BootIDPath())), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(dir.Path(hostfile.BootIDPath()), []byte("b-1\n"), 0o600)).To(Succeed())
		var found []hostfile.AgentStatus
		n := notify.New(slog.New(slog.DiscardHandler), func(state string) error {
			var s hostfile.AgentStatus
			g.Expect(dir.Read(hostfile.StatusFile, &s)).To(Succeed())
			g.Expect(state).To(Equal("STATUS=" + s.Status.String()))
			found = append(found, s)
			return nil
		}, notify.File(dir, "aa"))
		said := hostfile.Status{Part: hostfile.PartInstalling, Percent: -1, Text: "the hub's own installer is at work"}
		n.Status(said)
		said.At = time.Now().UTC()
		g.Expect(found).To(HaveExactElements(hostfile.AgentStatus{BootID: "b-1", InvocationID: "aa", Status: said}))
	})
}

// TestAStatusThatCannotBeKept leaves none that is old.
func TestAStatusThatCannotBeKept(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	g.Expect(dir.Write(hostfile.StatusFile, hostfile.AgentStatus{BootID: "b-1", InvocationID: "aa"})).To(Succeed())
	sent := 0
	n := notify.New(slog.New(slog.DiscardHandler), func(string) error { sent++; return nil }, notify.File(dir, "aa")) // no boot id
	n.Waiting("approve the host")
	g.Expect(sent).To(Equal(1), "people still see it")
	g.Expect(dir.Path(hostfile.StatusFile)).NotTo(BeAnExistingFile())
}
