package redact

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
)

const (
	// maxLine is where a line without an end is cut; the rest of it is dropped.
	maxLine = 1 << 20
	// maxKeyLines bounds a private key without an end.
	maxKeyLines = 200
	// shortest is the length below which a known value is not looked for: it
	// would be found everywhere.
	shortest = 4
)

var (
	keyBegin = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----`)
	keyEnd   = regexp.MustCompile(`-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----`)
)

// Writer redacts what is written to it and passes it on, line by line. Make it
// with [NewWriter]; Close passes the last line on.
type Writer struct {
	out   io.Writer
	known [][]byte
	rest  []byte // the line that has no end yet
	over  int    // bytes of it that were dropped
	key   int    // lines of a private key that may still come; 0 outside of one
}

// NewWriter returns a writer in front of out. The known values are redacted
// besides everything that looks like a secret; very short ones are not.
func NewWriter(out io.Writer, known ...string) *Writer {
	w := &Writer{out: out}
	for _, value := range known {
		if len(value) >= shortest {
			w.known = append(w.known, []byte(value))
		}
	}
	return w
}

// Write implements io.Writer; an error is the one of the writer behind.
func (w *Writer) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		room := min(len(part), maxLine-len(w.rest))
		w.rest = append(w.rest, part[:room]...)
		w.over += len(part) - room
		if ended {
			if err := w.flush("\n"); err != nil {
				return 0, err
			}
		}
		rest = after
	}
	return len(p), nil
}

// Close hands on a last line that has no end. It does not close the writer behind.
func (w *Writer) Close() error {
	if len(w.rest) == 0 {
		return nil
	}
	return w.flush("")
}

// flush passes the line on.
func (w *Writer) flush(end string) error {
	if text, ok := w.keys(w.rest); ok {
		text = line(text, w.known)
		if w.over > 0 {
			end = fmt.Sprintf(" … %d more bytes%s", w.over, end)
		}
		if _, err := w.out.Write(append(bytes.Clone(text), end...)); err != nil {
			return err
		}
	}
	w.rest, w.over = w.rest[:0], 0
	return nil
}

// keys redacts private keys, which may take several lines; ok is false for a
// line that holds nothing else.
func (w *Writer) keys(text []byte) (left []byte, ok bool) {
	if w.key > 0 {
		end := keyEnd.FindIndex(text)
		if end == nil {
			w.key--
			return nil, false
		}
		w.key, text = 0, text[end[1]:]
	}
	begin := keyBegin.FindIndex(text)
	if begin == nil {
		return text, true
	}
	out := append(bytes.Clone(text[:begin[0]]), mark...)
	end := keyEnd.FindIndex(text[begin[1]:])
	if end == nil {
		w.key = maxKeyLines
		return out, true
	}
	more, _ := w.keys(text[begin[1]+end[1]:])
	return append(out, more...), true
}
