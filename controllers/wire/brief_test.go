package wire

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const (
	aHost = `{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"a","namespace":"metal","resourceVersion":"7"},` +
		`"spec":{"online":true},"status":{"hardware":{"cpu":{"count":3}}}}`
	aStatus = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"too old \"resource version\"","reason":"Expired","code":410}`
)

var hostKind = schema.GroupVersionKind{Group: "metal3.io", Version: "v1alpha1", Kind: "BareMetalHost"}

// TestBriefAnswers has a server answer as the API server does, and in other ways.
func TestBriefAnswers(t *testing.T) {
	const asked = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	partial := `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a"}}`
	const brief = `{"kind":"BareMetalHost","apiVersion":"metal3.io/v1alpha1","metadata":{"name":"a"}}`
	const owned = `"managedFields":[{"manager":"]}}","fieldsV1":{"f:x":{"v:[]}}":{}}}}]`
	for name, c := range map[string]struct {
		method, accept, contentType, answer string
		plain                               bool
		wantAccept, want                    string
	}{
		"metadata alone": {answer: partial, wantAccept: asked, want: brief},
		"who wrote what": {
			answer:     `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"a","annotations":{"b":",\"managedFields\":["},` + owned + `}}` + "\n",
			wantAccept: asked, want: `{"kind":"BareMetalHost","apiVersion":"metal3.io/v1alpha1","metadata":{"name":"a","annotations":{"b":",\"managedFields\":["}}}`,
		},
		"members in another order": {
			answer:     `{"metadata":{` + owned + `,"labels":{"managedFields":"x"},"name":"a"}, "apiVersion":"meta.k8s.io/v1","kind":"PartialObjectMetadata"}`,
			wantAccept: asked, want: `{"kind":"BareMetalHost","apiVersion":"metal3.io/v1alpha1","metadata":{"name":"a","labels":{"managedFields":"x"}}}`,
		},
		"what clients accept": {accept: "application/json, */*", answer: partial, wantAccept: asked, want: brief},
		"a whole object":      {answer: aHost, wantAccept: asked, want: aHost},
		"a refusal":           {answer: aStatus, wantAccept: asked, want: aStatus},
		"nothing":             {answer: "", wantAccept: asked, want: ""},
		"less than expected":  {answer: `{"kind":"Part`, wantAccept: asked, want: `{"kind":"Part`},
		"not JSON":            {contentType: "application/vnd.kubernetes.protobuf", answer: partial, wantAccept: asked, want: partial},
		"not asked for":       {plain: true, answer: partial, wantAccept: "application/json", want: partial},
		"a read":              {method: http.MethodGet, answer: partial, wantAccept: "application/json", want: partial},
		"protobuf":            {accept: "application/vnd.kubernetes.protobuf", answer: partial, wantAccept: "application/vnd.kubernetes.protobuf", want: partial},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var accepted string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				accepted = r.Header.Get("Accept")
				w.Header().Set("Content-Type", cmp.Or(c.contentType, "application/json; charset=utf-8"))
				_, _ = io.WriteString(w, c.answer)
			}))
			defer server.Close()
			ctx := t.Context()
			if !c.plain {
				ctx = Brief(ctx, hostKind)
			}
			request, err := http.NewRequestWithContext(ctx, cmp.Or(c.method, http.MethodPatch), server.URL, strings.NewReader("{}"))
			g.Expect(err).NotTo(HaveOccurred())
			request.Header.Set("Accept", cmp.Or(c.accept, "application/json"))
			response, err := (&http.Client{Transport: Transport(http.DefaultTransport)}).Do(request)
			g.Expect(err).NotTo(HaveOccurred())
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			g.Expect(err).NotTo(HaveOccurred())
			if json.Valid([]byte(c.want)) {
				g.Expect(string(body)).To(MatchJSON(c.want))
			} else {
				g.Expect(string(body)).To(Equal(c.want))
			}
			g.Expect(accepted).To(Equal(c.wantAccept))
			g.Expect(request.Header.Get("Accept")).To(Equal(cmp.Or(c.accept, "application/json")), "the request is its owner's")
		})
	}
}
