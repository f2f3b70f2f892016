package main

import (
	"crypto/tls"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ironflow/ironflow/controllers/scrape"
	"github.com/ironflow/ironflow/hub/pki"
)

// metricsOptions are how metrics are served: over TLS, to those whom the API server
// lets read them, unless plain HTTP is asked for. The certificate is the given one,
// else our own (where there is a data folder), else one that is made for the run.
func (p *program) metricsOptions() (metricsserver.Options, error) {
	s := p.settings
	o := metricsserver.Options{BindAddress: s.metricsAddr}
	if s.metricsInsecure || s.metricsAddr == "0" {
		return o, nil
	}
	harden, err := s.tls.harden()
	if err != nil {
		return o, err
	}
	o.SecureServing, o.FilterProvider, o.TLSOpts = true, scrape.Filter, []func(*tls.Config){harden}
	files := p.cert
	if dir := s.metricsCertDir; dir != "" {
		files = pki.Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	}
	if files.Cert == "" {
		return o, nil
	}
	serving, err := serverTLS(files, s.tls)
	if err != nil {
		return o, fmt.Errorf("metrics: %w", err)
	}
	o.TLSOpts = append(o.TLSOpts, func(c *tls.Config) { c.GetCertificate = serving.GetCertificate })
	return o, nil
}

// tlsSettings are what our TLS listeners agree to.
type tlsSettings struct {
	minVersion string
	ciphers    string
}

// tlsVersions are the values of tls-min-version.
var tlsVersions = map[string]uint16{"": tls.VersionTLS12, "TLS12": tls.VersionTLS12, "TLS13": tls.VersionTLS13}

// harden is what the settings do to a listener's TLS.
func (t tlsSettings) harden() (func(*tls.Config), error) {
	version, known := tlsVersions[t.minVersion]
	if !known {
		return nil, fmt.Errorf("--tls-min-version %q is neither TLS12 nor TLS13", t.minVersion)
	}
	suites := map[string]uint16{}
	for _, suite := range tls.CipherSuites() {
		suites[suite.Name] = suite.ID
	}
	var ids []uint16
	for name := range strings.SplitSeq(t.ciphers, ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		id, known := suites[name]
		if !known {
			return nil, fmt.Errorf("--tls-cipher-suites: %q is none of %s", name, strings.Join(slices.Sorted(maps.Keys(suites)), ", "))
		}
		ids = append(ids, id)
	}
	return func(c *tls.Config) { c.MinVersion, c.CipherSuites = version, ids }, nil
}
