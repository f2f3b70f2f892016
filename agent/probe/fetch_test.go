package probe_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/probe"
)

func TestFetchSaysWhatWasAnsweredInstead(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/error":
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, "line one\r\n\x1b[31mline two"+strings.Repeat("x", 10_000))
		case "/large":
			fmt.Fprint(w, strings.Repeat("x", 101))
		case "/short":
			w.Header().Set("Content-Length", "50")
			fmt.Fprint(w, "x")
		default:
			fmt.Fprint(w, strings.Repeat("x", 100))
		}
	}))
	defer server.Close()
	fetch := func(path string) ([]byte, error) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, strings.Replace(server.URL, "http://", "http://user:secret@", 1)+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		return probe.Fetch(server.Client(), request, func(status int) bool { return status == http.StatusOK }, 100)
	}
	g := NewWithT(t)
	body, err := fetch("/")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(body).To(HaveLen(100))

	_, err = fetch("/error")
	g.Expect(err).To(MatchError(HavePrefix("answered 503 Service Unavailable: line one [31mline two")))
	g.Expect(len(err.Error())).To(BeNumerically("<", 600))

	_, err = fetch("/large")
	g.Expect(err).To(MatchError("the answer is larger than 100 bytes"))
	_, err = fetch("/short")
	g.Expect(err).To(MatchError(ContainSubstring("broke off")))

	server.Close()
	_, err = fetch("/")
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")))
	g.Expect(err.Error()).NotTo(ContainSubstring("secret"))
}

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "(no text)",
		" \n\t":                   "(no text)",
		"a\n\n b\u2028c":          "a b c",
		"\x00\x1b[0mred\xff":      "[0mred",
		strings.Repeat("ü", 1000): strings.Repeat("ü", 256) + " …",
	} {
		NewWithT(t).Expect(probe.Quote([]byte(text))).To(Equal(want))
	}
}
