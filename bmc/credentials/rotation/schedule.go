package rotation

import (
	"hash/fnv"
	"time"
)

// spread is the part of the time between two changes over which the hosts of a fleet
// are spread.
const spread = 10

// Due is when a host's password is to be changed, of the time of its last change. A
// host is up to a tenth earlier than the time between two changes says, each by a part
// of its own that stays the same: hosts that were registered together drift apart, and
// no password gets older than was asked for.
func Due(host string, last time.Time, every time.Duration) time.Time {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(host))
	// The low bits of this sum are better spread than the high ones.
	part := int64(sum.Sum64() % 1000)
	return last.Add(every - time.Duration(int64(every/spread)/1000*part))
}

// last is when the password was changed last, as far as is known: a Secret that was
// never rotated is as old as itself.
func (o *Observed) last() time.Time {
	if !o.Record.Rotated.IsZero() {
		return o.Record.Rotated
	}
	return o.Secret.Written
}
