package hubclient

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// TestThePlaceOfWhoHasWaitedIsNotForEver: the hub could not put such a host off any more.
func TestThePlaceOfWhoHasWaitedIsNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var w waited
		said := func() string {
			header := http.Header{}
			w.say(header)
			return header.Get(wire.HeaderWaited)
		}
		w.heed(&StatusError{Code: http.StatusServiceUnavailable, RetryAfter: 40 * time.Second})
		<-time.After(placeLasts - time.Second)
		w.heed(nil)
		w.heed(&StatusError{Code: http.StatusServiceUnavailable})
		w.heed(&StatusError{Code: http.StatusTooManyRequests, RetryAfter: time.Minute})
		g.Expect(said()).To(Equal("40"))
		<-time.After(time.Second)
		g.Expect(said()).To(BeEmpty())
		w.heed(&StatusError{Code: http.StatusServiceUnavailable, RetryAfter: 50 * time.Second})
		g.Expect(said()).To(Equal("50"))
	})
}
