package events

import "sync/atomic"

// Counts are the receiver's figures since it was made.
type Counts struct {
	// Taken are deliveries that were taken, Events what was in them, Repeated those
	// events that had been told before.
	Taken, Events, Repeated int64
	// Refused are requests that got the 404.
	Refused int64
	// Overflowed are deliveries of known hosts that were not read, or only in part.
	Overflowed int64
}

// counters count.
type counters struct {
	taken, events, repeated, refused, overflowed atomic.Int64
}

func (c *counters) read() Counts {
	return Counts{
		Taken: c.taken.Load(), Events: c.events.Load(), Repeated: c.repeated.Load(),
		Refused: c.refused.Load(), Overflowed: c.overflowed.Load(),
	}
}
