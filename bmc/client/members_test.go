package client_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

func TestMembers(t *testing.T) {
	const chips = "/redfish/v1/Chips"
	page := func(next string, members ...string) string {
		list := []any{}
		for _, m := range members {
			list = append(list, map[string]string{"@odata.id": m})
		}
		raw, _ := json.Marshal(map[string]any{"Members": list, "Members@odata.count": 4, "Members@odata.nextLink": next})
		return string(raw)
	}
	cases := map[string]struct {
		pages    map[string]string // by query
		limit    int
		want     []string
		complete bool
		kind     client.Kind
		asked    int
	}{
		"one page":           {map[string]string{"": page("", "/a", "/b")}, 0, []string{"/a", "/b"}, true, "", 1},
		"pages":              {map[string]string{"": page(chips+"?$skip=2", "/a", "/b"), "$skip=2": page("", "/c", "/d")}, 0, []string{"/a", "/b", "/c", "/d"}, true, "", 2},
		"a link to itself":   {map[string]string{"": page(chips, "/a", "/b")}, 0, []string{"/a", "/b"}, false, "", 1},
		"a circle":           {map[string]string{"": page(chips+"?2", "/a"), "2": page(chips, "/b")}, 0, []string{"/a", "/b"}, false, "", 2},
		"$skip is ignored":   {map[string]string{"": page(chips+"?$skip=2", "/a", "/b"), "$skip=2": page(chips+"?$skip=4", "/a", "/b")}, 0, []string{"/a", "/b"}, false, "", 2},
		"limit":              {map[string]string{"": page("", "/a", "/b", "/c")}, 2, []string{"/a", "/b"}, false, "", 1},
		"limit, just enough": {map[string]string{"": page("", "/a", "/b")}, 2, []string{"/a", "/b"}, true, "", 1},
		"limit, next page":   {map[string]string{"": page(chips+"?2", "/a", "/b"), "2": page("", "/c")}, 2, []string{"/a", "/b"}, false, "", 1},
		"too many pages": {map[string]string{
			"": page(chips+"?1", "/a"), "1": page(chips+"?2", "/b"), "2": page(chips+"?3", "/c"), "3": page(chips+"?4", "/d"), "4": page("", "/e"),
		}, 0, []string{"/a", "/b", "/c", "/d"}, false, "", 4},
		"twice the same":      {map[string]string{"": page("", "/a", "/a", "/b")}, 0, []string{"/a", "/b"}, true, "", 1},
		"null":                {map[string]string{"": `{"Members":null}`}, 0, nil, true, "", 1},
		"no members":          {map[string]string{"": `{}`}, 0, nil, true, "", 1},
		"bare texts":          {map[string]string{"": `{"Members":["/a",null,7,{"@odata.id":"/b"}]}`}, 0, []string{"/a", "/b"}, true, "", 1},
		"one object":          {map[string]string{"": `{"Members":{"@odata.id":"/a"}}`}, 0, []string{"/a"}, true, "", 1},
		"another next link":   {map[string]string{"": `{"Members":["/a"],"@odata.nextLink":"` + chips + `?2"}`, "2": page("", "/b")}, 0, []string{"/a", "/b"}, true, "", 2},
		"a foreign next link": {map[string]string{"": page("https://evil.example/x", "/a")}, 0, []string{"/a"}, false, client.Broken, 1},
		"a foreign member":    {map[string]string{"": page("", "/a", "https://evil.example/x")}, 0, []string{"/a"}, false, client.Broken, 1},
		"a page that fails":   {map[string]string{"": page(chips+"?2", "/a")}, 0, []string{"/a"}, false, client.NotSupported, 2},
		"no JSON":             {map[string]string{"": `{`}, 0, nil, false, client.Broken, 1},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			f.paths[chips] = func(w http.ResponseWriter, r *http.Request) {
				if text, ok := c.pages[r.URL.RawQuery]; ok {
					body(w, http.StatusOK, text)
				} else {
					body(w, http.StatusNotFound, "")
				}
			}
			options := quick()
			options.MaxPages = 4
			it := newClient(t, serve(t, f), options)
			g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
			f.requests()
			paths, complete, err := it.Members(t.Context(), chips, c.limit)
			g.Expect(paths).To(Equal(c.want))
			g.Expect(complete).To(Equal(c.complete))
			g.Expect(client.KindOf(err)).To(Equal(c.kind), "%v", err)
			g.Expect(f.requests()).To(HaveLen(c.asked))
		})
	}
	t.Run("as many as a page can hold", func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		var members []string
		for i := range 20000 {
			members = append(members, fmt.Sprintf("/m/%d", i))
		}
		f.paths[chips] = answers(http.StatusOK, page("", members...))
		it := newClient(t, serve(t, f), quick())
		paths, complete, err := it.Members(t.Context(), chips, 0)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(paths).To(HaveLen(10000))
		g.Expect(complete).To(BeFalse())
	})
}
