package images_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	testmedia "github.com/ironflow/ironflow/test/media"
)

func TestOldRevisionStaysWhileItMayBeRead(t *testing.T) {
	all := openMedia(t)
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := open(t, images.Options{Media: all, Grace: 10 * time.Minute})
		old, err := s.Put(t.Context(), spec("host", "1"))
		g.Expect(err).NotTo(HaveOccurred())
		now, err := s.Put(t.Context(), spec("host", "2"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(now.Changed).To(BeTrue())
		r := lookup(s, old.URL)
		g.Expect(r.Begin(0)).To(BeTrue())
		<-time.After(time.Hour)
		g.Expect(lookup(s, old.URL)).NotTo(BeNil(), "it is being read")
		r.Served(0, 100)
		r.End()
		<-time.After(9 * time.Minute)
		g.Expect(lookup(s, old.URL)).NotTo(BeNil(), "it was read a moment ago")
		<-time.After(2 * time.Minute)
		g.Expect(lookup(s, old.URL)).To(BeNil())
		g.Expect(lookup(s, now.URL)).NotTo(BeNil())

		// Going back to the old content revives the old address.
		back, err := s.Put(t.Context(), spec("host", "1"))
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(back.URL).To(Equal(old.URL))
		<-time.After(time.Hour)
		g.Expect(lookup(s, back.URL)).NotTo(BeNil())
	})
}

// What was replaced, with its old secrets, ends, however often it is read, and in
// the middle of a download, too.
func TestOldRevisionEndsThoughItIsRead(t *testing.T) {
	all := openMedia(t)
	for name, busy := range map[string]bool{"a read now and then": false, "a read that never ends": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				s := open(t, images.Options{Media: all})
				old, err := s.Put(t.Context(), spec("host", "1"))
				g.Expect(err).NotTo(HaveOccurred())
				<-time.After(24 * time.Hour)
				g.Expect(lookup(s, old.URL)).NotTo(BeNil(), "it is not replaced")
				if busy {
					g.Expect(lookup(s, old.URL).Begin(0)).To(BeTrue())
				}
				now, err := s.Put(t.Context(), spec("host", "2"))
				g.Expect(err).NotTo(HaveOccurred())
				var ended time.Duration
				for replaced := time.Now(); ended == 0; <-time.After(29 * time.Minute) {
					g.Expect(time.Since(replaced)).To(BeNumerically("<", 5*time.Hour), "it is still there")
					if r := lookup(s, old.URL); r != nil {
						r.Served(0, 100)
						continue
					}
					ended = time.Since(replaced)
				}
				g.Expect(ended).To(BeNumerically(">", 3*time.Hour), "a slow BMC comes to its end")
				g.Expect(lookup(s, now.URL)).NotTo(BeNil())
				_, err = s.Put(t.Context(), spec("host", "2"))
				g.Expect(err).NotTo(HaveOccurred())
				back, err := s.Put(t.Context(), spec("host", "1"))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(back.URL).To(Equal(old.URL))
				g.Expect(lookup(s, back.URL)).NotTo(BeNil(), "it is wanted again")
			})
		})
	}
}

// However often an image changes, who reads an old one comes to its end.
func TestManyChangesDoNotCutAReader(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Media: openMedia(t)})
	old, err := s.Put(t.Context(), spec("host", "first"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lookup(s, old.URL).Begin(0)).To(BeTrue())
	for i := range 9 {
		_, err := s.Put(t.Context(), spec("host", strconv.Itoa(i)))
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(lookup(s, old.URL)).NotTo(BeNil())
}

// A medium that was removed is let go when the last image over it is.
func TestRemovedMediaAreLetGo(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, rootfs int) {
		if err := testmedia.WriteFile(filepath.Join(dir, name), testmedia.Options{RootfsBytes: rootfs}); err != nil {
			t.Fatal(err)
		}
	}
	write("a.iso", 1<<20)
	registry, err := media.Open(t.Context(), dir, media.Options{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := open(t, images.Options{Media: registry, Grace: 10 * time.Minute})
		put := func(format string) images.Built {
			sp := spec(format, "1")
			sp.Format = format
			b, err := s.Put(t.Context(), sp)
			g.Expect(err).NotTo(HaveOccurred())
			return b
		}
		old := put(images.FormatInitrd)
		put(images.FormatMinimalISO)
		artifact, err := s.Artifact(t.Context(), "x86_64", "", overlay.RootfsPath)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(artifact).To(Equal(old.RootfsURL))
		write("b.iso", 2<<20)
		g.Expect(os.Remove(filepath.Join(dir, "a.iso"))).To(Succeed())
		g.Expect(registry.Rescan(t.Context())).To(Succeed())
		put(images.FormatInitrd)
		g.Expect(lookup(s, artifact)).NotTo(BeNil(), "the minimal ISO needs it")
		put(images.FormatMinimalISO)
		g.Expect(lookup(s, artifact)).NotTo(BeNil(), "the old images can still be read")
		<-time.After(time.Hour)
		put(images.FormatInitrd)
		put(images.FormatMinimalISO)
		put(images.FormatISO)
		g.Expect(lookup(s, artifact)).To(BeNil())
		g.Expect(lookup(s, old.KernelURL)).To(BeNil())
		g.Expect(lookup(s, put(images.FormatInitrd).KernelURL)).NotTo(BeNil())
	})
}

func TestRemoveRevokesAtOnce(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Media: openMedia(t), StateDir: t.TempDir()})
	old, err := s.Put(t.Context(), spec("host", "1"))
	g.Expect(err).NotTo(HaveOccurred())
	now, err := s.Put(t.Context(), spec("host", "2"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Remove("metal/host")).To(Succeed())
	g.Expect(s.Remove("metal/host")).To(Succeed())
	g.Expect(lookup(s, old.URL)).To(BeNil())
	g.Expect(lookup(s, now.URL)).To(BeNil())
	_, found := s.Progress("metal/host")
	g.Expect(found).To(BeFalse())
}

func TestComesBackAfterARestart(t *testing.T) {
	g := NewWithT(t)
	dir, all := filepath.Join(t.TempDir(), "state"), openMedia(t)
	s := open(t, images.Options{Media: all, StateDir: dir})
	var urls []string
	for _, name := range []string{"a", "b", "c"} {
		b, err := s.Put(t.Context(), spec(name, "secret of "+name))
		g.Expect(err).NotTo(HaveOccurred())
		urls = append(urls, b.URL)
	}
	g.Expect(s.Remove("metal/c")).To(Succeed())
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).To(HaveLen(2))
	for _, f := range files {
		info, err := os.Stat(f)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(info.Mode().Perm()).To(BeEquivalentTo(0o600), "configs hold secrets")
	}
	restarted := open(t, images.Options{Media: all, StateDir: dir})
	g.Expect(restarted.Keys()).To(Equal([]string{"metal/a", "metal/b"}))
	g.Expect(lookup(restarted, urls[0])).NotTo(BeNil())
	g.Expect(lookup(restarted, urls[2])).To(BeNil())
	b, err := restarted.Put(t.Context(), spec("a", "secret of a"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Changed).To(BeFalse())
}

// TestWhatAKilledProgramLeft: a file that it was writing has the secrets of a host.
func TestWhatAKilledProgramLeft(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	old, fresh := filepath.Join(dir, "new-1"), filepath.Join(dir, "new-2")
	for name, at := range map[string]time.Time{old: time.Now().Add(-2 * time.Hour), fresh: time.Now()} {
		g.Expect(os.WriteFile(name, []byte("secret"), 0o600)).To(Succeed())
		g.Expect(os.Chtimes(name, at, at)).To(Succeed())
	}
	open(t, images.Options{Media: openMedia(t), StateDir: dir})
	g.Expect(old).NotTo(BeAnExistingFile())
	g.Expect(fresh).To(BeAnExistingFile(), "another replica is writing it")
}

func TestUnknownAddressesAreGoneInTheEnd(t *testing.T) {
	all := openMedia(t)
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := open(t, images.Options{Media: all, SyncTimeout: time.Minute})
		g.Expect(s.Synced()).To(BeFalse())
		<-time.After(2 * time.Minute)
		g.Expect(s.Synced()).To(BeTrue())
		early := open(t, images.Options{Media: all})
		early.MarkSynced()
		g.Expect(early.Synced()).To(BeTrue())
	})
}
