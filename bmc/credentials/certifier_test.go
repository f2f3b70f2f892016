package credentials_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// authority is an issuer with its own root.
type authority struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newAuthority(g *gomega.WithT, name string, now time.Time) authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	cert, err := x509.ParseCertificate(der)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return authority{key, cert}
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func (a authority) pem() []byte { return pemOf("CERTIFICATE", a.cert.Raw) }

// sign makes a certificate for a key and names.
func (a authority) sign(g *gomega.WithT, public any, names []string, now time.Time) []byte {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(now.UnixNano()), Subject: pkix.Name{CommonName: names[0]}, NotBefore: now.Add(-time.Minute), NotAfter: now.AddDate(0, 3, 0),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
			continue
		}
		template.DNSNames = append(template.DNSNames, name)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, public, a.key)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return der
}

// web is a BMC's web server with its issuer, its trust and its Ironic, and a program
// that can be killed.
type web struct {
	t      *testing.T
	g      *gomega.WithT
	now    time.Time
	random *mathrand.Rand

	issuer  authority
	key     *ecdsa.PrivateKey // of the last request
	served  []byte
	next    []byte // served after a reset, or late
	nextAt  time.Time
	reset   bool // certificates are served after a reset only
	foreign bool // somebody else has replaced the certificate
	signed  map[string][]byte
	pending int

	trust        client.Trust
	system       []byte // the system's authorities
	trustVersion int
	record       map[string][]byte
	version      int

	effects, killAt int
	killAfter, dead bool
	faults          int
	done            []string
	observed        certificate.Observed
	gate            credentials.Gate
	log             bytes.Buffer
}

const bmcAddress = "192.0.2.7"

func newWeb(t *testing.T, seed uint64) *web {
	g := gomega.NewWithT(t)
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	w := &web{t: t, g: g, now: now, random: mathrand.New(mathrand.NewPCG(seed, 3)), signed: map[string][]byte{}, trustVersion: 1}
	vendor := newAuthority(g, "vendor", now)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	w.served = vendor.sign(g, key.Public(), []string{bmcAddress}, now)
	w.issuer = newAuthority(g, "site", now)
	w.system = vendor.pem()
	switch seed % 4 {
	case 0:
		w.trust = client.Trust{Pin: certificate.Digest(w.served)}
	case 1:
		w.trust = client.Trust{CA: vendor.pem()}
	case 2:
		w.trust = client.Trust{} // the system's
	default:
		w.trust = client.Trust{Insecure: true}
	}
	w.observed = certificate.Observed{
		Host: "metal3/host-1", Issuer: "site", Names: []string{bmcAddress, "bmc.example"}, Request: "1", AtRest: true,
	}
	w.gate.Most = 2
	return w
}

func (w *web) program() *credentials.Certifier {
	w.dead = false
	return &credentials.Certifier{
		Records: w, Server: w, Issuer: w, Truster: w, Node: (*webNode)(w), Gate: &w.gate, Address: "https://" + bmcAddress,
		Now: func() time.Time { return w.now }, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
	}
}

// effect is one thing that the program does in the world.
func (w *web) effect(kind string, do func(fails bool) error) error {
	if w.dead {
		return errKilled
	}
	w.pass(200 * time.Millisecond)
	w.effects++
	w.done = append(w.done, kind)
	if w.effects == w.killAt && !w.killAfter {
		w.dead = true
		return errKilled
	}
	fails := w.faults > 0 && w.random.IntN(3) == 0
	if fails {
		w.faults--
		w.done = append(w.done, "(fails)")
	}
	err := do(fails)
	w.check(kind)
	if w.effects == w.killAt {
		w.dead = true
		return errKilled
	}
	return err
}

func (w *web) pass(d time.Duration) {
	w.now = w.now.Add(d)
	if w.next != nil && !w.reset && !w.now.Before(w.nextAt) {
		w.served, w.next = w.next, nil
	}
}

// accepted reports whether a client with the present trust takes what is served.
func (w *web) accepted() bool {
	if w.trust.Pin != "" {
		return w.trust.Pin == certificate.Digest(w.served)
	}
	if w.trust.Insecure {
		return true
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(w.trust.CA)
	if len(w.trust.CA) == 0 {
		pool.AppendCertsFromPEM(w.system)
	}
	leaf, err := x509.ParseCertificate(w.served)
	w.g.Expect(err).NotTo(gomega.HaveOccurred())
	_, err = leaf.Verify(x509.VerifyOptions{Roots: pool, DNSName: bmcAddress, CurrentTime: w.now})
	return err == nil
}

// check holds the promise of every moment: what is served is trusted, or the record has
// it and knows that it may be served.
func (w *web) check(when string) {
	w.t.Helper()
	if w.accepted() || w.foreign {
		return
	}
	r := certificate.Decode(w.record)
	chain, err := certificate.ParseChain(r.Chain)
	w.g.Expect(err).NotTo(gomega.HaveOccurred(), "after %s of %v", when, w.done)
	w.g.Expect(r.Phase).To(gomega.BeElementOf(certificate.Installing, certificate.Proving, certificate.Switching, certificate.Issued), "after %s of %v", when, w.done)
	w.g.Expect(certificate.Digest(chain[0].Raw)).To(gomega.Equal(certificate.Digest(w.served)))
	w.g.Expect(w.trust.CA).To(gomega.BeEmpty(), "authorities are trusted side by side")
}

func (w *web) run() certificate.Wait {
	w.t.Helper()
	c := w.program()
	for range 400 {
		wait, err := c.Pass(w.t.Context(), w.observed)
		switch {
		case w.dead:
			w.killAt = 0
			w.gate = credentials.Gate{Most: 2}
			c = w.program()
			w.pass(20 * time.Second)
		case err != nil:
			w.g.Expect(err.Error()).NotTo(gomega.ContainSubstring("please report"), "%v", w.done)
			w.pass(time.Second)
		case wait.For == 0 || wait.For >= 2*time.Hour || wait.Condition.Reason == reason.NeedsReset && w.reset:
			return wait
		default:
			w.pass(wait.For)
		}
	}
	w.t.Fatalf("no end: %v", w.done)
	return certificate.Wait{}
}

func (w *web) Record(context.Context) (map[string][]byte, string, error) {
	if w.dead {
		return nil, "", errKilled
	}
	if w.record == nil {
		return nil, "", nil
	}
	return w.record, fmt.Sprint(w.version), nil
}

func (w *web) WriteRecord(_ context.Context, version string, data map[string][]byte) (string, error) {
	err := w.effect("record", func(fails bool) error {
		if now := fmt.Sprint(w.version); w.record != nil && version != now || fails {
			w.version++
			return credentials.ErrConflict
		}
		w.record, w.version = data, w.version+1
		return nil
	})
	return fmt.Sprint(w.version), err
}

func (w *web) Generate(_ context.Context, names []string) (request []byte, err error) {
	err = w.effect("generate", func(fails bool) error {
		if fails {
			return errors.New("not now")
		}
		w.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		w.g.Expect(err).NotTo(gomega.HaveOccurred())
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: names[0]}, DNSNames: names[1:]}, w.key)
		w.g.Expect(err).NotTo(gomega.HaveOccurred())
		request = pemOf("CERTIFICATE REQUEST", der)
		return nil
	})
	return request, err
}

func (w *web) Sign(_ context.Context, id string, request []byte) (chain, ca []byte, err error) {
	err = w.effect("sign", func(fails bool) error {
		if w.signed[id] == nil {
			parsed, err := certificate.ParseRequest(request)
			w.g.Expect(err).NotTo(gomega.HaveOccurred())
			w.signed[id] = append(pemOf("CERTIFICATE", w.issuer.sign(w.g, parsed.PublicKey, w.observed.Names, w.now)), w.issuer.pem()...)
		}
		if w.pending++; fails || w.pending < 3 {
			return fmt.Errorf("request %s: %w", id, credentials.ErrPending)
		}
		chain = w.signed[id]
		return nil
	})
	return chain, w.issuer.pem(), err
}

func (w *web) Install(_ context.Context, chain []byte) (answer rotation.Answer, err error) {
	err = w.effect("install", func(fails bool) error {
		block, _ := pem.Decode(chain)
		leaf, err := x509.ParseCertificate(block.Bytes)
		w.g.Expect(err).NotTo(gomega.HaveOccurred())
		if !w.key.PublicKey.Equal(leaf.PublicKey) {
			answer = rotation.Refused
			return errors.New("the key does not fit")
		}
		switch kind := w.random.IntN(4); {
		case fails && kind == 0:
			answer = rotation.Refused
			return errors.New("refused")
		case fails && kind == 1:
			answer = rotation.NotSent
			return errors.New("no session left")
		case fails && kind == 2:
			answer = rotation.NoAnswer
			return errors.New("cut before")
		}
		w.next, w.nextAt = block.Bytes, w.now.Add(time.Duration(w.random.IntN(60))*time.Second)
		w.pass(0)
		if fails {
			answer = rotation.NoAnswer
			return errors.New("cut after")
		}
		answer = rotation.Accepted
		return nil
	})
	return answer, err
}

func (w *web) Served(context.Context) (*x509.Certificate, error) {
	if w.dead {
		return nil, errKilled
	}
	w.pass(100 * time.Millisecond)
	return x509.ParseCertificate(w.served)
}

func (w *web) Trust(context.Context) (client.Trust, string, error) {
	if w.dead {
		return client.Trust{}, "", errKilled
	}
	return w.trust, fmt.Sprint(w.trustVersion), nil
}

func (w *web) SetTrust(_ context.Context, version string, trust client.Trust) error {
	return w.effect("trust", func(fails bool) error {
		if fails || version != fmt.Sprint(w.trustVersion) {
			w.trustVersion++
			return credentials.ErrConflict
		}
		w.trust, w.trustVersion = trust, w.trustVersion+1
		return nil
	})
}

// webNode is the world as Ironic.
type webNode web

func (n *webNode) Tell(context.Context, rotation.Login) error { return nil }

func (n *webNode) Prove(context.Context) (verdict rotation.Verdict, err error) {
	err = (*web)(n).effect("prove", func(fails bool) error {
		if fails {
			verdict = rotation.Unsure
			return errors.New("503")
		}
		verdict = rotation.Right
		return nil
	})
	return verdict, err
}

// replaced holds that the issuer's certificate is served and trusted.
func (w *web) replaced(why string) {
	w.t.Helper()
	leaf, err := x509.ParseCertificate(w.served)
	w.g.Expect(err).NotTo(gomega.HaveOccurred())
	w.g.Expect(leaf.CheckSignatureFrom(w.issuer.cert)).To(gomega.Succeed(), why)
	w.g.Expect(w.accepted()).To(gomega.BeTrue(), why)
	if len(w.trust.CA) > 0 {
		w.g.Expect(w.trust.CA).To(gomega.Equal(w.issuer.pem()), "the old authority is dropped; %s", why)
	}
}

// TestACertificateIsReplaced is the way without trouble, with each kind of trust.
func TestACertificateIsReplaced(t *testing.T) {
	for seed, name := range []string{"a pin", "an authority", "the system's authorities", "no check"} {
		t.Run(name, func(t *testing.T) {
			w := newWeb(t, uint64(seed))
			wait := w.run()
			w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), wait.Condition.Message)
			w.replaced(wait.Condition.Message)
			w.g.Expect(w.gate.Inside()).To(gomega.BeZero())
			before := w.effects
			w.run()
			w.g.Expect(w.effects).To(gomega.Equal(before), "the same request is served once")
		})
	}
}

// TestCertificateKilledAtEachStep kills the program before and after each thing that it
// does, 50 times with random failures, with each kind of trust.
func TestCertificateKilledAtEachStep(t *testing.T) {
	rounds := 50
	if testing.Short() {
		rounds = 5
	}
	whole := newWeb(t, 1)
	whole.run()
	for at := 1; at <= whole.effects+3; at++ {
		for round := range rounds {
			w := newWeb(t, uint64(at*50+round))
			w.killAt, w.killAfter, w.faults = at, round%2 == 0, round%5
			wait := w.run()
			why := fmt.Sprintf("killed at %d, round %d: %s: %s: %v", at, round, wait.Condition.Reason, wait.Condition.Message, w.done)
			w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), why)
			w.replaced(why)
		}
	}
}

// TestACertificateThatNeedsAReset waits for a person, and goes on by itself afterwards.
func TestACertificateThatNeedsAReset(t *testing.T) {
	w := newWeb(t, 0)
	w.reset = true
	wait := w.run()
	w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.NeedsReset), wait.Condition.Message)
	w.g.Expect(w.accepted()).To(gomega.BeTrue(), "the old certificate is served and trusted")
	w.reset = false
	wait = w.run()
	w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), wait.Condition.Message)
	w.replaced("after the reset")
}

// TestABMCThatNeedsAResetKeepsNobodyWaiting: nobody may come for weeks, and its place is
// free meanwhile.
func TestABMCThatNeedsAResetKeepsNobodyWaiting(t *testing.T) {
	w := newWeb(t, 0)
	w.reset = true
	wait := w.run()
	w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.NeedsReset), wait.Condition.Message)
	w.g.Expect(w.gate.Inside()).To(gomega.BeZero(), "others may change theirs")
}

// TestABMCThatLosesTheCertificateInAReset: it has taken it, and comes back with the old one
// and nothing else. Whoever asks again gets another one; until then none is made.
func TestABMCThatLosesTheCertificateInAReset(t *testing.T) {
	for seed := range uint64(4) { // each kind of trust
		w := newWeb(t, seed)
		w.reset = true
		wait := w.run()
		w.g.Expect(wait.Condition.Message).To(gomega.ContainSubstring("ask again"))
		w.next, w.reset = nil, false
		before := w.effects
		for range 48 {
			w.pass(time.Hour)
			wait, err := w.program().Pass(t.Context(), w.observed)
			w.g.Expect(err).NotTo(gomega.HaveOccurred())
			w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.NeedsReset), wait.Condition.Message)
		}
		w.g.Expect(w.effects).To(gomega.Equal(before), "nobody has asked")
		w.observed.Request = "2"
		wait = w.run()
		w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), wait.Condition.Message)
		w.replaced(wait.Condition.Message)
	}
}

// TestTheIssuerIsReplacedInTheMiddle: whatever is on the way to the BMC is trusted by what
// it was signed with, and the next one by the new issuer.
func TestTheIssuerIsReplacedInTheMiddle(t *testing.T) {
	whole := newWeb(t, 1)
	whole.run()
	for at := 1; at <= whole.effects; at++ {
		for seed := range uint64(4) {
			w := newWeb(t, seed)
			w.killAt, w.killAfter = at, true
			first, c := w.issuer, w.program()
			for over := false; !w.dead && !over; {
				wait, _ := c.Pass(t.Context(), w.observed)
				w.pass(wait.For)
				over = wait.Condition.Reason == reason.Current
			}
			w.issuer, w.signed = newAuthority(w.g, "another", w.now), map[string][]byte{}
			wait := w.run()
			why := fmt.Sprintf("replaced after %d: %s: %v", at, wait.Condition.Message, w.done)
			w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), why)
			w.g.Expect(w.accepted()).To(gomega.BeTrue(), why)
			leaf, err := x509.ParseCertificate(w.served)
			w.g.Expect(err).NotTo(gomega.HaveOccurred())
			w.g.Expect(leaf.Issuer.CommonName).To(gomega.BeElementOf(first.cert.Subject.CommonName, "another"), why)
			w.observed.Request = "2"
			wait = w.run()
			w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Current), why)
			w.replaced(why)
		}
	}
}

// TestAForeignCertificateEndsAReplacement: trust is not switched to what we did not order.
func TestAForeignCertificateEndsAReplacement(t *testing.T) {
	w := newWeb(t, 0)
	w.reset = true
	w.run()
	stranger := newAuthority(w.g, "stranger", w.now)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	w.g.Expect(err).NotTo(gomega.HaveOccurred())
	old := w.trust
	w.served, w.next, w.foreign = stranger.sign(w.g, key.Public(), []string{bmcAddress}, w.now), nil, true
	w.pass(time.Hour)
	wait := w.run()
	w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Foreign), wait.Condition.Message)
	w.g.Expect(w.trust).To(gomega.Equal(old))
}

// TestABMCThatCannot is left alone for a day, not asked each hour.
func TestABMCThatCannot(t *testing.T) {
	w := newWeb(t, 0)
	w.observed.Request, w.observed.Scheduled = "", true
	c := w.program()
	c.Server = unable{w}
	wait, err := c.Pass(t.Context(), w.observed)
	w.g.Expect(err).NotTo(gomega.HaveOccurred())
	w.g.Expect(wait.Condition.Reason).To(gomega.Equal(reason.Unsupported), wait.Condition.Message)
	w.g.Expect(wait.For).To(gomega.BeNumerically("~", 24*time.Hour, time.Minute))
	w.g.Expect(w.gate.Inside()).To(gomega.BeZero())
}

type unable struct{ *web }

func (unable) Generate(context.Context, []string) ([]byte, error) {
	return nil, fmt.Errorf("%w: no CertificateService", credentials.ErrUnsupported)
}
