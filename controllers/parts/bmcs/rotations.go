package bmcs

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
	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/controllers/bmcrotation"
)

// makeRotations registers the controllers that change passwords and certificates. They
// go with that of BMCs, so that a change can be asked for, and one that has begun is
// carried on.
func (p *Part) makeRotations(pool *client.Pool, ca []byte) error {
	r := p.Settings.BMCCredentials
	policy, err := password.ParsePolicy(r.PasswordPolicy)
	if err != nil {
		return fmt.Errorf("--bmc-password-policy: %w", err)
	}
	gate := &credentials.Gate{Most: max(r.AtOnce, 1)}
	err = bmcrotation.Setup(p.Manager, bmcrotation.Options{
		BMCs: pool, CA: ca, Ironics: func(h *metal3.BareMetalHost) (bmcrotation.Gateway, error) { return p.Hosts.IronicOf(h) },
		Gate: gate, Every: r.RotateEvery.Duration, Policy: policy, Random: rand.Reader, Now: time.Now,
		Log: slog.New(logr.ToSlogHandler(p.Log)),
	})
	if err != nil {
		return err
	}
	return p.makeCertificates(pool, ca, gate)
}

// makeCertificates registers the controller that replaces certificates, beside that of
// passwords. Without an issuer it carries on what has begun.
func (p *Part) makeCertificates(pool *client.Pool, ca []byte, gate *credentials.Gate) error {
	c := p.Settings.BMCCredentials
	o := bmcrotation.CertificateOptions{
		BMCs: pool, CA: ca, Gate: gate, Ironics: func(h *metal3.BareMetalHost) (bmcrotation.Gateway, error) { return p.Hosts.IronicOf(h) },
		Life: c.CertificateLife.Duration, Scheduled: c.RenewCertificates, IronicTrusts: c.IssuerInIronic, Random: rand.Reader, Now: time.Now, Log: slog.New(logr.ToSlogHandler(p.Log)),
	}
	if c.IssuerDir != "" {
		o.Authority = func() (*authority.Authority, error) { return readAuthority(c.IssuerDir) }
		if _, err := o.Authority(); err != nil {
			return fmt.Errorf("--bmc-issuer: %w", err)
		}
	}
	if c.CertificateLife.Duration <= 0 {
		return fmt.Errorf("--bmc-certificate-life %s: a certificate is good for some time", c.CertificateLife.Duration)
	}
	return bmcrotation.SetupCertificates(p.Manager, o)
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
