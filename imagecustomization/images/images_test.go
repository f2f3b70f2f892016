package images_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/test/liveimage"
	testmedia "github.com/ironflow/ironflow/test/media"
)

const url = "http://192.0.2.1:8080"

func openMedia(t testing.TB) *media.Registry {
	t.Helper()
	path := filepath.Join(t.TempDir(), "live.iso")
	if err := testmedia.WriteFile(path, testmedia.Options{RootfsBytes: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	r, err := media.Open(context.Background(), path, media.Options{})
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
	s := open(t, images.Options{Media: openMedia(t)})
	b, err := s.Put(t.Context(), spec("host-0", `{"a":1}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Changed).To(BeTrue())
	g.Expect(b.URL).To(MatchRegexp(`^http://192\.0\.2\.1:8080/images/[A-Za-z0-9_-]{22}/[0-9a-f]{12}/host-0\.iso$`))
	g.Expect(b.MemoryBytes).To(BeNumerically("<", 4096))
	r := lookup(s, b.URL)
	g.Expect(liveimage.Ignition(r.Image, r.Image.Size())).To(BeEquivalentTo(`{"a":1}`))
	g.Expect(b.SizeBytes).To(Equal(r.Image.Size()))

	again, err := s.Put(t.Context(), spec("host-0", `{"a":1}`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(again.Changed).To(BeFalse())
	g.Expect(again.URL).To(Equal(b.URL))
	g.Expect(lookup(s, again.URL)).To(BeIdenticalTo(r), "coverage and readers stay")
}

func TestAddresses(t *testing.T) {
	g := NewWithT(t)
	all := openMedia(t)
	s, replica := open(t, images.Options{Media: all}), open(t, images.Options{Media: all})
	other := open(t, images.Options{Media: all, SigningKey: []byte(strings.Repeat("x", 40))})
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
	s := open(t, images.Options{Media: openMedia(t), BaseURL: "http://" + strings.Repeat("a", 200) + ".example.com"})
	_, err := s.Put(t.Context(), spec("host", "1"))
	NewWithT(t).Expect(err).To(And(MatchError(images.ErrBadSpec), MatchError(ContainSubstring("BMCs take 255"))))
}

func TestRefusals(t *testing.T) {
	s := open(t, images.Options{Media: openMedia(t)})
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
		{"no such base", edit(func(s *images.Spec) { s.Arch = "aarch64" }), media.ErrNoMedium, "there is x86_64"},
		{"bad kernel argument", edit(func(s *images.Spec) { s.Kargs.Append = []string{"a b"} }), images.ErrBadSpec, "space"},
		{"bad keyfile", edit(func(s *images.Spec) { s.NetworkKeyfiles = map[string][]byte{"a/b": nil} }), images.ErrBadSpec, "keyfile"},
		{"bad argument of an initrd", edit(func(s *images.Spec) { s.Format = "initrd"; s.Kargs.Append = []string{"a\nshell"} }), images.ErrBadSpec, "control character"},
		{"empty argument of an initrd", edit(func(s *images.Spec) { s.Format = "initrd"; s.Kargs.Append = []string{""} }), images.ErrBadSpec, "empty"},
		{"an operation that is not known", edit(func(s *images.Spec) {
			s.Kargs.Operations = []overlay.KargsOperation{{Operation: "prepend", Value: "x"}}
		}), images.ErrBadSpec, `"prepend" is not known`},
		{"the same in an initrd", edit(func(s *images.Spec) {
			s.Format, s.Kargs.Operations = "initrd", []overlay.KargsOperation{{Operation: "prepend", Value: "x"}}
		}), images.ErrBadSpec, `"prepend" is not known`},
		{"an operation of an initrd that deletes", edit(func(s *images.Spec) {
			s.Format, s.Kargs.Operations = "initrd", []overlay.KargsOperation{{Operation: "delete", Value: "x"}}
		}), images.ErrBadSpec, "only be appended"},
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

func BenchmarkPut(b *testing.B) {
	s := open(b, images.Options{Media: openMedia(b)})
	sp := spec("host", strings.Repeat("some ignition content ", 300))
	for b.Loop() {
		if _, err := s.Put(b.Context(), sp); err != nil {
			b.Fatal(err)
		}
	}
}
