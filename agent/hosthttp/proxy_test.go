package hosthttp_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hosthttp"
)

// askEnv is the URL that a process of its own asks for: Go reads the variables
// of proxies once in a process.
const askEnv = "HOSTHTTP_ASK"

func TestProxiesOfTheEnvironment(t *testing.T) {
	if url := os.Getenv(askEnv); url != "" {
		response, err := (&http.Client{Transport: hosthttp.Transport(nil, false)}).Get(url)
		if err != nil {
			fmt.Println(err)
			return
		}
		defer response.Body.Close()
		_, _ = io.Copy(os.Stdout, response.Body)
		return
	}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodConnect {
			http.Error(w, "", http.StatusTeapot)
			return
		}
		fmt.Fprintf(w, "the proxy was asked for %s", r.URL)
	}))
	defer proxy.Close()
	for name, tc := range map[string]struct{ variable, url, exception, want string }{
		"HTTP":               {"HTTP_PROXY", "http://hub.invalid/x", "", "the proxy was asked for http://hub.invalid/x"},
		"HTTP, lower case":   {"http_proxy", "http://hub.invalid/x", "", "the proxy was asked for http://hub.invalid/x"},
		"HTTPS":              {"HTTPS_PROXY", "https://hub.invalid/x", "", "teapot"},
		"HTTPS, lower case":  {"https_proxy", "https://hub.invalid/x", "", "teapot"},
		"exception":          {"HTTP_PROXY", "http://hub.invalid/x", "NO_PROXY=.invalid", "no such host"},
		"exception in lower": {"HTTP_PROXY", "http://hub.invalid/x", "no_proxy=hub.invalid", "no such host"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxiesOfTheEnvironment$")
			cmd.Env = []string{askEnv + "=" + tc.url, tc.variable + "=" + proxy.URL, tc.exception}
			out, err := cmd.CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred())
			if tc.exception != "" { // whatever resolves names here, the proxy is not asked
				g.Expect(string(out)).NotTo(ContainSubstring("the proxy was asked"))
				return
			}
			g.Expect(strings.ToLower(string(out))).To(ContainSubstring(tc.want))
		})
	}
}
