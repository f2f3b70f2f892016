package client

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/ironflow/ironflow/bmc/lenient"
)

func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"error":{"code":"Base.1.18.GeneralError","message":"x","@Message.ExtendedInfo":[{"MessageId":"Base.1.18.PropertyUnknown","MessageArgs":["X",null,1]}]}}`,
		`{"error":{"@Message.ExtendedInfo":{"MessageId":1,"Message":{},"RelatedProperties":"x"}}}`, `{"X@Message.ExtendedInfo":[[]]}`,
		`{"error":"x","@Message.ExtendedInfo":null}`, `{"error":{"message":{"lang":"en","value":"x\u0000\u001b"}}}`, `[]`, `<html>`, ``, `{"error":{"code":7}}`,
	} {
		f.Add([]byte(seed), 403)
	}
	f.Fuzz(func(t *testing.T, raw []byte, status int) {
		messages := messagesOf(raw)
		if len(messages) > maxMessages {
			t.Fatalf("%d messages", len(messages))
		}
		for _, m := range messages {
			for _, text := range append(append([]string{m.ID, m.Text, m.Resolution, m.Severity}, m.Args...), m.Properties...) {
				if len(text) > maxText+len("…") || strings.ContainsFunc(text, unicode.IsControl) {
					t.Fatalf("%q is no short line", text)
				}
			}
		}
		for _, login := range []bool{false, true} {
			if kind, _ := classify(status, login, messages); kind == "" {
				t.Fatal("an error of no kind")
			}
		}
	})
}

func FuzzPage(f *testing.F) {
	for _, seed := range []string{
		`{"Members":[{"@odata.id":"/a"}],"Members@odata.count":1}`, `{"Members":["/a",null,{}],"Members@odata.nextLink":"/b?$skip=1"}`,
		`{"Members":{"@odata.id":"//evil.example/a"},"@odata.nextLink":{"@odata.id":"/c"}}`, `{"Members":[[["/a"]]],"Members@odata.count":"-1"}`,
		`{"members":[{"@odata.id":"https://bmc.example/a"},{"@odata.id":"https://evil.example/a"}]}`,
	} {
		f.Add([]byte(seed))
	}
	at := place{"https", "bmc.example", "443"}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var p page
		if err := json.Unmarshal(raw, &p); err != nil && !lenient.OnlyTypes(err) {
			return
		}
		found := collection{seen: map[string]bool{}, limit: 3}
		_, _, _ = found.add(at, p.Members)
		if len(found.paths) > 3 {
			t.Fatal("more than the limit")
		}
		for _, path := range append(found.paths, p.next()) {
			if path, err := at.path(path); err == nil {
				stays(t, at, path)
			}
		}
	})
}

func FuzzPath(f *testing.F) {
	for _, seed := range []string{
		"/redfish/v1", "//evil.example/x", "https://bmc.example/x", "https://bmc.example:443/x?y#z", "https://evil.example@bmc.example/", "/\\evil.example",
		"redfish/v1/x", "javascript:x", "/%2f%2fevil.example", "/x?$filter=a b", "https://bmc.example//evil.example/", "/x\r\nX: y", "/ü", "?x", "",
	} {
		f.Add(seed)
	}
	f.Add("/" + strings.Repeat("\xd9", maxLink/2)) // three times as long when it is escaped
	at := place{"https", "bmc.example", "443"}
	f.Fuzz(func(t *testing.T, link string) {
		path, err := at.path(link)
		if err != nil {
			return
		}
		stays(t, at, path)
		again, err := at.path(path)
		if err != nil || again != path {
			t.Fatalf("%q is cut to %q, that to %q: %v", link, path, again, err)
		}
	})
}

// stays fails the test when a request for the path would go elsewhere.
func stays(t *testing.T, at place, path string) {
	t.Helper()
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, " \r\n") {
		t.Fatalf("%q is no path", path)
	}
	r, err := http.NewRequest(http.MethodGet, at.base()+path, http.NoBody)
	if err != nil {
		return // not sent at all
	}
	if r.URL.Host != "bmc.example" || r.URL.Scheme != "https" || r.URL.User != nil {
		t.Fatalf("%q goes to %s", path, r.URL)
	}
}

func FuzzShallow(f *testing.F) {
	for _, seed := range []string{`[[1]]`, `{"a":{"b":[]}}`, `"[[[["`, `["\"[[["]`, `[[[]]`, `["\\"[[`} {
		f.Add([]byte(seed), 2)
	}
	f.Fuzz(func(t *testing.T, raw []byte, depth int) {
		if depth < 0 || depth > 1000 || !json.Valid(raw) {
			return
		}
		decoder := json.NewDecoder(strings.NewReader(string(raw)))
		level, deepest := 0, 0
		for {
			token, err := decoder.Token()
			if err != nil {
				break
			}
			switch token {
			case json.Delim('['), json.Delim('{'):
				level++
				deepest = max(deepest, level)
			case json.Delim(']'), json.Delim('}'):
				level--
			}
		}
		if shallow(raw, depth) != (deepest <= depth) {
			t.Fatalf("%s is %d deep", raw, deepest)
		}
	})
}

func FuzzRedact(f *testing.F) {
	f.Add("hunter2", "the value hunter2 is wrong", `{"Password":"hunter2"}`)
	f.Add(`p"ä\ss`, `p\"ä\\ss`, `[{"a":{"UserPassword":"x","token":["y"]}}]`)
	f.Add("redacted", "[redacted]", `{"Password":1}`)
	f.Fuzz(func(t *testing.T, secret, text, request string) {
		r := newRedactor(Target{Username: "u", Password: Secret(secret)})
		clean := r.clean(text+secret+text+url.QueryEscape(secret), secretsOf([]byte(request))...)
		if len(secret) < shortSecret || strings.Contains(redacted, secret) || strings.Contains(secret, "\x00") {
			return // not searched, or not to be told from what stands in for it
		}
		if strings.Contains(strings.ReplaceAll(clean, redacted, "\x00"), secret) {
			t.Fatalf("%q is left in %q", secret, clean)
		}
	})
}

// FuzzTags holds tags to what a header may hold, and the tries of a change to a few.
func FuzzTags(f *testing.F) {
	for _, seed := range []string{`"1"`, `W/"1-gzip"`, `""1""`, `W/""`, `""""""`, "a\r\nb", ` x `, `W/W/"1"`, strings.Repeat("x", 4096)} {
		f.Add(seed, seed)
	}
	f.Fuzz(func(t *testing.T, one, other string) {
		used, now := tidyTag(one), tidyTag(other)
		if tidyTag(used) != used {
			t.Fatalf("%q becomes %q, that %q", one, used, tidyTag(used))
		}
		tries := matches(used, now)
		if len(tries) > 4 {
			t.Fatalf("%d tries: %q", len(tries), tries)
		}
		for _, tag := range append(tries, used, now) {
			if len(tag) > maxTag || strings.ContainsAny(tag, "\r\n\x00") {
				t.Fatalf("%q is no tag", tag)
			}
		}
	})
}

// FuzzRoot reads anything as a service root, and a time as Retry-After.
func FuzzRoot(f *testing.F) {
	for _, seed := range []string{
		`{"RedfishVersion":"1.6.0","Links":{"Sessions":{"@odata.id":"/s"}}}`, `{"@odata.type":"#ServiceRoot.v1_5_0.ServiceRoot","SessionService":"/x/"}`,
		`{"RedfishVersion":1,"Links":{"Sessions":"https://evil.example/s"}}`, `{"RedfishVersion":"1","Links":[],"SessionService":{"@odata.id":["/x"]}}`, `[]`, `12`, `Sat, 01 Jan 2000 00:00:04 GMT`,
	} {
		f.Add([]byte(seed))
	}
	c, err := New(Target{URL: "https://bmc.example"}, Options{})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		at, err := c.sessionsOf(call{method: http.MethodGet, path: rootPath}, &Answer{Status: http.StatusOK, Body: raw})
		if err == nil && at.path != "" {
			stays(t, c.at, at.path)
		}
		if wait := retryAfter(http.Header{"Retry-After": {string(raw)}}, time.Unix(1_700_000_000, 0)); wait < 0 || wait > longestWish {
			t.Fatalf("%q is %s", raw, wait)
		}
	})
}
