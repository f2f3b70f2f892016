package client

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// errTooLarge and errTooDeep are answers beyond the limits.
var (
	errTooLarge = errors.New("the answer is larger than allowed")
	errTooDeep  = errors.New("the answer's JSON is nested deeper than allowed")
)

// readBody reads an answer's body within the limits. BMCs are asked not to compress;
// some do.
func (c *channel) readBody(resp *http.Response) ([]byte, error) {
	raw, err := bounded(resp.Body, c.options.MaxBody)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") && len(raw) > 0 {
		if raw, err = gunzip(raw, c.options.MaxBody); err != nil {
			return nil, err
		}
		resp.Header.Del("Content-Encoding")
		resp.Header.Del("Content-Length")
	}
	if !looksLikeJSON(raw) {
		return raw, nil
	}
	raw = lenient.Mend(raw)
	if !shallow(raw, c.options.MaxDepth) {
		return nil, fmt.Errorf("%w (%d levels)", errTooDeep, c.options.MaxDepth)
	}
	return raw, nil
}

func gunzip(raw []byte, limit int64) ([]byte, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, errBadGzip
	}
	text, err := bounded(unpacked, limit)
	if err != nil && !errors.Is(err, errTooLarge) {
		return nil, errBadGzip
	}
	return text, err
}

// errBadGzip is an answer that claims to be gzip and is not.
var errBadGzip = errors.New("the answer's gzip is damaged")

func bounded(r io.Reader, limit int64) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("%w (%d bytes)", errTooLarge, limit)
	}
	return raw, nil
}

// looksLikeJSON reports whether a body begins as an object or a list.
func looksLikeJSON(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n\xef\xbb\xbf")
	return len(raw) > 0 && (raw[0] == '{' || raw[0] == '[')
}

// looksLikeHTML reports whether a body begins as a web page.
func looksLikeHTML(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n\xef\xbb\xbf")
	return len(raw) > 0 && raw[0] == '<'
}

// shallow reports whether JSON is nested at most depth levels. It reads brackets
// outside of strings only: what is no JSON at all is found out later.
func shallow(raw []byte, depth int) bool {
	level, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if level++; level > depth {
				return false
			}
		case c == '}' || c == ']':
			level--
		}
	}
	return true
}
