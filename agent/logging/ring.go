package logging

import (
	"bytes"
	"sync"
)

// ringBytes is how much of the newest log text is kept.
const ringBytes = 512 << 10

// Ring keeps the newest log lines, whole lines only. The zero value is ready
// for use; it is safe for concurrent use.
type Ring struct {
	mu   sync.Mutex
	text []byte
}

// Write implements io.Writer; it never fails.
func (r *Ring) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.text = append(r.text, p...)
	if len(r.text) > 2*ringBytes { // cut seldom: a copy each time would cost more than the memory
		tail := r.text[len(r.text)-ringBytes:]
		if i := bytes.IndexByte(tail, '\n'); i >= 0 {
			tail = tail[i+1:]
		}
		r.text = append([]byte{}, tail...)
	}
	return len(p), nil
}

// Bytes returns a copy of the text.
func (r *Ring) Bytes() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return bytes.Clone(r.text)
}
