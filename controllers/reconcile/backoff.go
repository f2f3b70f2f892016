package reconcile

import (
	"fmt"
	"hash/fnv"
	"math"
	"time"
)

// maxBackOffExponent bounds the back-off at 512 minutes.
const maxBackOffExponent = 9

// BackOff is how long after the n-th failure in a row the next attempt is made:
// 2^min(n,9) minutes less up to half, by a share that is fixed for an identity
// and a count, so that a restart of the program does not move it. Without a
// failure it is zero.
func BackOff(identity string, n int) time.Duration {
	if n <= 0 {
		return 0
	}
	full := time.Duration(math.Exp2(float64(min(n, maxBackOffExponent)))) * time.Minute
	sum := fnv.New32a()
	fmt.Fprintf(sum, "%s/%d", identity, n)
	share := float64(sum.Sum32()) / math.MaxUint32 / 2
	return full - time.Duration(float64(full)*share)
}
