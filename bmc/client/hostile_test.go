package client_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
		"deep":                 {sends(nil, []byte(strings.Repeat("[", 32)+strings.Repeat("]", 32))), ""},
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

// TestSecretsStayInside lets a BMC repeat all that it gets, in every way in which
// something can fail, and searches everything that the client says.
func TestSecretsStayInside(t *testing.T) {
	const oldSecret, newSecret, header = `p"ä\ss wo<rd`, `n&w"p\ss wörd`, "header-secret"
	echo := func(w http.ResponseWriter, r *http.Request, status int) {
		got, _ := io.ReadAll(r.Body)
		_, basic, _ := r.BasicAuth()
		all := fmt.Sprintf("%s %s %s %s %v", got, r.Header.Get("X-Auth-Token"), r.Header.Get("Authorization"), basic, r.Header)
		var in map[string]any
		_ = json.Unmarshal(got, &in)
		args := []string{all, oldSecret, basic}
		for _, v := range in {
			args = append(args, fmt.Sprint(v))
		}
		w.Header().Set("X-Echo", strings.Map(func(r rune) rune {
			if r < ' ' {
				return -1
			}
			return r
		}, all))
		body(w, status, message("Base.1.0."+all, all, args...))
	}
	steps := map[string]func(f *fake){
		"the login is refused": func(f *fake) {
			f.login = func(w http.ResponseWriter, r *http.Request) bool { echo(w, r, http.StatusUnauthorized); return true }
		},
		"the login fails": func(f *fake) {
			f.login = func(w http.ResponseWriter, r *http.Request) bool {
				echo(w, r, http.StatusInternalServerError)
				return true
			}
		},
		"sessions are refused": func(f *fake) {
			f.login = func(w http.ResponseWriter, r *http.Request) bool {
				echo(w, r, http.StatusMethodNotAllowed)
				return true
			}
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) { echo(w, r, http.StatusBadRequest) }
		},
		"everything is refused": func(f *fake) {
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) { echo(w, r, http.StatusBadRequest) }
		},
		"everything fails in its header": func(f *fake) {
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
				raw("HTTP/1.1 "+r.Header.Get("X-Auth-Token")+" "+oldSecret+"\r\n\r\n")(w, r)
			}
		},
		"the token comes back": func(f *fake) {
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
				body(w, http.StatusForbidden, `"`+r.Header.Get("X-Auth-Token")+`"`)
			}
		},
		"links hold them": func(f *fake) {
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
				body(w, http.StatusOK, `{"Members":["https://evil.example/`+r.Header.Get("X-Auth-Token")+`","/x"],"Members@odata.nextLink":"/`+r.Header.Get("X-Auth-Token")+`"}`)
			}
		},
	}
	for name, arrange := range steps {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			f.password = oldSecret
			arrange(f)
			var out bytes.Buffer
			target := serve(t, f)
			target.Password = oldSecret
			options := quick()
			options.Log = slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
			it := newClient(t, target, options)
			say := func(err error) {
				for ; err != nil; err = unwrap(err) {
					fmt.Fprintf(&out, "%v %+v %#v %s %q\n", err, err, err, err, err)
					if e, is := errors.AsType[*client.Error](err); is {
						_ = json.NewEncoder(&out).Encode(e)
						options.Log.Info("failed", "err", e, "whole", fmt.Sprintf("%+v", *e))
					}
				}
			}
			say(it.Get(t.Context(), system, &struct{}{}))
			_, err := it.Post(t.Context(), system, map[string]any{"Password": newSecret, "HttpHeaders": []string{"X: " + header}})
			say(err)
			_, err = it.Patch(t.Context(), system, map[string]any{"Oem": map[string]any{"UserPassword": newSecret}})
			say(err)
			_, err = it.Delete(t.Context(), system)
			say(err)
			_, _, err = it.Members(t.Context(), system, 0)
			say(err)
			_, err = it.Stream(t.Context(), system)
			say(err)
			say(it.Verify(t.Context(), newSecret))
			if api, err := it.Gofish(t.Context()); err == nil {
				say(closing(api.Get(system)))
				say(closing(api.Patch(system, map[string]any{"Password": newSecret})))
			}
			fmt.Fprintf(&out, "%v %+v %#v %s\n", target, target, target, target.Password)
			_ = json.NewEncoder(&out).Encode(target)
			options.Log.Info("target", "target", target, "password", target.Password)

			said := out.String()
			g.Expect(said).To(ContainSubstring("redacted"))
			for _, secret := range []string{oldSecret, newSecret, header, "token-1", "token-2"} {
				asJSON, _ := json.Marshal(secret)
				g.Expect(said).NotTo(ContainSubstring(secret))
				g.Expect(said).NotTo(ContainSubstring(strings.Trim(string(asJSON), `"`)))
				g.Expect(said).NotTo(ContainSubstring(strings.Trim(fmt.Sprintf("%q", secret), `"`)))
			}
			g.Expect(said).NotTo(ContainSubstring(basicOf(oldSecret)))
			g.Expect(said).NotTo(ContainSubstring(basicOf(newSecret)))
		})
	}
}

func unwrap(err error) error {
	if u, is := err.(interface{ Unwrap() error }); is {
		return u.Unwrap()
	}
	return nil
}

func basicOf(password string) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return strings.TrimPrefix(r.Header.Get("Authorization"), "Basic ")
}

func TestSecretInABodyIsAMistake(t *testing.T) {
	g, f := NewWithT(t), newFake()
	it := newClient(t, serve(t, f), quick())
	_, err := it.Patch(context.Background(), system, map[string]client.Secret{"Password": "x"})
	g.Expect(err).To(MatchError(ContainSubstring("string(secret)")))
	g.Expect(f.requests()).To(BeEmpty())
}
