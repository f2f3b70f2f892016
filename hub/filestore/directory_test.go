package filestore_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/filestore"
)

// TestLinksDoNotLeadOutOfTheFolder: whoever can make a link in it reads and
// writes nothing else.
func TestLinksDoNotLeadOutOfTheFolder(t *testing.T) {
	g := NewWithT(t)
	folder, outside := t.TempDir(), t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(outside, "secret"), []byte("secret"), 0o600)).To(Succeed())
	g.Expect(os.Symlink(outside, filepath.Join(folder, "out"))).To(Succeed())
	g.Expect(os.Symlink(filepath.Join(outside, "secret"), filepath.Join(folder, "link"))).To(Succeed())
	d := directory(t, folder)
	for _, name := range []string{"out/secret", "link"} {
		_, _, err := d.Open(t.Context(), name)
		g.Expect(err).To(HaveOccurred(), name)
	}
	_, err := d.Put(t.Context(), "out/new", strings.NewReader("x"), 1)
	g.Expect(err).To(MatchError(filestore.ErrUnavailable))
	_ = d.Remove(t.Context(), "out/secret")
	g.Expect(names(t, d, "")).To(BeEmpty())
	left, err := os.ReadDir(outside)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(HaveLen(1))
	raw, err := os.ReadFile(filepath.Join(outside, "secret"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(Equal("secret"))
}

// TestUnfinishedFilesAreSwept: a program that was killed leaves a part of a file,
// which nobody sees; another program that is still writing is left alone.
func TestUnfinishedFilesAreSwept(t *testing.T) {
	g := NewWithT(t)
	folder, now := t.TempDir(), time.Now()
	d := directory(t, folder)
	left := filepath.Join(folder, ".incoming")
	for name, age := range map[string]time.Duration{"killed": 24 * time.Hour, "writing": time.Hour} {
		g.Expect(os.WriteFile(filepath.Join(left, name), []byte("half"), 0o600)).To(Succeed())
		g.Expect(os.Chtimes(filepath.Join(left, name), now.Add(-age), now.Add(-age))).To(Succeed())
	}
	g.Expect(names(t, d, "")).To(BeEmpty())
	directory(t, folder)
	found, err := os.ReadDir(left)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(HaveLen(1))
	g.Expect(found[0].Name()).To(Equal("writing"))
}

// TestNothingIsLeftOver: neither a file that was stored nor one that was refused
// leaves a temporary one, and only the owner can read what was stored.
func TestNothingIsLeftOver(t *testing.T) {
	g := NewWithT(t)
	folder := filepath.Join(t.TempDir(), "files")
	d := directory(t, folder)
	put(t, d, "a/b", "x")
	_, err := d.Put(t.Context(), "a/c", strings.NewReader("too much"), 1)
	g.Expect(err).To(HaveOccurred())
	left, err := os.ReadDir(filepath.Join(folder, ".incoming"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeEmpty())
	for _, name := range []string{".", "a", "a/b"} {
		info, err := os.Stat(filepath.Join(folder, name))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()&0o077).To(BeZero(), name)
	}
}

// TestAFileThatWasCutIsNoticed: what a broken disk took away is not handed out as
// a shorter file.
func TestAFileThatWasCutIsNoticed(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	d := directory(t, folder)
	put(t, d, "file", "0123456789")
	f, _, err := d.Open(t.Context(), "file")
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	g.Expect(os.Truncate(filepath.Join(folder, "file"), 4)).To(Succeed())
	var read strings.Builder
	_, err = io.Copy(&read, f)
	g.Expect(err).To(MatchError(filestore.ErrUnavailable))
	g.Expect(read.String()).To(Equal("0123"))
}
