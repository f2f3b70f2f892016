package hostexec

import (
	"bytes"
	"sync"
)

// maxLine is where a line without an end is cut.
const maxLine = 64 << 10

// LineWriter hands over each line that is written to it, without its end. A
// carriage return ends a line as well, and a line of more than 64 KiB is cut.
// Several streams may write to it at once.
type LineWriter struct {
	line func(string)

	mu   sync.Mutex
	rest []byte
}

// NewLineWriter returns a writer that hands lines to the function, one at a time.
func NewLineWriter(line func(string)) *LineWriter { return &LineWriter{line: line} }

// Write implements io.Writer.
func (w *LineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	looked := len(w.rest) // there is no end of a line in it
	w.rest = append(w.rest, p...)
	for {
		i := bytes.IndexAny(w.rest[looked:], "\r\n")
		if i >= 0 {
			i += looked
		}
		looked = 0
		switch {
		case i >= 0 && i <= maxLine:
			w.line(string(w.rest[:i]))
			w.rest = w.rest[i+1:]
		case len(w.rest) > maxLine:
			w.line(string(w.rest[:maxLine]))
			w.rest = w.rest[maxLine:]
		default:
			return len(p), nil
		}
	}
}

// Flush hands over what stands behind the last line's end.
func (w *LineWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.line(string(w.rest))
		w.rest = nil
	}
}
