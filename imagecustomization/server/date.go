package server

import (
	"net/http"
	"sync/atomic"
	"time"
)

// dates writes the time of an answer as HTTP does, once per second for all answers.
type dates struct{ last atomic.Pointer[date] }

type date struct {
	second int64
	values []string
}

// at returns the values of a Date header. They are shared and must not be changed.
func (d *dates) at(t time.Time) []string {
	known := d.last.Load()
	if known == nil || known.second != t.Unix() {
		known = &date{second: t.Unix(), values: []string{t.UTC().Format(http.TimeFormat)}}
		d.last.Store(known)
	}
	return known.values
}
