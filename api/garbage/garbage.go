// Package garbage is the rule by which the program collects garbage. It holds for
// ironflow as it is shipped, and for the server of a benchmark that stands for it, so
// that what is measured collects as often as what is used.
package garbage

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	// mostGarbage is how much a small heap grows, in percent, before garbage is
	// collected: less than Go's default. With 80 a thousand hosts had a peak of 122 MiB, of the
	// 120 that peak_mib of `make bench-fleet` allows.
	mostGarbage = 70
	// smallHeap is what a fleet of a thousand hosts does not fill, in bytes.
	smallHeap = 64 << 20
	// leastGarbage is what even the largest heap may grow by, in percent.
	leastGarbage = 35
	// weighEvery is the pause between two looks at the heap, which grows over minutes.
	weighEvery = 10 * time.Second
)

// allowed is how much a heap with so many bytes in use may grow, in percent,
// before garbage is collected. What is allowed grows with the root of the heap, so
// that ten times the hosts cost a little more time per host for collecting, and not
// ten times the memory that holds nothing: 10,000 hosts had a peak of 570 MiB without
// that, and of 410 with it (peak_mib of `make bench-fleet`; the limit is 600).
func allowed(live uint64) int {
	if live <= smallHeap {
		return mostGarbage
	}
	return max(leastGarbage, int(mostGarbage*math.Sqrt(smallHeap/float64(live))))
}

// Collect sets when garbage is collected, until the context ends; in every command
// alike. The environment variable GOGC has the last word.
func Collect(ctx context.Context) {
	if _, set := os.LookupEnv("GOGC"); !set {
		go weigh(ctx, liveHeap, func(percent int) { debug.SetGCPercent(percent) })
	}
}

// weigh looks at the heap from time to time, and sets what it may grow by when that
// is another.
func weigh(ctx context.Context, live func() uint64, set func(percent int)) {
	ticker := time.NewTicker(weighEvery)
	defer ticker.Stop()
	for now := 0; ; {
		if percent := allowed(live()); percent != now {
			now = percent
			set(now)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// liveHeap is how many bytes were in use when garbage was last collected.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}
