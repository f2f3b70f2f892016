package images_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/images"
)

// web is a server with images of one size, after a while.
type web struct {
	size  int64
	after time.Duration
	away  atomic.Bool
	asked atomic.Int64
}

func (s *web) RoundTrip(r *http.Request) (*http.Response, error) {
	s.asked.Add(1)
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(s.after):
	}
	if s.away.Load() {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: http.StatusOK, ContentLength: s.size, Body: http.NoBody, Request: r}, nil
}

// open makes a cache that asks the server until the test ends.
func open(t *testing.T, s http.RoundTripper) *images.SizeCache {
	b := images.NewSizeCache(&http.Client{Transport: s}, time.Now)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- b.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return b
}

const image = "http://images.example/a"

// TestAFleetWithOneImage: it is asked for once, all who wait are told once, and it is
// asked for again when it may have changed.
func TestAFleetWithOneImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		server := &web{size: 7, after: time.Second}
		b := open(t, server)
		var told atomic.Int64
		for i := range 1000 {
			for range 2 {
				g.Expect(b.Look([]string{image}, strconv.Itoa(i), func() { told.Add(1) })).To(Equal(images.Known{Sizes: map[string]int64{}, Open: true}))
			}
		}
		synctest.Wait()
		g.Expect(told.Load()).To(BeZero())
		<-time.After(time.Second)
		synctest.Wait()
		g.Expect(told.Load()).To(BeEquivalentTo(1000))
		known := images.Known{Sizes: map[string]int64{image: 7}}
		for range 1000 {
			g.Expect(b.Look([]string{image}, "any", nil)).To(Equal(known))
		}
		g.Expect(server.asked.Load()).To(BeEquivalentTo(1))
		<-time.After(images.Keep)
		g.Expect(b.Look([]string{image}, "any", func() {}).Open).To(BeTrue())
		<-time.After(2 * time.Second)
		g.Expect(b.Look([]string{image}, "any", nil)).To(Equal(known))
		g.Expect(server.asked.Load()).To(BeEquivalentTo(2))
	})
}

// TestAServerThatIsAway: that is known too, for a shorter time.
func TestAServerThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		server := &web{size: 7}
		server.away.Store(true)
		b := open(t, server)
		told := 0
		g.Expect(b.Look([]string{image}, "host", func() { told++ }).Open).To(BeTrue())
		synctest.Wait()
		g.Expect(told).To(Equal(1))
		g.Expect(b.Look([]string{image}, "host", nil)).To(Equal(images.Known{Sizes: map[string]int64{}, Missing: true}))
		server.away.Store(false)
		<-time.After(images.Again)
		g.Expect(b.Look([]string{image}, "host", func() { told++ }).Open).To(BeTrue())
		synctest.Wait()
		g.Expect(b.Look([]string{image}, "host", nil).Sizes).To(HaveKeyWithValue(image, int64(7)))
		g.Expect(server.asked.Load()).To(BeEquivalentTo(2))
	})
}

// TestNobodyWaitsForever: neither for servers that are silent, nor for a turn behind
// them, nor for a cache that asks nobody.
func TestNobodyWaitsForever(t *testing.T) {
	for name, asks := range map[string]bool{"silent servers": true, "nobody asks": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				server := &web{after: time.Hour}
				b := images.NewSizeCache(&http.Client{Transport: server}, time.Now)
				if asks {
					b = open(t, server)
				}
				var many []string
				for i := range 100 {
					many = append(many, fmt.Sprintf("http://images.example/%d", i))
				}
				g.Expect(b.Look(many, "host", func() {}).Open).To(BeTrue())
				<-time.After(images.Turn)
				synctest.Wait()
				g.Expect(b.Look(many, "host", func() {})).To(Equal(images.Known{Sizes: map[string]int64{}, Missing: true}))
				g.Expect(server.asked.Load()).To(BeNumerically("<", 20), "who has come too late is not asked for")
			})
		})
	}
}

// TestAServerThatIsSilent keeps nobody waiting who asks others, however many images are
// said to be there.
func TestAServerThatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		b := open(t, byHost{"silent.example": &web{after: time.Hour}, "images.example": &web{size: 7}})
		for i := range 1000 {
			b.Look([]string{fmt.Sprintf("http://silent.example/%d", i)}, "hostile", func() {})
		}
		told := false
		g.Expect(b.Look([]string{image}, "host", func() { told = true }).Open).To(BeTrue())
		synctest.Wait()
		g.Expect(told).To(BeTrue())
		g.Expect(b.Look([]string{image}, "host", nil).Sizes).To(HaveKeyWithValue(image, int64(7)))
	})
}

// TestAHostWithManyImages: no host has others wait for all that it names.
func TestAHostWithManyImages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		server := &web{size: 7}
		b := open(t, server)
		var many []string
		for i := range 5000 {
			many = append(many, fmt.Sprintf("http://images.example/%d", i))
		}
		b.Look(many, "hostile", func() {})
		synctest.Wait()
		known := b.Look(many, "hostile", func() {})
		g.Expect(known.Missing).To(BeTrue())
		g.Expect(known.Sizes).To(HaveLen(int(server.asked.Load())))
		g.Expect(known.Sizes).To(And(HaveKey(many[0]), HaveLen(32)))
	})
}

// byHost is several servers.
type byHost map[string]http.RoundTripper

func (s byHost) RoundTrip(r *http.Request) (*http.Response, error) { return s[r.URL.Host].RoundTrip(r) }

// TestABookHasSoManyPages: what came too late for one is not known.
func TestABookHasSoManyPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		server := &web{size: 7}
		b := open(t, server)
		page := func(i int) []string { return []string{fmt.Sprintf("http://images.example/%d", i)} }
		for i := range 5000 {
			b.Look(page(i), "host", func() {})
			if i%100 == 0 {
				synctest.Wait()
			}
		}
		g.Expect(b.Look(page(4999), "host", func() {})).To(Equal(images.Known{Sizes: map[string]int64{}, Missing: true}))
		<-time.After(images.Keep)
		g.Expect(b.Look(page(4999), "host", func() {}).Open).To(BeTrue(), "old entries make room")
	})
}

// TestWhatNoWebServerHas: nobody waits for it.
func TestWhatNoWebServerHas(t *testing.T) {
	b := images.NewSizeCache(nil, time.Now)
	NewWithT(t).Expect(b.Look([]string{"file:///etc/passwd", "ftp://192.0.2.9/a", "%zz", "http://"}, "host", nil)).
		To(Equal(images.Known{Sizes: map[string]int64{}, Missing: true}))
}
