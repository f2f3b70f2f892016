package logs

import (
	"bytes"
	"time"
)

// WithMaxUpload is the sender for a hub that takes only so many bytes.
func (s Sender) WithMaxUpload(n int64) Sender { s.limit = n; return s }

// WithPartLimit is the sources with the limit for each part.
func (s Sources) WithPartLimit(d time.Duration) Sources { s.partLimit = d; return s }

// Spare is kept free in each archive.
const Spare = spare

// ParseCore returns the archive's name for a core dump's file.
func ParseCore(file string) (string, bool) {
	c, ok := parseCore(file)
	return c.name(), ok
}

// Rewrite is the bundle without its secrets.
func Rewrite(file string) (string, error) {
	var out bytes.Buffer
	w := newRewriter(&out, nil)
	w.bundle(file)
	err := w.close()
	return out.String(), err
}
