package deadlines

import (
	"container/heap"
	"time"

	"github.com/ironflow/ironflow/hub/store"
)

// entry is the next moment at which something may be due for a host or a cluster.
type entry struct {
	store.Deadline
	at    time.Time
	index int
}

// schedule is a heap of entries by time, one for each host or cluster. The zero value is
// ready. It is for one goroutine.
type schedule struct {
	entries byTime
	known   map[store.Ref]*entry
}

// set puts the deadline in the place of an earlier one; the zero time removes that.
func (s *schedule) set(d store.Deadline, at time.Time) {
	e := s.known[d.Of]
	switch {
	case at.IsZero() && e == nil:
	case at.IsZero():
		heap.Remove(&s.entries, e.index)
		delete(s.known, d.Of)
	case e == nil:
		if s.known == nil {
			s.known = map[store.Ref]*entry{}
		}
		e = &entry{Deadline: d, at: at}
		s.known[d.Of] = e
		heap.Push(&s.entries, e)
	default:
		e.Deadline, e.at = d, at
		heap.Fix(&s.entries, e.index)
	}
}

// next is when the first one is due; false when there is none.
func (s *schedule) next() (time.Time, bool) {
	if len(s.entries) == 0 {
		return time.Time{}, false
	}
	return s.entries[0].at, true
}

// take removes and returns the first one if it is due.
func (s *schedule) take(now time.Time) (store.Deadline, bool) {
	if at, ok := s.next(); !ok || at.After(now) {
		return store.Deadline{}, false
	}
	e := heap.Pop(&s.entries).(*entry)
	delete(s.known, e.Of)
	return e.Deadline, true
}

// byTime implements [heap.Interface].
type byTime []*entry

func (b byTime) Len() int           { return len(b) }
func (b byTime) Less(i, j int) bool { return b[i].at.Before(b[j].at) }
func (b byTime) Swap(i, j int) {
	b[i], b[j] = b[j], b[i]
	b[i].index, b[j].index = i, j
}

func (b *byTime) Push(x any) {
	e := x.(*entry)
	e.index = len(*b)
	*b = append(*b, e)
}

func (b *byTime) Pop() any {
	last := len(*b) - 1
	e := (*b)[last]
	(*b)[last] = nil
	*b = (*b)[:last]
	return e
}
