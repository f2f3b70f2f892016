package images_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
)

func TestProgressCountsDistinctBytes(t *testing.T) {
	g := NewWithT(t)
	s := open(t, images.Options{Media: openMedia(t)})
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
	all := openMedia(t)
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		ctx, cancel := context.WithCancel(t.Context())
		s := open(t, images.Options{Media: all})
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
	s := open(t, images.Options{Media: openMedia(t)})
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
	s := open(t, images.Options{Media: openMedia(t)})
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
	s := open(t, images.Options{Media: openMedia(t)})
	own := spec("host", "1")
	own.Format = images.FormatInitrd
	b, err := s.Put(t.Context(), own)
	g.Expect(err).NotTo(HaveOccurred())
	ofInfraEnv := spec("infra-env", "1")
	ofInfraEnv.Kind = images.InfraEnvImage
	every, err := s.Put(t.Context(), ofInfraEnv)
	g.Expect(err).NotTo(HaveOccurred())
	for address, limited := range map[string]bool{
		b.URL: true, b.ScriptURL: true, b.KernelURL: false, b.RootfsURL: false, s.RedirectURL(): false, every.URL: false,
	} {
		r := lookup(s, address)
		g.Expect(r.Begin(1)).To(BeTrue(), address)
		g.Expect(r.Begin(1)).To(Equal(!limited), address)
	}
}
