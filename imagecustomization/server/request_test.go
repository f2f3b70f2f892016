package server

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

const plainRange = "GET /images/a.iso HTTP/1.1\r\nHost: 192.0.2.1:6183\r\nRange: bytes=0-99\r\n\r\n"

func TestRangeRequests(t *testing.T) {
	for name, c := range map[string]struct {
		sent         string
		whole, plain bool
	}{
		"plain":                     {plainRange, true, true},
		"names in any case":         {"GET /a HTTP/1.1\r\nhost:x\r\nRANGE:  bytes=0-99 \r\n\r\n", true, true},
		"what clients add":          {"GET /a HTTP/1.1\r\nHost: x\r\nUser-Agent: curl/8 (x; y)\r\nAccept: */*\r\nAccept-Encoding: gzip\r\nConnection: Keep-Alive\r\nRange: bytes=5-\r\n\r\n", true, true},
		"HEAD":                      {"HEAD /a HTTP/1.1\r\nHost: x\r\nRange: bytes=0-99\r\n\r\n", true, false},
		"no range":                  {"GET /a HTTP/1.1\r\nHost: x\r\n\r\n", true, false},
		"two ranges":                {"GET /a HTTP/1.1\r\nHost: x\r\nRange: bytes=0-9\r\nRange: bytes=0-99\r\n\r\n", true, false},
		"two ranges, one is empty":  {"GET /a HTTP/1.1\r\nHost: x\r\nRange:\r\nRange: bytes=0-99\r\n\r\n", true, false},
		"no host":                   {"GET /a HTTP/1.1\r\nRange: bytes=0-9\r\n\r\n", true, false},
		"two hosts":                 {"GET /a HTTP/1.1\r\nHost: x\r\nHost: y\r\nRange: bytes=0-9\r\n\r\n", true, false},
		"to be closed":              {"GET /a HTTP/1.1\r\nHost: x\r\nConnection: close\r\nRange: bytes=0-9\r\n\r\n", true, false},
		"a condition":               {"GET /a HTTP/1.1\r\nHost: x\r\nIf-Range: \"x\"\r\nRange: bytes=0-9\r\n\r\n", true, false},
		"an unknown field":          {"GET /a HTTP/1.1\r\nHost: x\r\nX-Y: z\r\nRange: bytes=0-9\r\n\r\n", true, false},
		"a query":                   {"GET /a?b HTTP/1.1\r\nHost: x\r\nRange: bytes=0-9\r\n\r\n", true, false},
		"an escape":                 {"GET /%61 HTTP/1.1\r\nHost: x\r\nRange: bytes=0-9\r\n\r\n", true, false},
		"an older protocol":         {"GET /a HTTP/1.0\r\nHost: x\r\nRange: bytes=0-9\r\n\r\n", false, false},
		"a part":                    {plainRange[:len(plainRange)-1], false, false},
		"more than one":             {plainRange + plainRange, false, false},
		"an empty line too many":    {"GET /a HTTP/1.1\r\n\r\n\r\n", false, false},
		"what went before":          {"\r\n" + plainRange, false, false},
		"a body":                    {"GET /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nRange: bytes=0-9\r\n\r\n", false, false},
		"chunks":                    {"GET /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nRange: bytes=0-9\r\n\r\n", false, false},
		"a space before the colon":  {"GET /a HTTP/1.1\r\nHost: x\r\nContent-Length : 4\r\nRange: bytes=0-9\r\n\r\n", false, false},
		"a line that goes on":       {"GET /a HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\nRange: bytes=0-9\r\n\r\n", false, false},
		"a newline inside a field":  {"GET /a HTTP/1.1\r\nHost: x\r\nX: a\nContent-Length: 4\r\nRange: bytes=0-9\r\n\r\n", false, false},
		"an end inside the request": {"GET /a HTTP/1.1\r\nHost: x\r\nX: a\n\nGET /b HTTP/1.1\r\nHost: x\r\nRange: bytes=0-9\r\n\r\n", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			request, whole, ok := readRequest([]byte(c.sent))
			g.Expect(whole).To(Equal(c.whole))
			g.Expect(ok).To(Equal(c.plain))
			if ok {
				g.Expect(string(request.path)).To(HavePrefix("/"))
				g.Expect(string(request.ranges)).To(HavePrefix("bytes="))
			}
			agrees(t, []byte(c.sent))
		})
	}
}

// FuzzRangeRequests holds what is read without net/http to what net/http reads.
func FuzzRangeRequests(f *testing.F) {
	for _, text := range []string{
		plainRange, plainRange + plainRange, "GET / HTTP/1.1\r\n\r\n", "HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n",
		"GET /a HTTP/1.1\r\nHost: [::1]:80\r\nConnection: keep-alive\r\nIf-Match: x\r\nRange: bytes=0-9\r\nPragma: no-cache\r\n\r\n",
		"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n", "GET //a/../b~ HTTP/1.1\r\nhost: x\nrange:\tbytes=1-\r\n\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(agrees)
}

// agrees checks that net/http reads the same request, and no byte of what follows it.
func agrees(t *testing.T, sent []byte) {
	t.Helper()
	request, whole, ok := readRequest(sent)
	if !whole {
		if ok {
			t.Fatalf("%q is no whole request, but one for a range", sent)
		}
		return
	}
	const following = "GET /following HTTP/1.1\r\n"
	from := bufio.NewReader(io.MultiReader(bytes.NewReader(sent), strings.NewReader(following)))
	theirs, err := http.ReadRequest(from)
	if err != nil {
		if ok {
			t.Fatalf("%q is refused: %v", sent, err)
		}
		return // the connection ends
	}
	if rest, err := io.ReadAll(from); err != nil || string(rest) != following {
		t.Fatalf("%q leaves %q, %v", sent, rest, err)
	}
	if theirs.ContentLength != 0 || len(theirs.TransferEncoding) > 0 {
		t.Fatalf("%q has a body of %d bytes, %q", sent, theirs.ContentLength, theirs.TransferEncoding)
	}
	if !ok {
		return
	}
	if theirs.Method != http.MethodGet || theirs.URL.Path != string(request.path) || theirs.URL.RawQuery != "" || theirs.Host == "" || theirs.Close || !theirs.ProtoAtLeast(1, 1) {
		t.Fatalf("%q is %s %s of %q", sent, theirs.Method, theirs.URL, theirs.Host)
	}
	if ranges := theirs.Header["Range"]; len(ranges) != 1 || ranges[0] != string(request.ranges) {
		t.Fatalf("%q asks for %q, not for %q", sent, ranges, request.ranges)
	}
	if conditional(theirs) || len(theirs.Header["If-Range"]) > 0 {
		t.Fatalf("%q has a condition", sent)
	}
}
