package parts

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/pki"
)

// scraped runs the metrics listener of these settings and reads it once. The API
// server behind it knows the token "prometheus", whose bearer may read everything.
func scraped(t *testing.T, p *Program, scheme, token string) (status int, served *x509.Certificate) {
	t.Helper()
	g := NewWithT(t)
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review map[string]any
		g.Expect(json.NewDecoder(r.Body).Decode(&review)).To(Succeed())
		spec, _ := review["spec"].(map[string]any)
		known := strings.HasSuffix(r.URL.Path, "subjectaccessreviews") || spec["token"] == "prometheus"
		review["status"] = map[string]any{"authenticated": known, "allowed": known}
		w.Header().Set("Content-Type", "application/json")
		g.Expect(json.NewEncoder(w).Encode(review)).To(Succeed())
	}))
	t.Cleanup(api.Close)
	p.Settings.Monitoring.MetricsAddress = "127.0.0.1:0"
	options, err := p.metricsOptions()
	g.Expect(err).NotTo(HaveOccurred())
	server, err := metricsserver.NewServer(options, &rest.Config{Host: api.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}, api.Client())
	g.Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.Start(ctx) }()
	t.Cleanup(func() { stop(); g.Expect(<-done).To(Succeed()) })
	bound, ok := server.(interface{ GetBindAddr() string })
	g.Expect(ok).To(BeTrue())
	g.Eventually(bound.GetBindAddr, 10*time.Second, 10*time.Millisecond).ShouldNot(BeEmpty())
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, scheme+"://"+bound.GetBindAddr()+"/metrics", nil)
	g.Expect(err).NotTo(HaveOccurred())
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	scraper := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	t.Cleanup(scraper.CloseIdleConnections)
	answer, err := scraper.Do(r)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(answer.Body.Close()).To(Succeed())
	if answer.TLS != nil {
		served = answer.TLS.PeerCertificates[0]
	}
	return answer.StatusCode, served
}

func TestWhoMayReadMetrics(t *testing.T) {
	for name, c := range map[string]struct {
		settings      v1alpha1.IronflowConfiguration
		scheme, token string
		want          int
	}{
		"nobody by default":              {scheme: "https", want: http.StatusUnauthorized},
		"no made-up token":               {scheme: "https", token: "made-up", want: http.StatusUnauthorized},
		"who has the right":              {scheme: "https", token: "prometheus", want: http.StatusOK},
		"not without TLS":                {scheme: "http", token: "prometheus", want: http.StatusBadRequest},
		"everybody in a laboratory":      {settings: with(func(c *v1alpha1.IronflowConfiguration) { c.Monitoring.MetricsInsecure = true }), scheme: "http", want: http.StatusOK},
		"with the newest TLS alone, too": {settings: with(func(c *v1alpha1.IronflowConfiguration) { c.TLS.MinVersion = "TLS13" }), scheme: "https", token: "prometheus", want: http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			status, _ := scraped(t, &Program{Settings: c.settings}, c.scheme, c.token)
			NewWithT(t).Expect(status).To(Equal(c.want))
		})
	}
}

func TestCertificateOfTheMetrics(t *testing.T) {
	own, err := pki.Ensure(t.TempDir(), []string{"own.example"}, time.Now())
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	given, err := pki.Ensure(t.TempDir(), []string{"given.example"}, time.Now())
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	dir := t.TempDir()
	for from, to := range map[string]string{given.Cert: "tls.crt", given.Key: "tls.key"} {
		raw, err := os.ReadFile(from)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		NewWithT(t).Expect(os.WriteFile(filepath.Join(dir, to), raw, 0o600)).To(Succeed())
	}
	for name, c := range map[string]struct {
		program Program
		want    string
	}{
		"our own":                         {Program{Cert: own}, "own.example"},
		"one that is given":               {Program{Cert: own, Settings: with(func(c *v1alpha1.IronflowConfiguration) { c.Monitoring.MetricsCertDir = dir })}, "given.example"},
		"one for the run, without either": {Program{}, "localhost"},
	} {
		t.Run(name, func(t *testing.T) {
			_, served := scraped(t, &c.program, "https", "prometheus")
			NewWithT(t).Expect(served.DNSNames).To(ContainElement(c.want))
		})
	}
}
