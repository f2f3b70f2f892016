// Package backoff computes growing delays with jitter. It holds no timers and
// no state: a caller counts its attempts and waits by itself.
package backoff

import (
	"math"
	"math/rand/v2"
	"time"
)

// Policy describes a series of delays.
type Policy struct {
	// First is the delay after the first failure.
	First time.Duration
	// Factor multiplies the delay after each further failure; 0 means 1, no growth.
	Factor float64
	// Max caps the delay, before jitter.
	Max time.Duration
	// Jitter is the fraction by which a delay may differ in both directions, 0 to 1.
	Jitter float64
	// Floor is never undercut, not even by jitter.
	Floor time.Duration
}

// Delay returns the delay after the given number of failures, counted from 1.
// random must lie in [0, 1); 0.5 gives the delay without jitter.
func (p Policy) Delay(failures int, random float64) time.Duration {
	factor := p.Factor
	if factor == 0 {
		factor = 1
	}
	delay := float64(p.First) * math.Pow(factor, float64(max(failures, 1)-1))
	if p.Max > 0 {
		delay = min(delay, float64(p.Max))
	}
	delay *= 1 + p.Jitter*(2*random-1)
	return max(time.Duration(delay), p.Floor)
}

// Random returns the delay with random jitter.
func (p Policy) Random(failures int) time.Duration { return p.Delay(failures, Random()) }

// Random returns a number in [0, 1) to spread delays with.
func Random() float64 {
	return rand.Float64() //nolint:gosec // spreads requests over time, protects nothing
}
