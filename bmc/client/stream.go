package client

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"
)

// Stream opens a stream of server-sent events. Its beginning has the timeout of a
// request, its length none: it ends with the context, its own Close, or that of the
// client. It takes no turn of other requests; what is read from it is not bounded.
func (c *Client) Stream(ctx context.Context, path string) (io.ReadCloser, error) {
	k, err := c.call(http.MethodGet, path)
	if err != nil {
		return nil, err
	}
	p := pass{}
	for {
		if err := c.closed(k); err != nil {
			return nil, err
		}
		as, done, err := c.auth.credential(ctx, &p)
		if err != nil {
			return nil, c.about(k, err)
		}
		stream, err := c.openStream(ctx, k, as)
		again, verdict := c.auth.judge(&p, k, as, err)
		done()
		switch {
		case verdict != nil:
			return nil, c.about(k, verdict)
		case !again:
			return stream, err
		case pause(ctx, p.wait) != nil:
			return nil, err
		}
	}
}

func (c *Client) openStream(ctx context.Context, k call, as credential) (opened io.ReadCloser, err error) {
	if admission, wait := c.shared.breaker.admit(c.options.Now()); admission == keepAway {
		return nil, c.silent(k, wait)
	} else if admission == tryRoot {
		if err := c.tryRoot(ctx); err != nil {
			return nil, err
		}
	}
	done, err := c.enter(ctx, k)
	if err != nil {
		return nil, err
	}
	defer done()
	start := c.options.Now()
	open, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.life, func() { cancel(ErrClosed) })
	late := time.AfterFunc(c.options.Timeout, func() { cancel(errSilent) })
	end := sync.OnceFunc(func() { stop(); cancel(nil) })
	defer func() {
		if !late.Stop() && err == nil {
			opened, err = nil, c.lost(ctx, k, errSilent, start)
		}
		if err != nil {
			end()
		}
	}()
	k.header = http.Header{"Accept": {"text/event-stream"}, "Cache-Control": {"no-cache"}}
	request, err := c.request(open, k, as)
	if err != nil {
		return nil, c.lost(ctx, k, err, start)
	}
	response, err := c.http.Do(request)
	if err != nil {
		return nil, c.lost(ctx, k, cause(open, err), start)
	}
	c.seenDate(response.Header)
	c.shared.breaker.answered()
	if response.StatusCode == http.StatusOK {
		return &stream{response.Body, end}, nil
	}
	defer response.Body.Close()
	body, err := c.readBody(response)
	if err != nil {
		return nil, c.lost(ctx, k, cause(open, err), start)
	}
	if _, err = c.answer(k, as, response, body); err == nil {
		return nil, c.failure(k, Broken, response.StatusCode, "the answer is no stream")
	}
	return nil, err
}

// stream is an open answer.
type stream struct {
	io.ReadCloser

	end func()
}

// Close ends the stream.
func (s *stream) Close() error {
	s.end()
	return s.ReadCloser.Close()
}
