package simulator

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
)

// Transport answers requests to any host by this server, without a network and
// without goroutines that outlive a request, as testing/synctest needs it.
func (s *Server) Transport() http.RoundTripper { return transport{s} }

type transport struct{ server *Server }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	in := r.Clone(r.Context())
	if in.Body == nil {
		in.Body = http.NoBody
	}
	defer in.Body.Close()
	recorder := httptest.NewRecorder()
	defer func() {
		if p := recover(); p != nil {
			if p != http.ErrAbortHandler { //nolint:errorlint // a panic value, compared as net/http does
				panic(p) //nolint:forbidigo // not ours: passed on
			}
			resp, err = nil, io.ErrUnexpectedEOF
			if ctxErr := r.Context().Err(); ctxErr != nil {
				err = ctxErr
			}
		}
	}()
	t.server.ServeHTTP(recorder, in)
	body := recorder.Body.Bytes()
	resp = recorder.Result()
	resp.Body, resp.ContentLength, resp.Request = io.NopCloser(bytes.NewReader(body)), int64(len(body)), r
	return resp, nil
}
