package hubpaths_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
)

// What an image is made without is said once to whoever runs the hub, and the image is
// there all the same.
func TestTheHubIsToldWhatAnImageLacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hub{lacks: errors.New("1 of 2 static networks are left out")}
		s := newShelf(t, h)
		for range 5 {
			s.ask(older, http.StatusOK)
			<-time.After(time.Minute)
		}
		s.Expect(h.failures).To(ConsistOf(env + ": 1 of 2 static networks are left out"))
	})
}

// A BMC only sees a status code, and asks again and again: why there is no image
// is said once to whoever runs the hub.
func TestTheHubIsToldWhyThereIsNoImage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hub{broken: fmt.Errorf("%w: kernel arguments: x", images.ErrBadSpec)}
		s := newShelf(t, h)
		ask := func(code int) {
			for range 5 {
				s.ask(older, code)
				<-time.After(time.Minute)
			}
		}
		ask(http.StatusNotFound)
		s.Expect(h.failures).To(ConsistOf(And(HavePrefix(env+": "), ContainSubstring("kernel arguments: x"), Not(ContainSubstring("good")))))
		h.broken = errors.New("the hub's CA cannot be read")
		ask(http.StatusServiceUnavailable)
		s.Expect(h.failures).To(HaveLen(2), "another reason")
		h.broken = nil
		ask(http.StatusOK)
		h.broken = errors.New("the hub's CA cannot be read")
		<-time.After(grace + time.Minute)
		ask(http.StatusServiceUnavailable)
		s.Expect(h.failures).To(HaveLen(3), "it had been mended")
		h.broken = nil
		s.ask("/bytoken/good/1.0/x86_64/full.iso", http.StatusNotFound)
		s.Expect(h.failures).To(HaveLen(4))
		s.Expect(h.failures[3]).To(ContainSubstring("no base image fits"))
		h.gone = true
		s.ask("/bytoken/good/2.0/x86_64/full.iso", http.StatusNotFound)
		s.Expect(h.failures).To(HaveLen(4), "nobody is there to be told")
	})
}
