package parts

import (
	"crypto/tls"
	"fmt"
	"path/filepath"

	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/ironflow/ironflow/controllers/scrape"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/pki"
)

// metricsOptions are how metrics are served: over TLS, to those whom the API server
// lets read them, unless plain HTTP is asked for. The certificate is the given one,
// else our own (where there is a data folder), else one that is made for the run.
func (p *Program) metricsOptions() (metricsserver.Options, error) {
	s := p.Settings
	o := metricsserver.Options{BindAddress: s.Monitoring.MetricsAddress}
	if s.Monitoring.MetricsInsecure || s.Monitoring.MetricsAddress == "0" {
		return o, nil
	}
	harden, err := configured.TLS(s.TLS)
	if err != nil {
		return o, err
	}
	o.SecureServing, o.FilterProvider, o.TLSOpts = true, scrape.Filter, []func(*tls.Config){harden}
	files := p.Cert
	if dir := s.Monitoring.MetricsCertDir; dir != "" {
		files = pki.Files{Cert: filepath.Join(dir, "tls.crt"), Key: filepath.Join(dir, "tls.key")}
	}
	if files.Cert == "" {
		return o, nil
	}
	serving, err := ServerTLS(files, s.TLS)
	if err != nil {
		return o, fmt.Errorf("metrics: %w", err)
	}
	o.TLSOpts = append(o.TLSOpts, func(c *tls.Config) { c.GetCertificate = serving.GetCertificate })
	return o, nil
}
