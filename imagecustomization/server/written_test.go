package server_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/imagecustomization/server"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// A medium that somebody writes to while images over it are read must not end up
// in a machine half old and half new, under the validator of the old one.
func TestAMediumThatIsWrittenToIsNotSent(t *testing.T) {
	for name, c := range map[string]struct {
		change func(g *WithT, path string)
		code   int
		again  bool // under the same address, once the medium is registered anew
	}{
		"written in place": {func(g *WithT, path string) {
			raw, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			copy(raw[len(raw)-4096:], "other bytes")
			g.Expect(os.WriteFile(path, raw, 0o600)).To(Succeed())
		}, 503, false},
		"only touched": {func(g *WithT, path string) {
			g.Expect(os.Chtimes(path, time.Time{}, time.Unix(1, 0))).To(Succeed())
		}, 503, true},
		"replaced by another file": {func(g *WithT, path string) {
			g.Expect(testmedia.WriteFile(path+".new", testmedia.Options{RootfsBytes: 1 << 20})).To(Succeed())
			g.Expect(os.Rename(path+".new", path)).To(Succeed())
		}, 206, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, path := NewWithT(t), filepath.Join(t.TempDir(), "live.iso")
				g.Expect(testmedia.WriteFile(path, testmedia.Options{RootfsBytes: 2 << 20})).To(Succeed())
				registry, err := media.Open(t.Context(), path, media.Options{})
				g.Expect(err).NotTo(HaveOccurred())
				store, err := images.NewStore(t.Context(), images.Options{
					Media: registry, BaseURL: "http://192.0.2.1:8080", SigningKey: bytes.Repeat([]byte("k"), 32),
				})
				g.Expect(err).NotTo(HaveOccurred())
				spec := images.Spec{Key: "metal/host-0", Arch: "x86_64", Ignition: []byte("{}")}
				built, err := store.Put(t.Context(), spec)
				g.Expect(err).NotTo(HaveOccurred())
				rootfs, err := store.Artifact(t.Context(), "x86_64", "", overlay.RootfsPath)
				g.Expect(err).NotTo(HaveOccurred())
				s := server.New(server.Options{Store: store, Log: logr.Discard()})
				get := func(url string) int {
					r, w := httptest.NewRequest(http.MethodGet, strings.TrimPrefix(url, "http://192.0.2.1:8080"), nil), httptest.NewRecorder()
					r.Header.Set("Range", "bytes=0-9")
					s.ServeHTTP(w, r)
					return w.Code
				}
				g.Expect(get(built.URL)).To(Equal(206))
				c.change(g, path)
				<-time.After(2 * time.Second)
				g.Expect(get(built.URL)).To(Equal(c.code))
				g.Expect(get(rootfs)).To(Equal(c.code))

				again, err := store.Put(t.Context(), spec)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(get(again.URL)).To(Equal(206))
				if name == "only touched" {
					g.Expect(again.URL).To(Equal(built.URL))
					_, err = store.Artifact(t.Context(), "x86_64", "", overlay.RootfsPath)
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(get(rootfs)).To(Equal(206))
				}
				g.Expect(get(built.URL) == 206).To(Equal(c.again))
				<-time.After(time.Hour)
				_, err = store.Put(t.Context(), spec) // old revisions go
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(get(again.URL)).To(Equal(206))
			})
		})
	}
}
