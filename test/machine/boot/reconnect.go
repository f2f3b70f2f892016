package boot

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// reconnectPause is the time between two attempts to reach the server.
const reconnectPause = 500 * time.Millisecond

// Reconnect makes a BMC's HTTP client of a transport: when the server cannot be
// reached or hangs up, the request is made again for some time, as the firmware
// of BMCs does before it reports a read error to the machine. What the server
// answers is passed on as it is.
type Reconnect struct {
	// Base makes the requests; nil is http.DefaultTransport.
	Base http.RoundTripper
	// For is how long a request is made again.
	For time.Duration
}

// RoundTrip implements http.RoundTripper for requests without a body.
func (r Reconnect) RoundTrip(req *http.Request) (*http.Response, error) {
	base := r.Base
	if base == nil {
		base = http.DefaultTransport
	}
	ctx, cancel := context.WithTimeout(req.Context(), r.For)
	defer cancel()
	for {
		answer, err := whole(base, req)
		if err == nil || req.Context().Err() != nil {
			return answer, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(reconnectPause):
		}
	}
}

// whole makes the request and reads the answer to its end, so that a connection
// that breaks in the middle shows here. Answers of a BMC's requests are small.
func whole(base http.RoundTripper, req *http.Request) (*http.Response, error) {
	answer, err := base.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, 4<<20))
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}

// CloseIdleConnections implements what http.Client.CloseIdleConnections looks for.
func (r Reconnect) CloseIdleConnections() {
	if c, ok := r.Base.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}
