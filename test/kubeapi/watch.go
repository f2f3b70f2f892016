package kubeapi

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
)

// event is a change of an object: before is what it was, nil for a new one.
type event struct {
	what        string
	now, before *object
}

// tell adds an event to the log; the lock is held.
func (k *kind) tell(e event) {
	k.log = append(k.log, e)
	close(k.more)
	k.more = make(chan struct{})
}

// selection is which objects a list or a watch is about.
type selection struct {
	key    key
	labels labels.Selector
	fields fields.Selector
}

func (r *request) selection() (selection, error) {
	query := r.URL.Query()
	byLabel, err := labels.Parse(query.Get("labelSelector"))
	if err != nil {
		return selection{}, apierrors.NewBadRequest(err.Error())
	}
	byField, err := fields.ParseSelector(query.Get("fieldSelector"))
	if err != nil {
		return selection{}, apierrors.NewBadRequest(err.Error())
	}
	return selection{r.key, byLabel, byField}, nil
}

func (s selection) has(o *object) bool {
	return o != nil && (s.key.namespace == "" || s.key.namespace == o.meta.Namespace) && s.labels.Matches(labels.Set(o.meta.Labels)) &&
		s.fields.Matches(fields.Set{"metadata.name": o.meta.Name, "metadata.namespace": o.meta.Namespace})
}

// selected are the objects of a selection, in order.
func (k *kind) selected(of selection) []*object {
	var list []*object
	for _, o := range k.objects {
		if of.has(o) {
			list = append(list, o)
		}
	}
	slices.SortFunc(list, func(a, b *object) int {
		return cmp.Or(cmp.Compare(a.meta.Namespace, b.meta.Namespace), cmp.Compare(a.meta.Name, b.meta.Name))
	})
	return list
}

func (s *Server) list(r *request) ([]byte, error) {
	of, err := r.selection()
	if err != nil {
		return nil, err
	}
	version, kind := r.kind.gvk.GroupVersion().String(), r.kind.gvk.Kind
	if r.bare {
		version, kind = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	list := fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"%d"},"items":[`, version, kind+"List", s.version)
	for i, o := range r.kind.selected(of) {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, o.shown(r.bare)...)
	}
	return append(list, "]}"...), nil
}

// stream is the body of a watch: a line for each event.
type stream struct {
	server   *Server
	kind     *kind
	of       selection
	bare     bool
	next     int // in the log
	rest     bytes.Buffer
	asked    context.Context //nolint:containedctx // the request's: a body has no other way to hear of its end
	end      context.CancelFunc
	bookmark bool // what was there at the start was shown, and its end is not told yet
	version  uint64
}

// watch begins after a version that the client has, or with all that is there.
func (s *Server) watch(r *request) (*http.Response, error) {
	of, err := r.selection()
	if err != nil {
		return nil, err
	}
	w := &stream{server: s, kind: r.kind, of: of, bare: r.bare}
	w.asked, w.end = context.WithCancel(r.Context())
	query := r.URL.Query()
	since, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(r, "watch")
	if query.Get("sendInitialEvents") == "true" || err != nil || since == 0 {
		for _, o := range r.kind.selected(of) {
			w.write("ADDED", o.shown(r.bare))
		}
		w.next, w.bookmark, w.version = len(r.kind.log), query.Get("allowWatchBookmarks") == "true", s.version
	} else {
		w.next, _ = slices.BinarySearchFunc(r.kind.log, since, func(e event, since uint64) int {
			version, _ := strconv.ParseUint(e.now.meta.ResourceVersion, 10, 64) // our own
			return cmp.Compare(version, since+1)
		})
	}
	answer := respond(r.Request, http.StatusOK, nil)
	answer.Body, answer.ContentLength = w, -1
	return answer, nil
}

func (w *stream) write(what string, raw []byte) {
	fmt.Fprintf(&w.rest, `{"type":%q,"object":%s}`+"\n", what, raw)
}

// Read implements io.Reader: it waits for the next event.
func (w *stream) Read(p []byte) (int, error) {
	for w.rest.Len() == 0 {
		w.server.mu.Lock()
		end, more := len(w.kind.log), w.kind.more
		if w.kind.held >= 0 {
			end = max(w.next, w.kind.held)
		}
		news := w.kind.log[w.next:end]
		w.next += len(news)
		w.server.mu.Unlock()
		if w.bookmark {
			w.bookmark = false
			w.write("BOOKMARK", w.mark())
		}
		for _, e := range news {
			w.tell(e)
		}
		if w.rest.Len() > 0 {
			break
		}
		select {
		case <-more:
		case <-w.asked.Done():
			return 0, io.EOF
		}
	}
	return w.rest.Read(p)
}

// mark says that what was there at the start has been shown.
func (w *stream) mark() []byte {
	version, kind := w.kind.gvk.GroupVersion().String(), w.kind.gvk.Kind
	if w.bare {
		version, kind = "meta.k8s.io/v1", "PartialObjectMetadata"
	}
	return fmt.Appendf(nil, `{"apiVersion":%q,"kind":%q,"metadata":{"resourceVersion":"%d","annotations":{"k8s.io/initial-events-end":"true"}}}`, version, kind, w.version)
}

// tell shows an event as the selection sees it: an object comes and goes with its labels.
func (w *stream) tell(e event) {
	had, has := w.of.has(e.before), w.of.has(e.now)
	switch {
	case e.what == "DELETED" && has:
		w.write("DELETED", e.now.shown(w.bare))
	case e.what == "DELETED" || !had && !has:
	case !had:
		w.write("ADDED", e.now.shown(w.bare))
	case !has:
		w.write("DELETED", e.now.shown(w.bare))
	default:
		w.write("MODIFIED", e.now.shown(w.bare))
	}
}

// Close implements io.Closer.
func (w *stream) Close() error {
	w.end()
	return nil
}
