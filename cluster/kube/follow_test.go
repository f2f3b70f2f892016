package kube_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/cluster/kube"
)

// limit is for a machine that has other work.
const limit = time.Minute

// names takes what a list brings.
type names struct {
	mu    sync.Mutex
	fresh []string
	all   []string
	lists int
}

func (n *names) List() (add func(json.RawMessage), done func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fresh = nil
	return func(raw json.RawMessage) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.fresh = append(n.fresh, nameOf(raw))
		}, func() {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.all, n.lists = n.fresh, n.lists+1
		}
}

func (n *names) Set(json.RawMessage)    {}
func (n *names) Delete(json.RawMessage) {}
func (n *names) Absent()                {}

// coming are those of a list that is not at its end, known those of the last one.
func (n *names) coming() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.fresh...)
}

func (n *names) known() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]string{}, n.all...)
}

// ended is how many lists were whole.
func (n *names) ended() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lists
}

func nameOf(raw json.RawMessage) string {
	var o struct{ Metadata struct{ Name string } }
	_ = json.Unmarshal(raw, &o) // empty is no name that is looked for
	return o.Metadata.Name
}

// follow follows a collection of the server until the test ends.
func follow(t *testing.T, server http.HandlerFunc, sink kube.Sink, failed func(error)) {
	t.Helper()
	api := httptest.NewServer(server)
	client, err := kube.New(kube.Access{URL: api.URL})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		client.Follow(ctx, "/things", url.Values{}, sink, func() time.Duration { return time.Hour }, failed)
		close(ended)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		client.Close()
		api.CloseClientConnections()
		api.Close()
	})
}

// flush sends what was written.
func flush(w http.ResponseWriter) { _ = http.NewResponseController(w).Flush() } // who hangs up needs no answer

// watches answers a watch, which lasts as long as the client wants.
func watches(w http.ResponseWriter, r *http.Request) bool {
	if r.URL.Query().Get("watch") == "" {
		return false
	}
	flush(w)
	<-r.Context().Done()
	return true
}

// TestAListIsTakenAsItComes: the nodes of a large cluster are more than what this program may hold at once.
func TestAListIsTakenAsItComes(t *testing.T) {
	g := NewWithT(t)
	sink, goOn := &names{}, make(chan struct{})
	follow(t, func(w http.ResponseWriter, r *http.Request) {
		if watches(w, r) {
			return
		}
		fmt.Fprint(w, `{"kind":"ThingList","items":[{"metadata":{"name":"first"}},`+strings.Repeat(" ", 64<<10))
		flush(w)
		select {
		case <-goOn:
		case <-r.Context().Done():
		}
		fmt.Fprint(w, `{"metadata":{"name":"second"}}],"metadata":{"resourceVersion":"7"}}`)
	}, sink, func(err error) { t.Error(err) })
	g.Eventually(sink.coming, limit).Should(Equal([]string{"first"}), "before the server has sent the others")
	g.Expect(sink.known()).To(BeEmpty(), "these are not all yet")
	close(goOn)
	g.Eventually(sink.known, limit).Should(Equal([]string{"first", "second"}))
}

// TestPagesOfAList: where metadata comes first or last, with members that nobody reads.
func TestPagesOfAList(t *testing.T) {
	for name, tc := range map[string]struct {
		pages []string
		want  []string
	}{
		"one":            {[]string{`{"metadata":{"resourceVersion":"7"},"apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`}, []string{"a"}},
		"two":            {[]string{`{"items":[{"metadata":{"name":"a"}}],"metadata":{"continue":"1"}}`, `{"items":[{"metadata":{"name":"b"}}],"extra":[{"a":[]}],"metadata":{}}`}, []string{"a", "b"}},
		"null":           {[]string{`{"items":null,"metadata":{}}`}, []string{}},
		"none":           {[]string{`{"items":[],"metadata":{}}`}, []string{}},
		"no items named": {[]string{`{"metadata":{}}`}, []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			sink := &names{}
			follow(t, func(w http.ResponseWriter, r *http.Request) {
				if watches(w, r) {
					return
				}
				page := 0
				if r.URL.Query().Get("continue") != "" {
					page = 1
				}
				fmt.Fprint(w, tc.pages[page])
			}, sink, func(err error) { t.Error(err) })
			g.Eventually(sink.ended, limit).Should(Equal(1))
			g.Expect(sink.known()).To(Equal(tc.want))
		})
	}
}

// TestAListThatBreaksOffIsNone: what was known before stays, and it is asked again.
func TestAListThatBreaksOffIsNone(t *testing.T) {
	for name, text := range map[string]string{
		"in an object":     `{"items":[{"metadata":{"name":"a"}},{"metadata"`,
		"after an object":  `{"items":[{"metadata":{"name":"a"}}`,
		"before its end":   `{"items":[{"metadata":{"name":"a"}}]`,
		"nothing":          ``,
		"no list":          `[]`,
		"items that are 1": `{"items":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			sink, errs := &names{}, make(chan error, 10)
			follow(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }, sink, func(err error) { errs <- err })
			g.Eventually(errs, limit).Should(Receive(MatchError(ContainSubstring("cannot be read"))))
			g.Expect(sink.known()).To(BeEmpty())
		})
	}
}
