package rest

import (
	"encoding/json"
	"io"
	"iter"
	"net/http"

	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// pageSize is how many records are in memory while a list is sent.
const pageSize = 100

// list is an answer that is sent while it is read: a JSON list of any length.
type list iter.Seq2[any, error]

// stream sends a list. An error before the first item is answered as any other; a
// later one breaks the connection off, so that nobody takes a part for the whole.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, op protocol.Operation, items list) {
	began := false
	begin := func() error {
		began = true
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(op.Success)
		_, err := io.WriteString(w, "[")
		return err
	}
	encoder := json.NewEncoder(w)
	for item, err := range items {
		comma := began
		if err == nil && !began {
			err = begin()
		}
		if err == nil && comma {
			_, err = io.WriteString(w, ",")
		}
		if err == nil {
			err = encoder.Encode(item)
		}
		switch {
		case err == nil:
		case !began:
			s.fail(w, r, op, err)
			return
		default:
			s.log.Warn("a list broke off", "operation", op.ID, "error", err)
			panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's own way to break a connection off
		}
	}
	if !began && begin() != nil {
		return
	}
	_, _ = io.WriteString(w, "]\n") // a client that is gone is not told that it is
}

// hosts reads hosts page by page and shows what see leaves of each; nil leaves a host out.
func (r *request) hosts(filter store.HostFilter, see func(wire.Host) any) list {
	return func(yield func(any, error) bool) {
		filter.Limit = pageSize
		for {
			page, err := r.hub.Hosts(r.Context(), filter)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, h := range page {
				if shown := see(h); shown != nil && !yield(shown, nil) {
					return
				}
			}
			if len(page) < pageSize {
				return
			}
			last := page[len(page)-1]
			filter.After = store.HostKey{InfraEnvID: last.InfraEnvID, HostID: last.ID}
		}
	}
}

// events reads a part of the timeline page by page, and returns how many events of
// each severity there are in all of it.
func (r *request) events(f store.EventFilter) (list, map[string]int, error) {
	wanted := f.Limit
	page := func() (wire.EventList, map[string]int, error) {
		f.Limit = pageSize
		if wanted > 0 {
			f.Limit = min(pageSize, wanted)
		}
		return r.hub.Events(r.Context(), f)
	}
	found, counts, err := page()
	if err != nil {
		return nil, nil, err
	}
	return func(yield func(any, error) bool) {
		for {
			for _, e := range found {
				if !yield(e, nil) {
					return
				}
			}
			f.Offset += len(found)
			wanted -= len(found)
			if len(found) < f.Limit || wanted == 0 {
				return
			}
			if found, _, err = page(); err != nil {
				yield(nil, err)
				return
			}
		}
	}, counts, nil
}
