package simulator

import (
	"net/http"
	"strconv"
	"time"
)

// keepAlive is the pause after which an idle stream gets a comment.
const keepAlive = 30 * time.Second

// ssePath is the address of the event stream.
var ssePath = path("EventService", "SSE")

// getStream answers with events as they come (ServerSentEventUri), until the
// client goes, its session ends, or the BMC restarts.
func getStream(c *call) (reply, error) {
	switch {
	case c.eventsMissing() != nil || c.of.has(NoSSE):
		return reply{}, notFound(c.r.URL.Path)
	case c.r.URL.Query().Has("$filter"):
		return reply{}, fault(http.StatusBadRequest, notAllowed, "Streams cannot be filtered.")
	case (c.s.opts.MaxStreams > 0 && len(c.s.subs.streams) >= c.s.opts.MaxStreams) || c.of.strikes(StreamsFull):
		return reply{}, fault(http.StatusServiceUnavailable, subscriptionsFull, "The number of streams exceeds the limit of the implementation.")
	}
	sub := &subscription{id: "SSE." + strconv.Itoa(c.s.next()), queue: make(chan []byte, queued), of: c.of}
	c.s.subs.streams[sub.id] = sub
	return reply{stream: func(w http.ResponseWriter, r *http.Request) { c.s.stream(sub, w, r) }}, nil
}

// stream writes the events of a stream. The lock is not held.
func (s *Server) stream(sub *subscription, w http.ResponseWriter, r *http.Request) {
	defer func() {
		s.mu.Lock()
		delete(s.subs.streams, sub.id)
		s.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	out := http.NewResponseController(w)
	ticker := time.NewTicker(keepAlive)
	defer ticker.Stop()
	for chunk, serial := ": stream is open\n\n", 0; ; {
		if _, err := w.Write([]byte(chunk)); err != nil || out.Flush() != nil {
			return
		}
		if serial > 0 && s.streamCut(sub) {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.life.Done():
			return
		case <-ticker.C:
			chunk = ": still here\n\n"
		case body, open := <-sub.queue:
			if !open {
				return
			}
			serial++
			chunk = "id: " + strconv.Itoa(serial) + "\ndata: " + string(body) + "\n\n"
		}
		if !s.stillIn(r, sub.of) {
			return
		}
	}
}

// streamCut asks the quirk that ends streams.
func (s *Server) streamCut(sub *subscription) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sub.of.strikes(StreamCut)
}

// stillIn says whether the credentials of a stream still hold; it uses its session.
func (s *Server) stillIn(r *http.Request, of *system) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return r.Header.Get(tokenHeader) == "" || s.authorize(r, of) == nil
}

// endStreams ends all streams, as a restart of the BMC does; the lock is held.
func (s *Server) endStreams() {
	for id, sub := range s.subs.streams {
		delete(s.subs.streams, id)
		close(sub.queue)
	}
}
