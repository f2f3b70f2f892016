package server

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// lastDeadline is the write deadline of a connection.
type lastDeadline struct{ at time.Time }

func (d *lastDeadline) SetWriteDeadline(t time.Time) error {
	d.at = t
	return nil
}

// TestSlowReadersLive: a reader is dropped for taking too little, not for being slow.
func TestSlowReadersLive(t *testing.T) {
	for name, c := range map[string]struct {
		bytes int64
		every time.Duration
		lives bool
	}{
		"5 KiB a second":            {5 << 10, time.Second, true},
		"4 KiB a second":            {4 << 10, time.Second, false},
		"256 KiB in 59 seconds":     {256 << 10, 59 * time.Second, true},
		"256 KiB in 61 seconds":     {256 << 10, 61 * time.Second, false},
		"a byte a second":           {1, time.Second, false},
		"as much as there can be":   {1 << 20, time.Millisecond, true},
		"much, but after long rest": {100 << 20, 2 * time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				on := &lastDeadline{}
				p := progress{on: on, timeout: time.Minute, bytes: &counter{}}
				p.begin()
				alive := true
				for begun := time.Now(); alive && time.Since(begun) < 10*time.Minute; {
					<-time.After(c.every)
					alive = time.Now().Before(on.at)
					p.made(c.bytes)
				}
				NewWithT(t).Expect(alive).To(Equal(c.lives))
			})
		})
	}
}
