package lab

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

func TestSweep(t *testing.T) {
	g := NewWithT(t)
	parent := t.TempDir()
	folder := func(name string, locked bool) string {
		dir := filepath.Join(parent, name)
		g.Expect(os.MkdirAll(filepath.Join(dir, "etcd"), 0o700)).To(Succeed())
		lock, err := lockFolder(dir, os.O_CREATE)
		g.Expect(err).NotTo(HaveOccurred())
		if locked {
			t.Cleanup(func() { _ = lock.Close() })
			return dir
		}
		g.Expect(lock.Close()).To(Succeed())
		return dir
	}
	running := folder("ironflow-lab-1", true)
	killed := folder("ironflow-lab-2", false)
	foreign := folder("something-else", false)

	sweep(parent, time.Now())
	g.Expect(killed).To(BeADirectory(), "too young to be abandoned")

	sweep(parent, time.Now().Add(time.Hour))
	g.Expect(killed).NotTo(BeAnExistingFile())
	g.Expect(running).To(BeADirectory())
	g.Expect(foreign).To(BeADirectory())
	_, err := lockFolder(running, 0)
	g.Expect(err).To(MatchError(errInUse))
}
