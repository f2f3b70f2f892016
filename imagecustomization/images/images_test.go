package images_test

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/base"
	"github.com/ironflow/ironflow/imagecustomization/embedded"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/media"
)

const url = "http://192.0.2.1:8080"

func bases(t testing.TB) *base.Registry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "live.iso")
	if err := media.WriteFile(path, media.Options{RootfsBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	r, err := base.Open(context.Background(), path, base.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func open(t testing.TB, o images.Options) *images.Store {
	t.Helper()
	if o.SigningKey == nil {
		o.SigningKey = []byte(strings.Repeat("k", 32))
	}
	if o.BaseURL == "" {
		o.BaseURL = url
	}
	s, err := images.NewStore(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func spec(name, ignition string) images.Spec {
	return images.Spec{Key: "metal/" + name, UID: "uid-" + name, Arch: "x86_64", Ignition: []byte(ignition)}
}

func lookup(s *images.Store, address string) *images.Revision {
	return s.Lookup(strings.TrimPrefix(address, url))
}

func TestPutGivesADownloadableImage(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Bases: bases(t)})
	b, err := s.Put(t.Context(), spec("host-0", `{"a":1}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Changed).To(BeTrue())
	g.Expect(b.URL).To(MatchRegexp(`^http://192\.0\.2\.1:8080/images/[A-Za-z0-9_-]{22}/[0-9a-f]{12}/host-0\.iso$`))
	g.Expect(b.MemoryBytes).To(BeNumerically("<", 4096))
	r := lookup(s, b.URL)
	g.Expect(embedded.ReadIgnition(r.Image, r.Image.Size())).To(BeEquivalentTo(`{"a":1}`))
	g.Expect(b.SizeBytes).To(Equal(r.Image.Size()))

	again, err := s.Put(t.Context(), spec("host-0", `{"a":1}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Changed).To(BeFalse())
	g.Expect(again.URL).To(Equal(b.URL))
	g.Expect(lookup(s, again.URL)).To(BeIdenticalTo(r), "coverage and readers stay")
}

func TestAddresses(t *testing.T) {
	g := NewWithT(t)
	all := bases(t)
	s, replica := open(t, images.Options{Bases: all}), open(t, images.Options{Bases: all})
	other := open(t, images.Options{Bases: all, SigningKey: []byte(strings.Repeat("x", 40))})
	put := func(s *images.Store, sp images.Spec) string {
		b, err := s.Put(t.Context(), sp)
		g.Expect(err).NotTo(HaveOccurred())
		return b.URL
	}
	first := put(s, spec("a", "1"))
	g.Expect(put(replica, spec("a", "1"))).To(Equal(first), "the same in every replica and after a restart")
	g.Expect(put(other, spec("a", "1"))).NotTo(Equal(first), "nobody makes one without the key")
	remade := spec("a", "1")
	remade.UID = "another"
	g.Expect(put(replica, remade)).NotTo(Equal(first), "a host that is made anew")
	long := images.Spec{Key: strings.Repeat("n", 63) + "/" + strings.Repeat("h", 253), Ignition: []byte("1")}
	g.Expect(len(put(s, long))).To(BeNumerically("<=", 255))
	g.Expect(put(s, long)).To(HaveSuffix(".iso"))
	for _, bad := range []string{"/", "/images/", "/images/x/y/a.iso", first[len(url):] + "x", strings.ToLower(first[len(url):]) + "/"} {
		g.Expect(s.Lookup(bad)).To(BeNil(), bad)
	}
}

func TestLongServerAddressIsRefusedAtOnce(t *testing.T) {
	s := open(t, images.Options{Bases: bases(t), BaseURL: "http://" + strings.Repeat("a", 200) + ".example.com"})
	_, err := s.Put(t.Context(), spec("host", "1"))
	NewWithT(t).Expect(err).To(And(MatchError(images.ErrBadSpec), MatchError(ContainSubstring("BMCs take 255"))))
}

func TestRefusals(t *testing.T) {
	s := open(t, images.Options{Bases: bases(t)})
	edit := func(f func(*images.Spec)) images.Spec {
		sp := spec("host", "1")
		f(&sp)
		return sp
	}
	cases := []struct {
		name string
		spec images.Spec
		want error
		text string
	}{
		{"no key", edit(func(s *images.Spec) { s.Key = "" }), images.ErrBadSpec, "namespace/name"},
		{"strange name", edit(func(s *images.Spec) { s.Key = "a/b c" }), images.ErrBadSpec, "namespace/name"},
		{"no config", edit(func(s *images.Spec) { s.Ignition = nil }), images.ErrBadSpec, "neither an Ignition config nor network settings"},
		{"unknown format", edit(func(s *images.Spec) { s.Format = "qcow2" }), images.ErrUnsupported, "qcow2"},
		{"no such base", edit(func(s *images.Spec) { s.Arch = "aarch64" }), base.ErrNoBase, "there is x86_64"},
		{"bad kernel argument", edit(func(s *images.Spec) { s.Kargs.Append = []string{"a b"} }), images.ErrBadSpec, "space"},
		{"bad keyfile", edit(func(s *images.Spec) { s.NetworkKeyfiles = map[string][]byte{"a/b": nil} }), images.ErrBadSpec, "keyfile"},
		{"bad argument of an initrd", edit(func(s *images.Spec) { s.Format = "initrd"; s.Kargs.Append = []string{"a\nshell"} }), images.ErrBadSpec, "control character"},
		{"empty argument of an initrd", edit(func(s *images.Spec) { s.Format = "initrd"; s.Kargs.Append = []string{""} }), images.ErrBadSpec, "empty"},
		{"deletion in an initrd", edit(func(s *images.Spec) { s.Format = "initrd"; s.Kargs.Delete = []string{"x"} }), images.ErrBadSpec, "only be appended"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := s.Put(t.Context(), tc.spec)
			g.Expect(err).To(MatchError(tc.want))
			g.Expect(err.Error()).To(ContainSubstring(tc.text))
		})
	}
	NewWithT(t).Expect(s.Keys()).To(BeEmpty())
	_, err := images.NewStore(t.Context(), images.Options{BaseURL: url, SigningKey: []byte("short")})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("at least 32")))
}

func TestInitrd(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Bases: bases(t)})
	sp := spec("host", `{"x":2}`)
	sp.Format, sp.Kargs.Append = images.FormatInitrd, []string{"console=ttyS1"}
	b, err := s.Put(t.Context(), sp)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.URL).To(HaveSuffix("/host.initrd"))
	g.Expect(b.KernelURL).To(HaveSuffix("/vmlinuz"))
	g.Expect(b.ExtraKernelParams).To(And(HavePrefix("coreos.live.rootfs_url="+b.RootfsURL+" "), HaveSuffix(" console=ttyS1")))
	initrd, kernel, rootfs := lookup(s, b.URL), lookup(s, b.KernelURL), lookup(s, b.RootfsURL)
	g.Expect(kernel.Image.Size()).To(BeEquivalentTo(1 << 20))
	g.Expect(rootfs.Image.Size()).To(BeEquivalentTo(1 << 20))
	head := make([]byte, 6)
	_, err = kernel.Image.ReadAt(head, 0x202)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(head)).To(HavePrefix("HdrS"))
	// The archive follows the base's initrd of 512 KiB.
	tail := make([]byte, initrd.Image.Size()-512<<10)
	_, err = initrd.Image.ReadAt(tail, 512<<10)
	g.Expect(err).NotTo(HaveOccurred())
	got, err := embedded.Decode(strings.NewReader(string(tail)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(got.Ignition)).To(Equal(`{"x":2}`))
}

func TestScriptBootsTheInitrd(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Bases: bases(t)})
	sp := spec("host", "1")
	sp.Format = images.FormatInitrd
	b, err := s.Put(t.Context(), sp)
	g.Expect(err).NotTo(HaveOccurred())
	text := make([]byte, 4096)
	n, err := lookup(s, b.ScriptURL).Image.ReadAt(text, 0)
	g.Expect(err).To(MatchError(io.EOF))
	g.Expect(strings.Split(string(text[:n]), "\n")).To(Equal([]string{
		"#!ipxe",
		"initrd --name initrd " + b.URL,
		"kernel " + b.KernelURL + " initrd=initrd " + b.ExtraKernelParams,
		"boot", "",
	}))
	sp.Ignition = []byte("2")
	now, err := s.Put(t.Context(), sp)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(now.ScriptURL).NotTo(Equal(b.ScriptURL))
	g.Expect(lookup(s, b.ScriptURL)).To(BeNil(), "the old script would boot the old image")
	g.Expect(s.Remove("metal/host")).To(Succeed())
	g.Expect(lookup(s, now.ScriptURL)).To(BeNil())
	g.Expect(lookup(s, now.KernelURL)).NotTo(BeNil(), "other hosts need the kernel")
}

func TestMinimalISO(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "live.iso")
	g.Expect(os.WriteFile(path, coreosiso.Read(t, "2023-07.x86_64"), 0o600)).To(Succeed())
	registry, err := base.Open(t.Context(), path, base.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	s := open(t, images.Options{Bases: registry})
	for _, name := range []string{"a", "b"} {
		sp := spec(name, "config of "+name)
		sp.Format = images.FormatMinimalISO
		b, err := s.Put(t.Context(), sp)
		g.Expect(err).NotTo(HaveOccurred())
		r := lookup(s, b.URL)
		g.Expect(embedded.ReadIgnition(r.Image, r.Image.Size())).To(BeEquivalentTo("config of " + name))
		l, err := iso.Parse(r.Image, r.Image.Size())
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(l.Kargs.Read(r.Image)).To(HaveSuffix("coreos.live.rootfs_url=" + b.RootfsURL))
		g.Expect(lookup(s, b.RootfsURL)).NotTo(BeNil())
	}
	without := open(t, images.Options{Bases: bases(t)})
	sp := spec("a", "1")
	sp.Format = images.FormatMinimalISO
	b, err := without.Put(t.Context(), sp)
	g.Expect(err).NotTo(HaveOccurred(), "a medium without a recipe is cut")
	g.Expect(b.SizeBytes).To(BeNumerically("<", lookup(without, b.RootfsURL).Image.Size()+4<<20))
	g.Expect(embedded.ReadIgnition(lookup(without, b.URL).Image, b.SizeBytes)).To(BeEquivalentTo("1"))
}

func TestOldRevisionStaysWhileItMayBeRead(t *testing.T) {
	all := bases(t)
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := open(t, images.Options{Bases: all, Grace: 10 * time.Minute})
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

// However often an image changes, who reads an old one comes to its end.
func TestManyChangesDoNotCutAReader(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Bases: bases(t)})
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
		if err := media.WriteFile(filepath.Join(dir, name), media.Options{RootfsBytes: rootfs}); err != nil {
			t.Fatal(err)
		}
	}
	write("a.iso", 1<<20)
	registry, err := base.Open(t.Context(), dir, base.Options{})
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := open(t, images.Options{Bases: registry, Grace: 10 * time.Minute})
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
	s := open(t, images.Options{Bases: bases(t), StateDir: t.TempDir()})
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
	dir, all := filepath.Join(t.TempDir(), "state"), bases(t)
	s := open(t, images.Options{Bases: all, StateDir: dir})
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
	restarted := open(t, images.Options{Bases: all, StateDir: dir})
	g.Expect(restarted.Keys()).To(Equal([]string{"metal/a", "metal/b"}))
	g.Expect(lookup(restarted, urls[0])).NotTo(BeNil())
	g.Expect(lookup(restarted, urls[2])).To(BeNil())
	b, err := restarted.Put(t.Context(), spec("a", "secret of a"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Changed).To(BeFalse())
}

func TestProgressCountsDistinctBytes(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Bases: bases(t)})
	b, err := s.Put(t.Context(), spec("host", "1"))
	g.Expect(err).NotTo(HaveOccurred())
	r := lookup(s, b.URL)
	half := b.SizeBytes / 2
	for range 3 {
		r.Served(0, half)
	}
	p, found := s.Progress("metal/host")
	g.Expect(found).To(BeTrue())
	g.Expect(p.Percent).To(BeNumerically("~", 50, 1))
	g.Expect(p.LastRead).To(BeTemporally("~", time.Now(), time.Minute))
	r.Served(half, b.SizeBytes-half)
	p, _ = s.Progress("metal/host")
	g.Expect(p.Percent).To(BeEquivalentTo(100))
	g.Expect(p.Bytes).To(Equal(b.SizeBytes))
}

func TestEventsAreCoarse(t *testing.T) {
	all := bases(t)
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		ctx, cancel := context.WithCancel(t.Context())
		s := open(t, images.Options{Bases: all})
		events := s.Watch(ctx)
		b, err := s.Put(ctx, spec("host", "1"))
		g.Expect(err).NotTo(HaveOccurred())
		r := lookup(s, b.URL)
		var got []images.Event
		drain := func() {
			for {
				synctest.Wait()
				select {
				case e := <-events:
					got = append(got, e)
					continue
				default:
				}
				return
			}
		}
		for off := int64(0); off < b.SizeBytes; off += 16 << 10 {
			r.Served(off, min(16<<10, b.SizeBytes-off))
			drain()
		}
		g.Expect(len(got)).To(BeNumerically("~", 20, 2))
		g.Expect(got[len(got)-1].Percent).To(BeEquivalentTo(100))
		for i, e := range got {
			g.Expect(e.Key).To(Equal("metal/host"))
			g.Expect(e.Kind).To(Equal(images.ReadProgressed))
			g.Expect(i == 0 || e.Percent > got[i-1].Percent).To(BeTrue())
		}
		got = nil
		for range 100 {
			r.Served(0, 64<<10)
		}
		<-time.After(time.Minute)
		r.Served(0, 64<<10)
		drain()
		g.Expect(got).To(BeEmpty(), "nothing new was read")
		r.Stalled()
		drain()
		g.Expect(got).To(ConsistOf(HaveField("Kind", images.ReaderStalled)))
		cancel()
		synctest.Wait()
		_, running := <-events
		g.Expect(running).To(BeFalse())
	})
}

func TestSlowWatcherGetsTheLatest(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Bases: bases(t)})
	events := s.Watch(t.Context())
	b, err := s.Put(t.Context(), spec("host", "1"))
	g.Expect(err).NotTo(HaveOccurred())
	r := lookup(s, b.URL)
	for off := int64(0); off < b.SizeBytes; off += 64 << 10 {
		r.Served(off, min(64<<10, b.SizeBytes-off))
	}
	r.Stalled()
	seen := map[images.EventKind]float64{}
	for seen[images.ReaderStalled] == 0 || seen[images.ReadProgressed] < 100 {
		e := <-events
		seen[e.Kind] = e.Percent
	}
	g.Expect(seen).To(HaveKeyWithValue(images.ReadProgressed, 100.0))
}

func TestReaderLimit(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Bases: bases(t)})
	b, err := s.Put(t.Context(), spec("host", "1"))
	g.Expect(err).NotTo(HaveOccurred())
	r := lookup(s, b.URL)
	g.Expect(r.Begin(2)).To(BeTrue())
	g.Expect(r.Begin(2)).To(BeTrue())
	g.Expect(r.Begin(2)).To(BeFalse())
	r.End()
	g.Expect(r.Begin(2)).To(BeTrue())
}

// One host cannot take everything, but files that all hosts need are no host's.
func TestReaderLimitIsAHosts(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Bases: bases(t)})
	own := spec("host", "1")
	own.Format = images.FormatInitrd
	b, err := s.Put(t.Context(), own)
	g.Expect(err).NotTo(HaveOccurred())
	shared := spec("infra-env", "1")
	shared.Shared = true
	every, err := s.Put(t.Context(), shared)
	g.Expect(err).NotTo(HaveOccurred())
	for address, limited := range map[string]bool{
		b.URL: true, b.ScriptURL: true, b.KernelURL: false, b.RootfsURL: false, s.RedirectURL(): false, every.URL: false,
	} {
		r := lookup(s, address)
		g.Expect(r.Begin(1)).To(BeTrue(), address)
		g.Expect(r.Begin(1)).To(Equal(!limited), address)
	}
}

func TestUnknownAddressesAreGoneInTheEnd(t *testing.T) {
	all := bases(t)
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := open(t, images.Options{Bases: all, SyncTimeout: time.Minute})
		g.Expect(s.Synced()).To(BeFalse())
		<-time.After(2 * time.Minute)
		g.Expect(s.Synced()).To(BeTrue())
		early := open(t, images.Options{Bases: all})
		early.MarkSynced()
		g.Expect(early.Synced()).To(BeTrue())
	})
}

func TestSharedArchivesRideAlong(t *testing.T) {
	g := NewWithT(t)
	packed, err := embedded.Content{Keyfiles: map[string][]byte{"shared": []byte("x")}}.Archive()
	g.Expect(err).NotTo(HaveOccurred())
	s := open(t, images.Options{Bases: bases(t), Shared: func(string) []overlay.Source {
		return []overlay.Source{overlay.Memory(packed)}
	}})
	b, err := s.Put(t.Context(), spec("host", "1"))
	g.Expect(err).NotTo(HaveOccurred())
	r := lookup(s, b.URL)
	c, err := embedded.ReadContent(r.Image, r.Image.Size())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Keyfiles).To(HaveKey("shared.nmconnection"))
	g.Expect(string(c.Ignition)).To(Equal("1"))
}

func BenchmarkPut(b *testing.B) {
	s := open(b, images.Options{Bases: bases(b)})
	sp := spec("host", strings.Repeat("some ignition content ", 300))
	for b.Loop() {
		if _, err := s.Put(b.Context(), sp); err != nil {
			b.Fatal(err)
		}
	}
}
