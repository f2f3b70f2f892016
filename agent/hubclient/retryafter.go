package hubclient

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/backoff"
	"github.com/ironflow/ironflow/hub/wire"
)

// MaxRetryAfter bounds what a hub can ask for: a host that is silent for longer
// would look dead.
const MaxRetryAfter = 5 * time.Minute

// retrySpread is how much later than asked for an agent may come: agents that
// were sent away together must not come back together.
const retrySpread = 0.25

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	text := header.Get("Retry-After")
	if at, err := http.ParseTime(text); err == nil {
		return min(max(at.Sub(now), 0), MaxRetryAfter)
	}
	return seconds(text)
}

// seconds reads a number of seconds, at most [MaxRetryAfter]; anything else is zero.
func seconds(text string) time.Duration {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0
	}
	return time.Duration(min(n, uint64(MaxRetryAfter/time.Second))) * time.Second
}

// placeLasts is for how long a host that has waited is let in before those that have not: as long as many hosts boot
// together, so that each of them is sent away once.
const placeLasts = 10 * time.Minute

// waited is the latest time that a hub with too much to do asked to be left alone for.
type waited struct {
	mu      sync.Mutex
	seconds int64
	since   time.Time
}

// heed keeps what the answer to a call asks for. What else goes wrong does not cost the host its place.
func (w *waited) heed(err error) {
	status, ok := errors.AsType[*StatusError](err)
	if !ok || status.Code != http.StatusServiceUnavailable || status.RetryAfter < time.Second {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seconds, w.since = int64(status.RetryAfter/time.Second), time.Now()
}

// say tells the hub in the header of a call. The host comes no earlier than it was asked to, see [Delay].
func (w *waited) say(header http.Header) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seconds > 0 && time.Since(w.since) < placeLasts {
		header.Set(wire.HeaderWaited, strconv.FormatInt(w.seconds, 10))
	}
}

// Delay is how long to wait after a failed call: own, unless the hub asked for more.
func Delay(err error, own time.Duration) time.Duration {
	status, ok := errors.AsType[*StatusError](err)
	if !ok || status.RetryAfter <= 0 {
		return own
	}
	asked := float64(status.RetryAfter) * (1 + retrySpread*backoff.Random())
	return max(own, time.Duration(asked))
}
