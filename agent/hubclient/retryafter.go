package hubclient

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/ironflow/ironflow/agent/backoff"
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

// busyFor is for how many seconds a hub with too much to do asks to be left alone; zero for other errors.
func busyFor(err error) int64 {
	status, ok := errors.AsType[*StatusError](err)
	if !ok || status.Code != http.StatusServiceUnavailable {
		return 0
	}
	return int64(status.RetryAfter / time.Second)
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
