package rest

import (
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"

	"github.com/ironflow/ironflow/hub/files"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// pageSize is how many records are in memory while a list is sent.
const pageSize = 100

// list is an answer that is sent while it is read: a JSON list of any length.
type list iter.Seq2[any, error]

// framed is a list with what comes before and behind it in an answer.
type framed struct {
	before string
	items  list
	// show completes an item.
	show func(item any) any
	// behind is asked for once all items were sent.
	behind func() string
}

// framed is the list as an answer of its own.
func (l list) framed() framed {
	return framed{before: "[", items: l, show: shown, behind: func() string { return "]\n" }}
}

// write writes the list while it is read. begin is called once the first item is there, before anything is written.
func (f framed) write(w io.Writer, begin func()) error {
	begun, before := false, f.before
	for item, err := range f.items {
		if err != nil {
			return err
		}
		if !begun {
			begun = true
			begin()
		}
		if _, err := io.WriteString(w, before); err != nil {
			return err
		}
		before = ","
		if err := f.writeItem(w, item); err != nil {
			return err
		}
	}
	end := f.behind()
	if !begun {
		begin()
		end = before + end
	}
	_, _ = io.WriteString(w, end) // a client that is gone is not told that it is
	return nil
}

// writeItem writes one item, which may have a list in it that is sent while it is read.
func (f framed) writeItem(w io.Writer, item any) error {
	whole, is := item.(*withHosts)
	if !is {
		return json.NewEncoder(w).Encode(f.show(item))
	}
	inner, err := whole.framed()
	if err != nil {
		return err
	}
	return inner.write(w, func() {})
}

// stream sends a list. An error before the first item is answered as any other; a
// later one breaks the connection off, so that nobody takes a part for the whole.
func (s *Server) stream(w http.ResponseWriter, r *http.Request, op protocol.Operation, f framed) {
	began := false
	err := f.write(w, func() {
		began = true
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(op.Success)
	})
	switch {
	case err == nil:
	case !began:
		s.fail(w, r, op, err)
	default:
		s.log.Warn("a list broke off", "operation", op.ID, "error", err)
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's own way to break a connection off
	}
}

// logBundle is an answer of logs that are sent while they are read.
type logBundle struct {
	name string
	logs *files.Bundle
}

// sendBundle breaks the connection off where a part of the logs cannot be read.
func (s *Server) sendBundle(w http.ResponseWriter, r *http.Request, op protocol.Operation, b *logBundle) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", "attachment; filename="+strconv.Quote(b.name))
	w.WriteHeader(op.Success)
	if err := b.logs.Write(r.Context(), w); err != nil {
		s.log.Warn("logs broke off", "operation", op.ID, "error", err)
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's own way to break a connection off
	}
}

// pages is a list of what read returns page by page, each behind the last item of the
// page before. show makes an answer's item of each; nil leaves it out.
func pages[T any](read func(last *T) ([]T, error), show func(T) (any, error)) list {
	return func(yield func(any, error) bool) {
		var last *T
		for {
			page, err := read(last)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page {
				shown, err := show(item)
				if err != nil {
					yield(nil, err)
					return
				}
				if shown != nil && !yield(shown, nil) {
					return
				}
			}
			if len(page) < pageSize {
				return
			}
			last = &page[len(page)-1]
		}
	}
}

// hosts reads hosts page by page and shows what see leaves of each; nil leaves a host out.
func (r *request) hosts(filter store.HostFilter, see func(wire.Host) any) list {
	filter.Limit = pageSize
	return pages(func(last *wire.Host) ([]wire.Host, error) {
		if last != nil {
			filter.After = store.HostKey{InfraEnvID: last.InfraEnvID, HostID: last.ID}
		}
		page, err := r.hub.Hosts(r.Context(), filter)
		if err != nil || !filter.Bare {
			return page, err
		}
		return page, r.name(page, see)
	}, func(h wire.Host) (any, error) { return see(h), nil })
}

// name gives hosts that were read without their reports the names that they have told,
// as far as they are shown and have no other.
func (r *request) name(page []wire.Host, see func(wire.Host) any) error {
	var nameless []store.HostKey
	for _, h := range page {
		if h.RequestedHostname == "" && see(h) != nil {
			nameless = append(nameless, store.HostKey{InfraEnvID: h.InfraEnvID, HostID: h.ID})
		}
	}
	names, err := r.hub.HostNames(r.Context(), nameless)
	for i := range page {
		if name, ok := names[store.HostKey{InfraEnvID: page[i].InfraEnvID, HostID: page[i].ID}]; ok {
			page[i].RequestedHostname = name
		}
	}
	return err
}

// clusters reads all clusters page by page, with their hosts when wanted. own is the id that
// a cluster has given itself, of the only one that is wanted; empty for all.
func (r *request) clusters(withHosts bool, own string) list {
	return pages(func(last *wire.Cluster) ([]wire.Cluster, error) {
		filter := store.ClusterFilter{Limit: pageSize}
		if last != nil {
			filter.After = last.ID
		}
		return r.hub.Clusters(r.Context(), filter)
	}, func(c wire.Cluster) (any, error) {
		switch {
		case own != "" && c.OpenshiftClusterID != own, r.leavesOut(c):
			return nil, nil
		case !withHosts:
			return c, nil
		}
		now, err := r.hub.Cluster(r.Context(), c.ID, false) // a page of clusters takes long to send
		if service.IsNotFound(err) {
			return nil, nil // it was removed meanwhile
		}
		return r.withHosts(now, err)
	})
}

// leavesOut tells that the cluster is not the caller's to see, or not one of those that are asked for: by who has made
// it, or by subscriptions, which no cluster of this hub has.
func (r *request) leavesOut(c wire.Cluster) bool {
	subscriptions := r.list("ams_subscription_ids")
	return r.caller.hidesFrom(c.UserName) || r.ofAnother(c.UserName) || subscriptions != nil && !slices.Contains(subscriptions, c.AmsSubscriptionID)
}

// ofAnother tells that the request asks for what one user has made, and this is another's.
func (r *request) ofAnother(user string) bool {
	owner := r.URL.Query().Get("owner")
	return owner != "" && owner != user
}

// and is the list with clusters behind it that were removed.
func (l list) and(gone []wire.Cluster, own string) list {
	return func(yield func(any, error) bool) {
		stopped := false
		l(func(item any, err error) bool {
			stopped = !yield(item, err) || err != nil
			return !stopped
		})
		for _, c := range gone {
			if stopped {
				return
			}
			stopped = (own == "" || c.OpenshiftClusterID == own) && !yield(c, nil)
		}
	}
}

// infraEnvs reads the infra-envs of a cluster, or all, page by page.
func (r *request) infraEnvs(clusterID string) list {
	return pages(func(last *wire.InfraEnv) ([]wire.InfraEnv, error) {
		filter := store.InfraEnvFilter{ClusterID: clusterID, Limit: pageSize}
		if last != nil {
			filter.After = last.ID
		}
		return r.hub.InfraEnvs(r.Context(), filter)
	}, func(e wire.InfraEnv) (any, error) {
		if r.caller.hidesFrom(e.UserName) || r.ofAnother(e.UserName) {
			return nil, nil
		}
		return r.infraEnvFor(e), nil
	})
}

// events reads a part of the timeline page by page, and returns how many events of
// each severity there are in all of it.
func (r *request) events(f store.EventFilter) (list, map[string]int, error) {
	wanted := f.Limit
	page := func() ([]store.Event, map[string]int, error) {
		f.Limit = pageSize
		if wanted > 0 {
			f.Limit = min(pageSize, wanted)
		}
		return r.hub.Numbered(r.Context(), f)
	}
	found, counts, err := page()
	if err != nil {
		return nil, nil, err
	}
	return func(yield func(any, error) bool) {
		for {
			for _, e := range found {
				if !yield(e.Event, nil) {
					return
				}
			}
			wanted -= len(found)
			if len(found) < f.Limit || wanted == 0 {
				return
			}
			f.Offset, f.Beyond = 0, found[len(found)-1].Seq
			if found, _, err = page(); err != nil {
				yield(nil, err)
				return
			}
		}
	}, counts, nil
}
