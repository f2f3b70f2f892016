package contract

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic/urlcheck"
)

// addresses has Ironic look at addresses of this machine. Each is asked about by itself: where a file is answered, Ironic
// looks for the BMC that does not exist, and takes some seconds to give up.
func addresses(w *World) {
	for name, c := range map[string]struct {
		url     string
		verdict urlcheck.Verdict
		text    string
	}{
		"Ironflow":                    {w.server(httptest.NewServer, http.StatusGone), urlcheck.Reached, ""},
		"nobody":                      {"http://127.0.0.1:1", urlcheck.Unreached, "(?i)refused"},
		"a name that is not resolved": {"http://images.invalid", urlcheck.Unreached, `images\.invalid`},
		"somebody else":               {w.server(httptest.NewServer, http.StatusNotFound), urlcheck.Other, "it answers 404"},
		"somebody with a file":        {w.server(httptest.NewServer, http.StatusOK), urlcheck.Other, "it answers with a file"},
		"a CA that Ironic lacks":      {w.server(httptest.NewTLSServer, http.StatusGone), urlcheck.Untrusted, "certificate verify failed"},
	} {
		answers, err := urlcheck.Ask(w.T.Context(), w.Gateway, time.Now(), []string{c.url})
		w.Expect(err).NotTo(HaveOccurred(), name)
		w.Expect(answers).To(ConsistOf(And(HaveField("URL", c.url), HaveField("Verdict", c.verdict), HaveField("Text", MatchRegexp(c.text)))), name)
	}
	both := []string{"http://127.0.0.1:1", w.server(httptest.NewServer, http.StatusGone)}
	answers, err := urlcheck.Ask(w.T.Context(), w.Gateway, time.Now(), both)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(answers).To(HaveExactElements(HaveField("Verdict", urlcheck.Unreached), HaveField("Verdict", urlcheck.Reached)), "one after the other")
}

// server answers with a status for the path that Ironic is told to fetch.
func (w *World) server(start func(http.Handler) *httptest.Server, status int) string {
	s := start(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if r.URL.Path != names.AskedPath {
			http.NotFound(answer, r)
			return
		}
		answer.Header().Set("Content-Length", "4")
		answer.WriteHeader(status)
		_, _ = io.WriteString(answer, "text") // who asks for the header alone is sent nothing
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	w.T.Cleanup(s.Close)
	return s.URL
}
