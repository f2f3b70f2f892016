package ironic

import "time"

// reader is one of the three ways in which the watch looks.
type reader int

const (
	noReader reader = iota
	feedReader
	inFlightReader
	sweepReader
)

var readerNames = [...]string{"none", "feed", "inflight", "sweep"}

func (r reader) String() string { return readerNames[r] }

// costFactor keeps the in-flight reader below a tenth of Ironic's time.
const costFactor = 10

// schedule decides which reader is next. It is pure: times are passed in.
type schedule struct {
	options WatchOptions

	feedAt, inFlightAt, sweepAt time.Time // end of the last read; zero: never, or due at once
	inFlightTook                time.Duration
	sweeping                    bool   // in the middle of a sweep
	marker                      string // last node of the sweep so far
	synced                      bool   // the first sweep is complete
	nudgeWaits                  bool
	failures                    int
	notBefore                   time.Time // after a failure
}

// next returns the reader whose turn it is, or how long to wait. The feed goes
// first, so that a sweep over many pages does not delay it; but before the first
// sweep there is nothing to compare with.
func (s *schedule) next(now time.Time, inFlight bool) (reader, time.Duration) {
	if wait := s.notBefore.Sub(now); wait > 0 {
		return noReader, wait
	}
	if !s.synced || s.sweepAt.IsZero() && !s.sweeping {
		return sweepReader, 0
	}
	type due struct {
		reader reader
		at     time.Time
	}
	turns := []due{{feedReader, s.feedDue(inFlight)}}
	if inFlight {
		turns = append(turns, due{inFlightReader, s.inFlightAt.Add(max(s.options.InFlight, costFactor*s.inFlightTook))})
	}
	if s.sweeping {
		turns = append(turns, due{sweepReader, now})
	} else {
		turns = append(turns, due{sweepReader, s.sweepAt.Add(s.options.Sweep)})
	}
	first := turns[0]
	for _, t := range turns {
		if !t.at.After(now) {
			return t.reader, 0
		}
		if t.at.Before(first.at) {
			first = t
		}
	}
	return noReader, first.at.Sub(now)
}

func (s *schedule) feedDue(inFlight bool) time.Time {
	switch {
	case s.nudgeWaits:
		return s.feedAt.Add(s.options.NudgeGap)
	case inFlight:
		return s.feedAt.Add(s.options.FeedBusy)
	}
	return s.feedAt.Add(s.options.FeedIdle)
}

func (s *schedule) nudge() { s.nudgeWaits = true }

// done books a successful read.
func (s *schedule) done(r reader, now time.Time, took time.Duration) {
	s.failures = 0
	switch r {
	case feedReader:
		s.feedAt, s.nudgeWaits = now, false
	case inFlightReader:
		s.inFlightAt, s.inFlightTook = now, took
	case sweepReader:
		if !s.sweeping {
			s.sweepAt, s.synced = now, true
		}
	case noReader:
	}
}

// failed makes everything wait, longer with each failure in a row.
func (s *schedule) failed(now time.Time) {
	s.sweeping = false // its marker may be gone; it starts over
	wait := min(s.options.RetryAfter<<min(s.failures, 16), s.options.FeedIdle)
	s.failures++
	s.notBefore = now.Add(wait)
}

// recovered orders a sweep: anything may have happened meanwhile.
func (s *schedule) recovered() { s.sweepAt = time.Time{} }
