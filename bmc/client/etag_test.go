package client_test

import (
	"net/http"
	"slices"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

// TestPatch shows what of If-Match is sent to BMCs of different minds.
func TestPatch(t *testing.T) {
	any412 := func(match string) int {
		if match != "" {
			return http.StatusPreconditionFailed
		}
		return 0
	}
	only := func(good ...string) func(string) int {
		return func(match string) int {
			switch {
			case slices.Contains(good, match):
				return 0
			case match == "":
				return http.StatusPreconditionRequired
			}
			return http.StatusPreconditionFailed
		}
	}
	cases := map[string]struct {
		tags   []string // of each read, as headers; the last one stays
		inBody string   // @odata.etag
		read   bool     // before the change
		accept func(match string) int
		sent   []string // If-Match of each PATCH
		reads  int
		kind   client.Kind
	}{
		"as it was read":              {tags: []string{`"1"`}, read: true, accept: only(`"1"`), sent: []string{`"1"`}, reads: 1},
		"never read, not demanded":    {tags: []string{`"1"`}, accept: only("", `"1"`), sent: []string{""}},
		"never read, demanded":        {tags: []string{`"1"`}, accept: only(`"1"`), sent: []string{"", `"1"`}, reads: 1},
		"by the body":                 {inBody: `W/"1"`, accept: only(`W/"1"`), sent: []string{"", `W/"1"`}, reads: 1},
		"changed meanwhile":           {tags: []string{`"1"`, `"2"`}, read: true, accept: only(`"2"`), sent: []string{`"1"`, `"2"`}, reads: 2},
		"weak tags are refused":       {tags: []string{`W/"1"`}, read: true, accept: only(`"1"`), sent: []string{`W/"1"`, `"1"`}, reads: 2},
		"weak, and changed":           {tags: []string{`W/"1"`, `W/"2"`}, read: true, accept: only(`"2"`), sent: []string{`W/"1"`, `W/"2"`, `"2"`}, reads: 2},
		"the suffix of packing":       {tags: []string{`"1-gzip"`}, read: true, accept: only(`"1"`), sent: []string{`"1-gzip"`, `"1"`}, reads: 2},
		"no If-Match is taken":        {tags: []string{`"1"`}, read: true, accept: any412, sent: []string{`"1"`, ""}, reads: 2},
		"no weak one either":          {tags: []string{`W/"1"`}, read: true, accept: any412, sent: []string{`W/"1"`, `"1"`, ""}, reads: 2},
		"demanded, but there is none": {accept: only("*"), sent: []string{"", "*"}, reads: 1},
		"an asterisk alone":           {tags: []string{`"1"`}, accept: only("*"), sent: []string{"", `"1"`, "*"}, reads: 1},
		"an empty tag is none":        {tags: []string{`""`}, read: true, accept: only(""), sent: []string{""}, reads: 1},
		"doubled quotes":              {tags: []string{`""1""`}, read: true, accept: only(`"1"`), sent: []string{`"1"`}, reads: 1},
		"without quotes":              {tags: []string{`1`}, read: true, accept: only(`1`), sent: []string{`1`}, reads: 1},
		"nothing is taken":            {tags: []string{`"1"`}, read: true, accept: only("?"), sent: []string{`"1"`, ""}, reads: 2, kind: client.Conflict},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			var sent []string
			reads := 0
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					if len(c.tags) > 0 {
						w.Header()["Etag"] = []string{"", c.tags[min(reads, len(c.tags)-1)]} // two of them, the first one empty
					}
					reads++
					body(w, http.StatusOK, `{"@odata.etag":"`+escaped(c.inBody)+`"}`)
					return
				}
				match := r.Header.Get("If-Match")
				sent = append(sent, match)
				if status := c.accept(match); status != 0 {
					body(w, status, message("Base.1.18.PreconditionFailed", "The ETag is not that of the resource."))
					return
				}
				body(w, http.StatusOK, `{}`)
			}
			it := newClient(t, serve(t, f), quick())
			if c.read {
				g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			}
			_, err := it.Patch(t.Context(), system, map[string]string{"AssetTag": "x"})
			g.Expect(client.KindOf(err)).To(Equal(c.kind), "%v", err)
			g.Expect(sent).To(Equal(c.sent))
			g.Expect(reads).To(Equal(c.reads))
		})
	}
}

func escaped(tag string) string {
	if tag == "" {
		return ""
	}
	return `W/\"1\"`
}

func TestTagOfAChangeIsKept(t *testing.T) {
	g, f := NewWithT(t), newFake()
	var sent []string
	f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPatch {
			sent = append(sent, r.Header.Get("If-Match"))
			w.Header().Set("ETag", `"2"`)
		} else {
			w.Header().Set("ETag", `"1"`)
		}
		body(w, http.StatusOK, `{}`)
	}
	it := newClient(t, serve(t, f), quick())
	g.Expect(it.Get(t.Context(), system+"/", &struct{}{})).To(Succeed())
	f.paths[system+"/"] = f.paths[system]
	g.Expect(it.Get(t.Context(), system+"/", &struct{}{})).To(Succeed())
	for range 2 {
		_, err := it.Patch(t.Context(), system, map[string]string{})
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(sent).To(Equal([]string{`"1"`, `"2"`}))
}

func TestActionsCarryNoIfMatch(t *testing.T) {
	g, f := NewWithT(t), newFake()
	var headers []http.Header
	const reset = system + "/Actions/ComputerSystem.Reset"
	f.paths[reset] = func(w http.ResponseWriter, r *http.Request) {
		headers = append(headers, r.Header)
		w.WriteHeader(http.StatusNoContent)
	}
	f.paths[system] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"1"`)
		body(w, http.StatusOK, `{"@odata.id":"`+system+`","Id":"1","Actions":{"#ComputerSystem.Reset":{"target":"`+reset+`"}}}`)
	}
	it := newClient(t, serve(t, f), quick())
	g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())     // whose tag is kept
	g.Expect(it.Get(t.Context(), reset, &struct{}{})).To(HaveOccurred()) // 204 without a body is no resource
	_, err := it.Post(t.Context(), reset, map[string]string{"ResetType": "On"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(headers).To(HaveLen(2))
	for _, header := range headers {
		g.Expect(header).NotTo(HaveKey("If-Match"))
	}
}
