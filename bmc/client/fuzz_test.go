package client

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
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
