package hosthttp_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hosthttp"
	"github.com/ironflow/ironflow/api/hostfile"
)

func TestTheHostsBundleCountsAndAGivenFileBesidesIt(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	for name, tc := range map[string]struct {
		file  string // where the server's certificate lies below the root
		given string // --cacert
		ok    bool
	}{
		"nowhere":               {"", "", false},
		"bundle, as on Fedora":  {"/etc/pki/tls/certs/ca-bundle.crt", "", true},
		"bundle, as on Debian":  {"/etc/ssl/certs/ca-certificates.crt", "", true},
		"given file":            {"/etc/ironflow/hub-ca.crt", "/etc/ironflow/hub-ca.crt", true},
		"there, but not spoken": {"/etc/ironflow/hub-ca.crt", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := hostfile.Dir{Root: t.TempDir()}
			if tc.file != "" {
				g.Expect(os.MkdirAll(filepath.Dir(dir.Path(tc.file)), 0o755)).To(Succeed())
				g.Expect(os.WriteFile(dir.Path(tc.file), certificate, 0o600)).To(Succeed())
			}
			roots, err := hosthttp.Roots(dir, tc.given)
			g.Expect(err).NotTo(HaveOccurred())
			transport := hosthttp.Transport(roots, false)
			defer transport.CloseIdleConnections()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
			g.Expect(err).NotTo(HaveOccurred())
			answer, err := transport.RoundTrip(request)
			if !tc.ok {
				g.Expect(err).To(MatchError(ContainSubstring("certificate")))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(answer.Body.Close()).To(Succeed())
		})
	}
}

func TestWithoutAnyFileTheSystemDecides(t *testing.T) {
	g := NewWithT(t)
	g.Expect(hosthttp.Roots(hostfile.Dir{}, "")).To(BeNil())
}

func TestABadFileIsRefused(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	_, err := hosthttp.Roots(dir, "/ca.crt")
	g.Expect(err).To(MatchError(ContainSubstring("CA file")))
	g.Expect(os.WriteFile(dir.Path("/ca.crt"), []byte("no certificate"), 0o600)).To(Succeed())
	_, err = hosthttp.Roots(dir, "/ca.crt")
	g.Expect(err).To(MatchError(ContainSubstring("no PEM certificate")))
}
