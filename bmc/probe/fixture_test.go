package probe_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/bmc/client"
)

// fixture is a BMC as a file of testdata/bmcs. Paths leave /redfish/v1 out; a list
// stands for a collection of members below its path, a text "@/…" for a link, and
// "@list …%d N" for N links, counted from 0.
type fixture struct {
	Now time.Time `json:"now"`
	// Resources are the answers by path.
	Resources map[string]any `json:"resources"`
	// Series are many resources that are alike.
	Series []struct {
		Path  string `json:"path"`
		Count int    `json:"count"`
		Body  any    `json:"body"`
	} `json:"series"`
	// Allow are headers by path.
	Allow map[string]string `json:"allow"`
	// Errors are refusals by path.
	Errors map[string]struct {
		Status  int    `json:"status"`
		ID      string `json:"id"`
		Message string `json:"message"`
	} `json:"errors"`

	// expand says that members come with their list when they are asked for.
	expand bool

	mu    sync.Mutex
	asked []string
}

const redfishRoot = "/redfish/v1"

func load(t testing.TB, name string) *fixture {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "bmcs", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{}
	if err := yaml.UnmarshalStrict(raw, f); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return f.complete()
}

// complete writes the short forms out.
func (f *fixture) complete() *fixture {
	for _, series := range f.Series {
		for i := range series.Count {
			f.Resources[strings.ReplaceAll(series.Path, "%d", fmt.Sprint(i))] = numbered(series.Body, i)
		}
	}
	for path, body := range f.Resources {
		f.Resources[path] = written(path, body)
	}
	return f
}

func written(path string, body any) any {
	if ids, is := body.([]any); is {
		members := []any{}
		for _, id := range ids {
			members = append(members, linkTo(path+"/"+id.(string)))
		}
		return map[string]any{"@odata.id": redfishRoot + path, "Members": members, "Members@odata.count": len(members)}
	}
	return linked(body)
}

func linkTo(path string) map[string]any { return map[string]any{"@odata.id": redfishRoot + path} }

// linked writes links out.
func linked(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			value[name] = linked(member)
		}
	case []any:
		for i, element := range value {
			value[i] = linked(element)
		}
	case string:
		if form, is := strings.CutPrefix(value, "@list "); is {
			var pattern string
			var count int
			if _, err := fmt.Sscan(form, &pattern, &count); err != nil {
				panic(err)
			}
			links := []any{}
			for i := range count {
				links = append(links, linkTo(strings.ReplaceAll(pattern, "%d", fmt.Sprint(i))))
			}
			return links
		}
		if strings.HasPrefix(value, "@/") {
			return linkTo(value[1:])
		}
	}
	return value
}

// numbered is a body with its number in all texts.
func numbered(value any, i int) any {
	raw, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	var out any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(string(raw), "%d", fmt.Sprint(i))), &out); err != nil {
		panic(err)
	}
	return out
}

// ServeHTTP implements http.Handler.
func (f *fixture) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := strings.TrimPrefix(r.URL.Path, redfishRoot)
	if path != "/" {
		path = strings.TrimRight(path, "/")
	}
	f.mu.Lock()
	f.asked = append(f.asked, strings.TrimRight(r.Method+" "+path+"?"+r.URL.RawQuery, "?"))
	f.mu.Unlock()
	w.Header()["Date"] = nil
	w.Header().Set("Content-Type", "application/json")
	if allow := f.Allow[path]; allow != "" {
		w.Header().Set("Allow", allow)
	}
	if refusal, is := f.Errors[path]; is {
		w.WriteHeader(refusal.Status)
		f.encode(w, map[string]any{"error": map[string]any{"@Message.ExtendedInfo": []any{map[string]any{"MessageId": refusal.ID, "Message": refusal.Message}}}})
		return
	}
	body, there := f.Resources[path]
	if !there {
		w.WriteHeader(http.StatusNotFound)
		f.encode(w, map[string]any{})
		return
	}
	if f.expand && r.URL.Query().Has("$expand") {
		body = f.expanded(body)
	}
	f.encode(w, body)
}

// expanded is a resource with its members and drives instead of links to them.
func (f *fixture) expanded(body any) any {
	out := maps.Clone(body.(map[string]any))
	for _, name := range []string{"Members", "Drives"} {
		list, _ := out[name].([]any)
		whole := []any{}
		for _, link := range list {
			path := link.(map[string]any)["@odata.id"].(string)
			member, _ := f.Resources[strings.TrimPrefix(path, redfishRoot)].(map[string]any)
			one := map[string]any{"@odata.id": path}
			maps.Copy(one, member)
			whole = append(whole, one)
		}
		if list != nil {
			out[name] = whole
		}
	}
	return out
}

func (f *fixture) encode(w http.ResponseWriter, body any) {
	if raw, is := body.(json.RawMessage); is {
		_, _ = w.Write(raw)
		return
	}
	_ = json.NewEncoder(w).Encode(body)
}

// requests are those that came in, by verb and path.
func (f *fixture) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]string(nil), f.asked...)
}

// fast are a client's options for a BMC of a test.
var fast = client.Options{Rate: 1e6, Burst: 1e6}

// connect serves a handler over TLS and makes a client for it.
func connect(t testing.TB, handler http.Handler, user, password string) *client.Client {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	c, err := client.New(client.Target{URL: server.URL, Username: user, Password: client.Secret(password), TLS: client.Trust{Insecure: true}}, fast)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = c.Close(t.Context()) })
	return c
}
