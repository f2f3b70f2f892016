package store

import "sync"

// watchers are who is told of changes.
type watchers struct {
	mu   sync.Mutex
	next int
	all  map[int]func([]Change)
}

func (w *watchers) add(f func([]Change)) (stop func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[int]func([]Change){}
	}
	id := w.next
	w.next++
	w.all[id] = f
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, id)
	}
}

// tell hands the changes to all. They are told one after the other, so that
// nobody hears of a later change first.
func (w *watchers) tell(changes []Change) {
	if len(changes) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.all {
		f(changes)
	}
}
