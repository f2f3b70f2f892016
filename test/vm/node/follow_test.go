package node

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// TestFollow: each milestone is told once, in its order, and a journal that comes late is none.
func TestFollow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		journal := filepath.Join(t.TempDir(), "journal.log")
		var told []string
		stop := Follow(journal, func(what string) { told = append(told, what) })
		for _, said := range []string{"", "systemd: Finished ironflow-programs.service - Programs\n", "bash: [preflight] Running pre-flight checks\n"} {
			file, err := os.OpenFile(journal, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = file.WriteString(said)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(file.Close()).To(Succeed())
			<-time.After(5 * time.Second)
		}
		stop()
		g.Expect(told).To(Equal([]string{milestones[0].means, milestones[1].means}))
	})
}
