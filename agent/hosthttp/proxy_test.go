package hosthttp_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
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
	itself := atOwnAddress(t)
	for name, tc := range map[string]struct{ variable, url, exception, want string }{
		"HTTP":               {"HTTP_PROXY", "http://hub.invalid/x", "", "the proxy was asked for http://hub.invalid/x"},
		"HTTP, lower case":   {"http_proxy", "http://hub.invalid/x", "", "the proxy was asked for http://hub.invalid/x"},
		"HTTPS":              {"HTTPS_PROXY", "https://hub.invalid/x", "", "teapot"},
		"HTTPS, lower case":  {"https_proxy", "https://hub.invalid/x", "", "teapot"},
		"exception":          {"HTTP_PROXY", "http://hub.invalid/x", "NO_PROXY=.invalid", "no such host"},
		"exception in lower": {"HTTP_PROXY", "http://hub.invalid/x", "no_proxy=hub.invalid", "no such host"},
		"this machine":       {"HTTP_PROXY", itself.URL, "NO_PROXY=.example", "this machine's own answer"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProxiesOfTheEnvironment$")
			cmd.Env = []string{askEnv + "=" + tc.url, tc.variable + "=" + proxy.URL, tc.exception}
			out, err := cmd.CombinedOutput()
			g.Expect(err).NotTo(HaveOccurred())
			if name == "this machine" {
				g.Expect(string(out)).To(HavePrefix(tc.want))
				return
			}
			if tc.exception != "" { // whatever resolves names here, the proxy is not asked
				g.Expect(string(out)).NotTo(ContainSubstring("the proxy was asked"))
				return
			}
			g.Expect(strings.ToLower(string(out))).To(ContainSubstring(tc.want))
		})
	}
}

// atOwnAddress is a server at an address of this machine that is not loopback, for which Go asks no proxy anyway.
func atOwnAddress(t *testing.T) *httptest.Server {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		prefix, err := netip.ParsePrefix(a.String())
		if err != nil || !prefix.Addr().IsGlobalUnicast() {
			continue
		}
		listener, err := net.Listen("tcp", netip.AddrPortFrom(prefix.Addr(), 0).String())
		if err != nil {
			continue
		}
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "this machine's own answer") }))
		_ = server.Listener.Close()
		server.Listener = listener
		server.Start()
		t.Cleanup(server.Close)
		return server
	}
	t.Skip("this machine has no address besides loopback")
	return nil
}
