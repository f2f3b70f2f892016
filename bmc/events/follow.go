package events

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"time"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events/meaning"
)

// Streamer is what is asked of a BMC for its stream; *client.Client is one.
type Streamer interface {
	Get(ctx context.Context, path string, into any) error
	Stream(ctx context.Context, path string) (io.ReadCloser, error)
}

var _ Streamer = (*client.Client)(nil)

// Errors of [Follow]. Whoever gets one asks the BMC from time to time instead.
var (
	// ErrNoStream: the BMC offers no stream.
	ErrNoStream = errors.New("the BMC offers no stream of events")
	// ErrGivenUp: the stream broke too often.
	ErrGivenUp = errors.New("the BMC's stream of events broke too often")
)

const (
	// firstPause is after the first failure; each further one doubles it.
	firstPause = time.Second
	maxPause   = 30 * time.Second
	// maxFailures within failureWindow are one too many.
	maxFailures   = 5
	failureWindow = 5 * time.Minute
	// steady is how long a stream has to last to count as a good one.
	steady = 30 * time.Second
	// quiet is how long a stream may say nothing before it is opened anew: its other end
	// may have gone without a word.
	quiet = 10 * time.Minute
)

// Follow reads the stream of a host's BMC into the sink until the context ends,
// which gives nil. A stream that breaks is opened again after 1 to 30 s; after five
// failures in five minutes it returns ErrGivenUp. One that brings something each time is
// not given up, though it may end at once. What happened in between may have
// been missed, hence each beginning is a wake of the kind meaning.Look. A stream
// holds one of the BMC's sessions: follow hosts on which something is under way.
func Follow(ctx context.Context, c Streamer, host string, sink Sink) error {
	f := follower{c: c, host: host, sink: sink}
	for ctx.Err() == nil {
		served, lasted, err := f.connect(ctx)
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the caller has ended it
		}
		if final(err) {
			return err
		}
		if wait, goOn := f.failures.next(time.Now(), served, lasted); !goOn {
			return errors.Join(ErrGivenUp, err)
		} else if !pause(ctx, wait) {
			return nil
		}
	}
	return nil
}

// final says whether another attempt would do nothing or harm.
func final(err error) bool {
	switch client.KindOf(err) {
	case client.NotSupported, client.Licence, client.Credentials, client.LockedOut, client.PasswordChange, client.TLS, client.NotRedfish:
		return true
	default:
		return errors.Is(err, client.ErrClosed) || errors.Is(err, ErrNoStream)
	}
}

// follower is one stream over its connections.
type follower struct {
	c        Streamer
	host     string
	sink     Sink
	path     string // of the stream; empty until it was found
	failures failures
}

// find asks where the stream is.
func (f *follower) find(ctx context.Context) error {
	if f.path != "" {
		return nil
	}
	service, err := readService(ctx, f.c)
	switch {
	case errors.Is(err, errNoService), err == nil && service.Stream.Path == "":
		return ErrNoStream
	case err != nil:
		return err
	}
	f.path = service.Stream.Path
	return nil
}

// connect opens the stream and reads it until it breaks. Served says that it has brought
// something, lasted that it was there for a while.
func (f *follower) connect(ctx context.Context) (served, lasted bool, err error) {
	if err := f.find(ctx); err != nil {
		return false, false, err
	}
	stream, err := f.c.Stream(ctx, f.path)
	if err != nil {
		return false, false, err
	}
	began := time.Now()
	end := func() { _ = stream.Close() } // what was read is all that counts
	silent := time.AfterFunc(quiet, end)
	stop := context.AfterFunc(ctx, end)
	defer func() {
		stop()
		silent.Stop()
		end()
	}()
	f.sink.Wake(Wake{Host: f.host, Kind: meaning.Look})
	records := newRecords(stream, func() { silent.Reset(quiet) })
	for {
		data, err := records.next()
		if err != nil && !errors.Is(err, errTooLong) {
			return served, time.Since(began) >= steady, err
		}
		if ctx.Err() != nil {
			return served, false, ctx.Err()
		}
		payload, damage := meaning.Parse(data)
		hand(f.sink, f.host, payload.Events, damage != nil || payload.More > 0, time.Now())
		served = served || len(payload.Events) > 0
	}
}

// failures decide on the next attempt.
type failures struct {
	at   []time.Time
	wait time.Duration
}

// next returns how long to wait, and whether to go on at all. After a connection that has
// lasted the count and the pauses begin anew; after one that has served and ended at once
// only the count does, lest the BMC is asked each second for ever.
func (f *failures) next(now time.Time, served, lasted bool) (wait time.Duration, goOn bool) {
	switch {
	case lasted:
		*f = failures{}
		return jitter(firstPause), true
	case served:
		f.at = nil
	default:
		f.at = append(f.at, now)
	}
	for len(f.at) > 0 && now.Sub(f.at[0]) > failureWindow {
		f.at = f.at[1:]
	}
	if len(f.at) >= maxFailures {
		return 0, false
	}
	f.wait = min(max(2*f.wait, firstPause), maxPause)
	return jitter(f.wait), true
}

// jitter keeps the streams of a fleet apart that broke together: up to a fifth more.
func jitter(d time.Duration) time.Duration {
	return min(d+rand.N(d/5+1), maxPause) //nolint:gosec // no secret
}

// pause waits; false when the context ends first.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
