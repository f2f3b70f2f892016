package tang_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/tang"
	"github.com/ironflow/ironflow/agent/steps"
)

func run(t *testing.T, client *http.Client, servers string) steps.Result {
	t.Helper()
	quoted, err := json.Marshal(servers)
	if err != nil {
		t.Fatal(err)
	}
	return tang.Check.Runner(probe.Env{HTTP: client}).Run(t.Context(), []string{`{"tang_servers":` + string(quoted) + `}`})
}

func TestServersThatFail(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/list/adv/T":
			fmt.Fprint(w, `{"payload":"P","signatures":[{"protected":"A","signature":"B"},{"protected":"C","signature":"D"}]}`)
		case "/one/adv/T":
			fmt.Fprint(w, `{"payload":"P","protected":"A","signature":"B"}`)
		case "/html/adv/T":
			fmt.Fprint(w, "<html>log in</html>")
		case "/empty/adv/T":
			fmt.Fprint(w, "{}")
		case "/created/adv/T":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"payload":"P","protected":"A","signature":"B"}`)
		case "/endless/adv/T":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	list := func(urls ...string) string {
		var all []string
		for _, url := range urls {
			all = append(all, fmt.Sprintf(`{"url":%q,"thumbprint":"T"}`, url))
		}
		return "[" + strings.Join(all, ",") + "]"
	}

	g := NewWithT(t)
	good := run(t, server.Client(), list(server.URL+"/one", server.URL+"/list"))
	g.Expect(good.Error).To(BeEmpty())
	g.Expect(good.Output).To(MatchJSON(`{"is_success":true,"tang_server_response":[
		{"tang_url":"` + server.URL + `/one","payload":"P","signatures":[{"protected":"A","signature":"B"}]},
		{"tang_url":"` + server.URL + `/list","payload":"P","signatures":[{"protected":"A","signature":"B"},{"protected":"C","signature":"D"}]}]}`))

	bad := run(t, server.Client(), list(server.URL+"/one", server.URL+"/html", server.URL+"/empty", server.URL+"/created", server.URL+"/endless", server.URL+"/none", dead.URL))
	g.Expect(bad.Exit).To(BeEquivalentTo(-1))
	g.Expect(bad.Output).To(Equal(`{"tang_server_response":null}`))
	reasons := strings.Split(bad.Error, "\n")
	g.Expect(reasons).To(HaveLen(6), "one line for each that failed: %s", bad.Error)
	for i, want := range []string{
		"/html: the answer is not JSON",
		"/empty: the answer is no signed list",
		"/created: answered 201",
		"/endless: the answer is larger",
		"/none: answered 404",
		"connection refused",
	} {
		g.Expect(reasons[i]).To(ContainSubstring(want))
	}
}

func TestASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		silent := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		})}
		result := run(t, silent, `[{"url":"http://slow.example","thumbprint":"T"}]`)
		g.Expect(result.Exit).To(BeEquivalentTo(-1), "not the step's time limit: the reason is the report")
		g.Expect(result.Error).To(ContainSubstring("tang server http://slow.example: no answer in time"))
	})
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func TestRefused(t *testing.T) {
	for name, tc := range map[string]struct{ servers, want string }{
		"no thumbprint":   {`[{"url":"http://a"}]`, "not a thumbprint"},
		"path for a hash": {`[{"url":"http://a","thumbprint":"../rec"}]`, "not a thumbprint"},
		"no URL":          {`[{"thumbprint":"T"}]`, "not an http(s) URL"},
		"file":            {`[{"url":"file:///etc/shadow","thumbprint":"T"}]`, "not an http(s) URL"},
		"too many":        {"[" + strings.Repeat(`{},`, 64) + "{}]", "more than 64"},
		"no list":         {`{}`, "not a JSON list"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			result := run(t, nil, tc.servers)
			g.Expect(result.Exit).To(BeEquivalentTo(-1))
			g.Expect(result.Error).To(ContainSubstring(tc.want))
			g.Expect(result.Output).To(BeEmpty())
		})
	}
}
