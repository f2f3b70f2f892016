package lab_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab"
)

func TestNew(t *testing.T) {
	t.Run("one lab per folder", func(t *testing.T) {
		g := NewWithT(t)
		dir := t.TempDir()
		first, err := lab.New(lab.Options{StateDir: dir})
		g.Expect(err).NotTo(HaveOccurred())
		_, err = lab.New(lab.Options{StateDir: dir})
		g.Expect(err).To(MatchError(And(ContainSubstring("in use by another lab"), ContainSubstring("choose another folder"))))
		g.Expect(first.Stop(t.Context())).To(Succeed())
	})
	t.Run("removes an earlier lab's state and nothing else", func(t *testing.T) {
		g := NewWithT(t)
		dir := t.TempDir()
		g.Expect(os.MkdirAll(filepath.Join(dir, "etcd", "member"), 0o700)).To(Succeed())
		g.Expect(os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o600)).To(Succeed())
		l, err := lab.New(lab.Options{StateDir: dir})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(filepath.Join(dir, "etcd")).NotTo(BeAnExistingFile())
		g.Expect(l.Stop(t.Context())).To(Succeed())
		g.Expect(filepath.Join(dir, "notes.txt")).To(BeAnExistingFile())
	})
	t.Run("a temporary folder goes with the lab", func(t *testing.T) {
		g := NewWithT(t)
		l, err := lab.New(lab.Options{})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(l.CAFile).To(BeAnExistingFile())
		g.Expect(l.Stop(t.Context())).To(Succeed())
		g.Expect(l.Dir).NotTo(BeADirectory())
		g.Expect(l.Stop(t.Context())).To(Succeed(), "a second time")
	})
	t.Run("a folder that cannot be made", func(t *testing.T) {
		g := NewWithT(t)
		_, err := lab.New(lab.Options{StateDir: "/proc/lab"})
		g.Expect(err).To(MatchError(ContainSubstring("choose another one")))
	})
}

func TestStartSaysWhichFixedPortIsTaken(t *testing.T) {
	g := NewWithT(t)
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = listener.Close() })
	_, err = lab.Start(t.Context(), lab.Options{
		Ironic: &lab.IronicOptions{Port: listener.Addr().(*net.TCPAddr).Port},
	})
	g.Expect(err).To(MatchError(And(ContainSubstring("is taken"), ContainSubstring("0 takes a free one"))))
}
