package diskcopy_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/diskcopy"
	"github.com/ironflow/ironflow/hub/seal"
)

const diskSize = 1<<30 + 12345

// host is a folder with disks of that size, by their names.
func host(t *testing.T, size int64, names ...string) hostfile.Dir {
	t.Helper()
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	for _, name := range names {
		g.Expect(os.MkdirAll(dir.Path("/sys/block/"+name), 0o755)).To(Succeed())
		g.Expect(os.MkdirAll(dir.Path("/dev"), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(dir.Path("/dev/"+name), nil, 0o600)).To(Succeed())
		g.Expect(os.Truncate(dir.Path("/dev/"+name), size)).To(Succeed())
	}
	return dir
}

func place(t *testing.T, name, secret string) diskcopy.Place {
	t.Helper()
	keys, err := seal.New(bytes.Repeat([]byte(secret), 32))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return diskcopy.Place{Name: name, Keys: keys}
}

// tail is what is on a disk that was empty, and where that begins.
func tail(t *testing.T, path string) (text []byte, begins int64) {
	t.Helper()
	g := NewWithT(t)
	f, err := os.Open(path)
	g.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	begins, err = f.Seek(0, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return nil, -1
	}
	g.Expect(err).NotTo(HaveOccurred())
	text, err = io.ReadAll(f)
	g.Expect(err).NotTo(HaveOccurred())
	return text, begins
}

// headers are where copies begin on a disk.
func headers(t *testing.T, path string) (all []int64) {
	t.Helper()
	text, begins := tail(t, path)
	for at := 0; ; {
		i := bytes.Index(text[at:], []byte("IRONFLOW HUB COPY"))
		if i < 0 {
			return all
		}
		at += i + 1
		all = append(all, begins+int64(at-1))
	}
}

// overwrite puts a text on a disk.
func overwrite(t *testing.T, path, text string, at int64) {
	t.Helper()
	g := NewWithT(t)
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = f.WriteAt([]byte(text), at)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(f.Close()).To(Succeed())
}

func TestTheNewestCopyIsFound(t *testing.T) {
	g := NewWithT(t)
	dir, p := host(t, diskSize, "sda", "nvme0n1", "loop0"), place(t, "edge", "k")
	none, err := diskcopy.Find(dir, p)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(none).To(Equal(diskcopy.Found{}))

	d := diskcopy.On(dir, "/dev/nvme0n1", p)
	for _, text := range []string{"one", "two", "three"} {
		g.Expect(d.Write([]byte(text))).To(Succeed())
		found, err := diskcopy.Find(dir, p)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(found.State)).To(Equal(text))
		g.Expect(found.Disk.Path).To(Equal(dir.Path("/dev/nvme0n1")))
	}
	text, begins := tail(t, d.Path)
	g.Expect(bytes.Contains(text, []byte("three"))).To(BeFalse(), "nobody reads it who has only the disk")
	g.Expect(begins).To(BeNumerically(">", diskSize-66<<20), "all before is as it was")
	g.Expect(bytes.Count(text[len(text)-1<<20:], []byte{0})).To(Equal(1<<20), "as is the end, where partition tables are")

	// The next hub goes on where this one was.
	found, err := diskcopy.Find(dir, p)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found.Disk.Write([]byte("four"))).To(Succeed())
	again, err := diskcopy.Find(dir, p)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(again.State)).To(Equal("four"))
	g.Expect(found.Disk.Erase()).To(Succeed())
	none, err = diskcopy.Find(dir, p)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(none).To(Equal(diskcopy.Found{}))
}

// TestACopyThatIsNotWhole: power is lost while it is written.
func TestACopyThatIsNotWhole(t *testing.T) {
	g := NewWithT(t)
	dir, p := host(t, diskSize, "sda"), place(t, "edge", "k")
	d := diskcopy.On(dir, "/dev/sda", p)
	g.Expect(d.Write([]byte("one"))).To(Succeed())
	older := headers(t, d.Path)
	g.Expect(older).To(HaveLen(1))
	g.Expect(d.Write([]byte("two"))).To(Succeed())
	for _, at := range headers(t, d.Path) {
		if at != older[0] {
			overwrite(t, d.Path, "!", at+4096+20)
		}
	}
	found, err := diskcopy.Find(dir, p)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(found.State)).To(Equal("one"))
}

func TestCopiesOfOthers(t *testing.T) {
	g := NewWithT(t)
	dir := host(t, diskSize, "sda")
	g.Expect(diskcopy.On(dir, "/dev/sda", place(t, "edge", "k")).Write([]byte("one"))).To(Succeed())
	for _, p := range []diskcopy.Place{place(t, "other", "k"), place(t, "edge", "x")} {
		none, err := diskcopy.Find(dir, p)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(none).To(Equal(diskcopy.Found{}))
	}
}

// with is the place of a hub of the installation that was started with these settings.
func with(t *testing.T, settings byte) diskcopy.Place {
	t.Helper()
	p := place(t, "edge", "k")
	p.Settings[0] = settings
	return p
}

// TestCopiesOfOtherSettings: the image was made again with other manifests. Its hub begins anew, and
// what the old one has left is over from then on.
func TestCopiesOfOtherSettings(t *testing.T) {
	g := NewWithT(t)
	dir, old, now := host(t, diskSize, "sda", "sdb"), with(t, 1), with(t, 2)
	g.Expect(diskcopy.On(dir, "/dev/sda", old).Write([]byte("old"))).To(Succeed())
	found, err := diskcopy.Find(dir, now)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(Equal(diskcopy.Found{PassedOver: []string{dir.Path("/dev/sda")}}))
	found, err = diskcopy.Find(dir, old)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(found.State)).To(Equal("old"), "the same image goes on")

	d := diskcopy.On(dir, "/dev/sda", now)
	g.Expect(d.Look()).To(Succeed())
	g.Expect(d.Write([]byte("new"))).To(Succeed())
	found, err = diskcopy.Find(dir, now)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(found.State)).To(Equal("new"))
	g.Expect(found.PassedOver).To(BeEmpty())
	found, err = diskcopy.Find(dir, old)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(Equal(diskcopy.Found{PassedOver: []string{dir.Path("/dev/sda")}}), "the older copy beside it is over")

	g.Expect(d.Erase()).To(Succeed())
	g.Expect(diskcopy.On(dir, "/dev/sda", old).Write([]byte("a"))).To(Succeed())
	g.Expect(diskcopy.On(dir, "/dev/sdb", now).Write([]byte("b"))).To(Succeed())
	found, err = diskcopy.Find(dir, now)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(found.State)).To(Equal("b"))
}

// TestACopyWithoutSettings is of an older program, which a newer one goes on from; not so the other
// way around.
func TestACopyWithoutSettings(t *testing.T) {
	g := NewWithT(t)
	dir := host(t, diskSize, "sda")
	d := diskcopy.On(dir, "/dev/sda", with(t, 0))
	g.Expect(d.Write([]byte("older"))).To(Succeed())
	found, err := diskcopy.Find(dir, with(t, 1))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(found.State)).To(Equal("older"))
	g.Expect(found.Disk.Write([]byte("newer"))).To(Succeed())
	found, err = diskcopy.Find(dir, with(t, 0))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(Equal(diskcopy.Found{PassedOver: []string{dir.Path("/dev/sda")}}))
}

func TestWhatNoCopyIsPutOn(t *testing.T) {
	g := NewWithT(t)
	p := place(t, "edge", "k")
	small := host(t, 1<<29, "sda")
	g.Expect(diskcopy.On(small, "/dev/sda", p).Write([]byte("one"))).To(MatchError(diskcopy.ErrTooSmall))
	dir := host(t, diskSize, "sda")
	big := make([]byte, diskcopy.MaxText)
	_, err := rand.Read(big)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(diskcopy.On(dir, "/dev/sda", p).Write(big)).To(MatchError(diskcopy.ErrTooLarge))
	file := filepath.Join(t.TempDir(), "disk")
	g.Expect(os.WriteFile(file, nil, 0o600)).To(Succeed())
	g.Expect(os.Truncate(file, diskSize)).To(Succeed())
	g.Expect(diskcopy.On(hostfile.Dir{}, file, p).Write([]byte("one"))).To(MatchError(ContainSubstring("is no disk")), "a path that a host has made up")
	text, _ := tail(t, file)
	g.Expect(text).To(BeEmpty())
}

// TestWhatWasWrittenSinceStays: the disk has been installed over the copy.
func TestWhatWasWrittenSinceStays(t *testing.T) {
	g := NewWithT(t)
	dir, p := host(t, diskSize, "sda"), place(t, "edge", "k")
	d := diskcopy.On(dir, "/dev/sda", p)
	g.Expect(d.Write([]byte("one"))).To(Succeed())
	at := headers(t, d.Path)[0]
	overwrite(t, d.Path, "a file system", at)
	g.Expect(d.Erase()).To(Succeed())
	text, begins := tail(t, d.Path)
	g.Expect(string(text[at-begins:][:13])).To(Equal("a file system"))
}
