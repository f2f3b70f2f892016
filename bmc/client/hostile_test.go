package client_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
)

func packed(text []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(text)
	_ = w.Close()
	return out.Bytes()
}

func sends(header http.Header, raw []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		maps.Copy(w.Header(), header)
		_, _ = w.Write(raw)
	}
}

func TestHostileAnswers(t *testing.T) {
	gz := http.Header{"Content-Encoding": {"gzip"}}
	cases := map[string]struct {
		answer http.HandlerFunc
		kind   client.Kind
	}{
		"fits":                 {sends(nil, []byte(`{"a":"`+strings.Repeat("x", 1000)+`"}`)), ""},
		"too large":            {sends(nil, []byte(`{"a":"`+strings.Repeat("x", 70000)+`"}`)), client.Broken},
		"without an end":       {func(w http.ResponseWriter, r *http.Request) { endless(w, r) }, client.Broken},
		"deep":                 {sends(nil, []byte(strings.Repeat(`{"a":`, 32)+"1"+strings.Repeat("}", 32))), ""},
		"too deep":             {sends(nil, []byte(strings.Repeat(`{"a":`, 33)+"1"+strings.Repeat("}", 33))), client.Broken},
		"brackets in texts":    {sends(nil, []byte(`{"a":"`+strings.Repeat(`[\"`, 100)+`"}`)), ""},
		"packed":               {sends(gz, packed([]byte(`{"Name":"packed"}`))), ""},
		"packed too well":      {sends(gz, packed(bytes.Repeat([]byte(" "), 10<<20))), client.Broken},
		"packed badly":         {sends(gz, []byte("not at all")), client.Broken},
		"packed and cut":       {sends(gz, packed([]byte(`{"Name":"packed"}`))[:15]), client.Broken},
		"a web page":           {sends(nil, []byte("<html>")), client.NotRedfish},
		"nothing":              {sends(nil, nil), client.Broken},
		"half":                 {sends(nil, []byte(`{"Name":`)), client.Broken},
		"a large header":       {sends(http.Header{"X": {strings.Repeat("x", 100000)}}, []byte(`{}`)), client.Broken},
		"not HTTP":             {raw("SSH-2.0-dropbear\r\n"), client.Broken},
		"a status of nonsense": {raw("HTTP/1.1 999999 What\r\n\r\n"), client.Broken},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			f.paths[system] = c.answer
			options := quick()
			options.MaxBody, options.MaxDepth = 64<<10, 32
			it := newClient(t, serve(t, f), options)
			var into any
			err := it.Get(t.Context(), system, &into)
			g.Expect(client.KindOf(err)).To(Equal(c.kind), "%v", err)
			g.Expect(len(fmt.Sprint(err))).To(BeNumerically("<", 2000))
		})
	}
}

func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := w.Write(bytes.Repeat([]byte("x"), 4096)); err != nil {
			return
		}
	}
}

// raw answers with bytes that are not HTTP.
func raw(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if hijacked, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_, _ = hijacked.Write([]byte(text))
			_ = hijacked.Close()
		}
	}
}

func TestWrongTypesHideNothing(t *testing.T) {
	g, f := NewWithT(t), newFake()
	f.paths[system] = answers(http.StatusOK, `{"Name":7,"Location":[1],"Boot":"x","Links":{"Chassis":{"@odata.id":"/c"}},"PowerState":"On"}`)
	it := newClient(t, serve(t, f), quick())
	var in struct {
		Location   struct{ Info string }
		Boot       []struct{}
		Name       string
		Links      struct{ Chassis lenient.List[lenient.Link] }
		PowerState string
	}
	g.Expect(it.Get(t.Context(), system, &in)).To(Succeed())
	g.Expect(in.PowerState).To(Equal("On"))
	g.Expect(in.Links.Chassis).To(HaveLen(1))
}

func TestPathsAreFollowedOnOneHostOnly(t *testing.T) {
	g, f := NewWithT(t), newFake()
	target := serve(t, f)
	it := newClient(t, target, quick())
	host := strings.TrimPrefix(target.URL, "https://")
	g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
	f.requests()
	for link, asked := range map[string]string{
		target.URL + "/redfish/v1/A":                    "GET /redfish/v1/A",
		"HTTPS://" + host + "/redfish/v1/A":             "GET /redfish/v1/A",
		"//" + host + "/redfish/v1/A":                   "GET /redfish/v1/A",
		"redfish/v1/A":                                  "GET /redfish/v1/A",
		" /redfish/v1/A ":                               "GET /redfish/v1/A",
		"/redfish/v1/A#/PowerSupplies/0":                "GET /redfish/v1/A",
		"/redfish/v1/A?$expand=.($levels=1)":            "GET /redfish/v1/A?$expand=.($levels=1)",
		"/redfish/v1/A?$filter=Name eq 'x'":             "GET /redfish/v1/A?$filter=Name%20eq%20'x'",
		"/redfish/v1/Disk Bay 1":                        "GET /redfish/v1/Disk%20Bay%201",
		"/redfish/v1/Storage/A%2FB":                     "GET /redfish/v1/Storage/A%2FB",
		"http://" + host + "/redfish/v1/A":              "",
		"https://evil.example/redfish/v1/A":             "",
		"//evil.example/redfish/v1/A":                   "",
		"https://" + host + "@evil.example/A":           "",
		"https://user:secret@" + host + "/A":            "",
		"https://" + strings.Split(host, ":")[0] + "/A": "",
		"file:///etc/passwd":                            "",
		"javascript:alert(1)":                           "",
		"":                                              "",
		"A":                                             "",
		"/\\evil.example/A\r\nX: y":                     "",
		"/" + strings.Repeat("x", 3000):                 "",
	} {
		err := it.Get(t.Context(), link, &struct{}{})
		if asked == "" {
			g.Expect(client.KindOf(err)).To(Equal(client.Broken), link)
			g.Expect(f.requests()).To(BeEmpty(), link)
			g.Expect(err.Error()).NotTo(ContainSubstring("secret"))
		} else {
			g.Expect(err).NotTo(HaveOccurred(), link)
			g.Expect(f.requests()).To(Equal([]string{asked}), link)
		}
	}
}

func TestRedirects(t *testing.T) {
	var stolen atomic.Int64
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { stolen.Add(1) }))
	t.Cleanup(elsewhere.Close)
	const other = "/redfish/v1/Systems/other"
	to := func(status int, url string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", strings.Replace(url, "HOST", r.Host, 1))
			w.WriteHeader(status)
		}
	}
	cases := map[string]struct {
		path   string
		answer http.HandlerFunc
		post   bool
		kind   client.Kind
	}{
		"to an alias":                 {system, to(308, other), false, ""},
		"to an alias, absolutely":     {system, to(301, "https://HOST"+other), false, ""},
		"of a change to an alias":     {system, to(307, other), true, ""},
		"of a change to a read":       {system, to(302, other), true, client.Broken},
		"to another host":             {system, to(307, elsewhere.URL+other), false, client.Broken},
		"of a change elsewhere":       {system, to(308, elsewhere.URL+other), true, client.Broken},
		"to another scheme":           {system, to(301, "http://HOST"+other), false, client.Broken},
		"in a circle":                 {system, to(301, system), false, client.Broken},
		"to nowhere":                  {system, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusFound) }, false, client.Broken},
		"of the login, elsewhere":     {sessions, to(307, elsewhere.URL+sessions), false, client.Broken},
		"of the root, elsewhere":      {"/redfish/v1/", to(307, elsewhere.URL), false, client.Broken},
		"of the login, to a new path": {sessions, to(307, "/redfish/v1/SessionService/Sessions2"), false, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			f.free["/redfish/v1/SessionService/Sessions2"] = f.open
			if c.path == system {
				f.paths[c.path] = c.answer
			} else {
				f.free[c.path] = c.answer
			}
			it := newClient(t, serve(t, f), quick())
			var err error
			if c.post {
				_, err = it.Post(t.Context(), system, nil)
			} else {
				err = it.Get(t.Context(), system, &struct{}{})
			}
			g.Expect(client.KindOf(err)).To(Equal(c.kind), "%v", err)
			g.Expect(stolen.Load()).To(BeZero())
		})
	}
}
