package images_test

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
)

// An address that was given an end is good until then, for all that belongs to the
// image; what everybody may read stays.
func TestAddressesThatEnd(t *testing.T) {
	media := openMedia(t)
	synctest.Test(t, func(t *testing.T) {
		g, state := NewWithT(t), t.TempDir()
		s := open(t, images.Options{Media: media, StateDir: state})
		put := func(until time.Time) images.Built {
			t.Helper()
			sp := spec("host-0", "{}")
			sp.Format, sp.NotAfter, sp.MACs = images.FormatInitrd, until, []string{"02:00:00:00:00:01"}
			b, err := s.Put(t.Context(), sp)
			g.Expect(err).NotTo(HaveOccurred())
			return b
		}
		forEver := put(time.Time{})
		until := time.Now().Add(time.Hour)
		b := put(until)
		g.Expect(b.URL).NotTo(Equal(forEver.URL), "an end of its own is an address of its own")
		g.Expect(put(until).URL).To(Equal(b.URL))
		g.Expect(put(until.Add(time.Minute)).URL).NotTo(Equal(b.URL))
		g.Expect(put(until).URL).To(Equal(b.URL))
		g.Expect(ask(g, s, "02-00-00-00-00-01")).NotTo(BeEmpty())

		<-time.After(time.Hour - time.Second)
		g.Expect(lookup(s, b.URL)).NotTo(BeNil())
		g.Expect(lookup(s, b.ScriptURL)).NotTo(BeNil())
		restarted := open(t, images.Options{Media: media, StateDir: state})
		g.Expect(lookup(restarted, b.URL)).NotTo(BeNil())
		<-time.After(2 * time.Second)
		for _, store := range []*images.Store{s, restarted, open(t, images.Options{Media: media, StateDir: state})} {
			g.Expect(lookup(store, b.URL)).To(BeNil())
			g.Expect(lookup(store, b.ScriptURL)).To(BeNil())
			g.Expect(lookup(store, b.KernelURL)).NotTo(BeNil(), "everybody may read it")
		}
		g.Expect(ask(g, s, "02-00-00-00-00-01")).To(BeEmpty(), "the script for all cards sends nobody there")
		again := put(time.Now().Add(time.Hour))
		g.Expect(lookup(s, again.URL)).NotTo(BeNil())
		g.Expect(lookup(s, b.URL)).To(BeNil())
	})
}
