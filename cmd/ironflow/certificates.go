package main

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/authority"
	"github.com/ironflow/ironflow/controllers/bmcrotation"
)

// certificateSettings say who signs certificates of BMCs, and when they are replaced.
type certificateSettings struct {
	// issuer is the folder with what a Secret of type kubernetes.io/tls holds; empty for none.
	issuer string
	life   time.Duration
	// renew is for certificates that nobody asks for.
	renew bool
	// inIronic says that Ironic's conductors trust the issuer.
	inIronic bool
}

func (c *certificateSettings) settings() []setting {
	return []setting{
		{"bmc-issuer", "IRONFLOW_BMC_ISSUER_DIR", "", "folder with tls.crt and tls.key of the authority that signs certificates for BMCs, and ca.crt if that has a root of its own, such as a mounted Secret of type kubernetes.io/tls; empty: none are replaced; see docs/rotation.md", text(&c.issuer)},
		{"bmc-certificate-life", "IRONFLOW_BMC_CERTIFICATE_LIFE", "8760h0m0s", "how long certificates that the authority of bmc-issuer signs for BMCs are valid", duration(&c.life)},
		{"bmc-renew-certificates", "IRONFLOW_BMC_RENEW_CERTIFICATES", "false", "replace certificates of BMCs without being asked: those that the issuer has not signed, and those with a third of their life left; else on request only, by a host's annotation ironflow.io/replace-certificate", boolean(&c.renew)},
		{"bmc-issuer-in-ironic", "IRONFLOW_BMC_ISSUER_IN_IRONIC", "false", "say that Ironic's conductors trust the authority of bmc-issuer; without this, only certificates that Ironic does not check are replaced", boolean(&c.inIronic)},
	}
}

// makeCertificates registers the controller that replaces certificates, beside that of
// passwords. Without an issuer it carries on what has begun.
func (p *program) makeCertificates(pool *client.Pool, ca []byte, gate *credentials.Gate) error {
	c := p.settings.bmcs.rotation.certificates
	o := bmcrotation.CertificateOptions{
		BMCs: pool, CA: ca, Gate: gate, Ironics: func(h *metal3.BareMetalHost) (bmcrotation.Gateway, error) { return p.ironicOf(h) },
		Life: c.life, Scheduled: c.renew, IronicTrusts: c.inIronic, Random: rand.Reader, Now: time.Now, Log: slog.New(logr.ToSlogHandler(p.log)),
	}
	if c.issuer != "" {
		o.Authority = func() (*authority.Authority, error) { return readAuthority(c.issuer) }
		if _, err := o.Authority(); err != nil {
			return fmt.Errorf("--bmc-issuer: %w", err)
		}
	}
	if c.life <= 0 {
		return fmt.Errorf("--bmc-certificate-life %s: a certificate is good for some time", c.life)
	}
	return bmcrotation.SetupCertificates(p.manager, o)
}

// readAuthority reads the files of a mounted Secret, which may be renewed at any time.
func readAuthority(folder string) (*authority.Authority, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // nothing was written
	chain, err := root.ReadFile("tls.crt")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, "tls.crt"), err)
	}
	key, err := root.ReadFile("tls.key")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, "tls.key"), err)
	}
	above, err := root.ReadFile("ca.crt")
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("%s: %w", filepath.Join(folder, "ca.crt"), err)
	}
	return authority.Parse(chain, key, above)
}
