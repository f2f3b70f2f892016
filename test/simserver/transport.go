package simserver

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
)

// Transport answers requests to any host by the handler, without a network and
// without goroutines that outlive a request, as testing/synctest needs it.
func Transport(handler http.Handler) http.RoundTripper { return transport{handler} }

type transport struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper. A handler that drops its connection
// ([http.ErrAbortHandler]) gives [io.ErrUnexpectedEOF].
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
	t.handler.ServeHTTP(recorder, in)
	body := recorder.Body.Bytes()
	resp = recorder.Result()
	resp.Body, resp.ContentLength, resp.Request = io.NopCloser(bytes.NewReader(body)), int64(len(body)), r
	return resp, nil
}
