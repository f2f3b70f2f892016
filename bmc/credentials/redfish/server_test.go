package redfish_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/url"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/redfish"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/profile"
)

// site is an issuer, and all that a replacement keeps.
type site struct {
	b       *bed
	key     *ecdsa.PrivateKey
	root    *x509.Certificate
	signed  map[string][]byte
	record  map[string][]byte
	version int
	trust   client.Trust
	now     time.Time
}

func newSite(b *bed) *site {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	b.g.Expect(err).NotTo(gomega.HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "site"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	b.g.Expect(err).NotTo(gomega.HaveOccurred())
	root, err := x509.ParseCertificate(der)
	b.g.Expect(err).NotTo(gomega.HaveOccurred())
	return &site{b: b, key: key, root: root, signed: map[string][]byte{}, now: time.Now()}
}

func block(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func (s *site) Sign(_ context.Context, id string, request []byte) (chain, ca []byte, err error) {
	asked, err := certificate.ParseRequest(request)
	if err != nil {
		return nil, nil, err
	}
	if s.signed[id] == nil {
		template := &x509.Certificate{
			SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: asked.Subject, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().AddDate(0, 3, 0),
			DNSNames: asked.DNSNames, IPAddresses: asked.IPAddresses,
		}
		der, err := x509.CreateCertificate(rand.Reader, template, s.root, asked.PublicKey, s.key)
		if err != nil {
			return nil, nil, err
		}
		s.signed[id] = append(block(der), block(s.root.Raw)...)
		return nil, nil, fmt.Errorf("request %s: %w", id, credentials.ErrPending)
	}
	return s.signed[id], block(s.root.Raw), nil
}

func (s *site) Record(context.Context) (map[string][]byte, string, error) {
	return s.record, fmt.Sprint(s.version), nil
}

func (s *site) WriteRecord(_ context.Context, version string, data map[string][]byte) (string, error) {
	if version != fmt.Sprint(s.version) {
		return "", credentials.ErrConflict
	}
	s.record, s.version = data, s.version+1
	return fmt.Sprint(s.version), nil
}

func (s *site) Trust(context.Context) (client.Trust, string, error) { return s.trust, "1", nil }

func (s *site) SetTrust(_ context.Context, _ string, trust client.Trust) error {
	s.trust = trust
	s.b.host.Target.TLS = trust
	return nil
}

func (s *site) Tell(context.Context, rotation.Login) error { return nil }

// Prove reaches the BMC with what is trusted by now.
func (s *site) Prove(ctx context.Context) (rotation.Verdict, error) {
	return s.b.host.Login(ctx, login)
}

// TestACertificateOverRedfish has the simulated BMC make a request, and replaces its
// certificate; a BMC that cuts the connection, and one that serves the certificate
// after a reset, come to the same end.
func TestACertificateOverRedfish(t *testing.T) {
	for name, c := range map[string]struct {
		quirks []simulator.Quirk
		reset  bool
	}{
		"at once":       {},
		"cut":           {quirks: []simulator.Quirk{simulator.CertificateCut}},
		"after a reset": {quirks: []simulator.Quirk{simulator.CertificateAfterReset}, reset: true},
	} {
		t.Run(name, func(t *testing.T) {
			b := start(t, profile.OpenBMC(), nil)
			s := newSite(b)
			server := &redfish.Server{Host: b.host, Login: login}
			before, err := server.Served(t.Context())
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			s.trust = client.Trust{Pin: certificate.Digest(before.Raw)}
			b.host.Target.TLS = s.trust
			for _, q := range c.quirks {
				b.quirk(q, 1)
			}
			u, err := url.Parse(b.http.URL)
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			certifier := &credentials.Certifier{
				Records: s, Server: server, Issuer: s, Truster: s, Node: s, Gate: &credentials.Gate{Most: 1}, Address: b.http.URL, Now: func() time.Time { return s.now },
			}
			observed := certificate.Observed{
				Host: "metal3/host-1", Issuer: "site", Names: []string{u.Hostname(), "bmc.test"}, Request: "1", AtRest: true,
			}
			var wait certificate.Wait
			for range 40 {
				wait, err = certifier.Pass(t.Context(), observed)
				b.g.Expect(err).NotTo(gomega.HaveOccurred())
				if c.reset && wait.Condition.Reason == reason.NeedsReset {
					c.reset = false
					b.restart()
				}
				if wait.For == 0 {
					break
				}
				s.now = s.now.Add(wait.For)
			}
			b.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), wait.Condition.Message)
			b.g.Expect(c.reset).To(gomega.BeFalse(), "a person was asked to reset the BMC")
			after, err := server.Served(t.Context())
			b.g.Expect(err).NotTo(gomega.HaveOccurred())
			b.g.Expect(after.CheckSignatureFrom(s.root)).To(gomega.Succeed())
			b.g.Expect(after.VerifyHostname("[" + u.Hostname() + "]")).To(gomega.Succeed())
			b.g.Expect(s.trust.Pin).To(gomega.Equal(certificate.Digest(after.Raw)))
		})
	}
}

// restart resets the manager.
func (b *bed) restart() {
	target := b.host.Target
	target.Username, target.Password = user, old
	c, err := client.New(target, client.Options{Rate: 1000})
	b.g.Expect(err).NotTo(gomega.HaveOccurred())
	managers, _, err := c.Members(b.t.Context(), "/redfish/v1/Managers", 1)
	b.g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = c.Post(b.t.Context(), managers[0]+"/Actions/Manager.Reset", map[string]string{"ResetType": "GracefulRestart"})
	b.g.Expect(err).NotTo(gomega.HaveOccurred())
	_ = c.Close(b.t.Context())
}

func TestABMCWithoutACertificateService(t *testing.T) {
	b := start(t, profile.OpenBMC().With(simulator.NoCertificateService), nil)
	server := &redfish.Server{Host: b.host, Login: login}
	_, err := server.Generate(t.Context(), []string{"bmc.test"})
	b.g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("no CertificateService")))
	answer, err := server.Install(t.Context(), []byte("x"))
	b.g.Expect(answer).To(gomega.Equal(rotation.NotSent))
	b.g.Expect(err).To(gomega.HaveOccurred())
}

// TestAHandshakeSendsNothing: what is served is looked at without credentials.
func TestAHandshakeSendsNothing(t *testing.T) {
	b := start(t, profile.OpenBMC(), nil)
	server := &redfish.Server{Host: b.host, Login: login}
	_, err := server.Served(t.Context())
	b.g.Expect(err).NotTo(gomega.HaveOccurred())
	b.g.Expect(b.Total("")).To(gomega.BeZero())
	b.host.Target.URL = "http://192.0.2.1"
	_, err = server.Served(t.Context())
	b.g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("not reached by https")))
}
