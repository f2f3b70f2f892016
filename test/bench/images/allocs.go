package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
)

// bareRequests is how many requests the share of net/http is measured with.
const bareRequests = 5000

// serveBare answers every request with nothing: what it allocates is what
// net/http needs for a request, whatever the handler.
func serveBare(l net.Listener) {
	empty := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	_ = http.Serve(l, empty) //nolint:gosec // on loopback, ended with the process
}

// netHTTPAllocs is how many objects net/http alone allocates for a range request
// over a kept connection.
func (t *target) netHTTPAllocs(ctx context.Context) (float64, error) {
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	ask := func(n int) error {
		for i := range n {
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+t.bareAddr+t.paths[i%len(t.paths)], http.NoBody)
			if err != nil {
				return err
			}
			request.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", i, i+64<<10-1))
			answer, err := client.Do(request)
			if err != nil {
				return err
			}
			_, err = io.Copy(io.Discard, answer.Body)
			if err != nil {
				return err
			}
			if err := answer.Body.Close(); err != nil {
				return err
			}
		}
		return nil
	}
	if err := ask(100); err != nil { // the connection and its buffers
		return 0, err
	}
	before, err := t.mallocs()
	if err != nil {
		return 0, err
	}
	if err := ask(bareRequests); err != nil {
		return 0, err
	}
	after, err := t.mallocs()
	return float64(after-before) / bareRequests, err
}
