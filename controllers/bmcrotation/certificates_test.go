package bmcrotation

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/authority"
	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/bmc/credentials/redfish"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
	"github.com/ironflow/ironflow/test/catalog"
)

// site is an authority of a site.
func site(g *WithT) *authority.Authority {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "site"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(10, 0, 0),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	g.Expect(err).NotTo(HaveOccurred())
	a, err := authority.Parse(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}), nil)
	g.Expect(err).NotTo(HaveOccurred())
	return a
}

// sealed is a mortal whose BMC is reached over TLS, with both reconcilers.
type sealed struct {
	*mortal
	issuer  *authority.Authority
	problem error
	options CertificateOptions
}

func newSealed(t *testing.T) *sealed {
	s := &sealed{mortal: &mortal{world: newWorldOver(t, true)}}
	s.issuer = site(s.WithT)
	s.ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.served().Raw})
	s.options = CertificateOptions{IronicTrusts: true, Life: 90 * 24 * time.Hour, Random: rand.Reader, Now: s.now, Authority: func() (*authority.Authority, error) { return s.issuer, s.problem }}
	s.programs = func() []reconcile.Reconciler {
		gate := &credentials.Gate{Most: 1}
		o := s.options
		o.BMCs, o.CA, o.Gate, o.Ironics = s.pool, s.ca, gate, func(*metal3.BareMetalHost) (Gateway, error) { return mortalIronic{s.mortal}, nil }
		return []reconcile.Reconciler{s.rotation(gate), &certifier{loop: s.loop(gate), options: o}}
	}
	s.live()
	return s
}

// served is the certificate that the BMC shows.
func (s *sealed) served() *x509.Certificate {
	s.t.Helper()
	c, err := tls.Dial("tcp", strings.TrimPrefix(s.base, "https://"), &tls.Config{InsecureSkipVerify: true})
	s.Expect(err).NotTo(HaveOccurred())
	shown := c.ConnectionState().PeerCertificates[0]
	s.Expect(c.Close()).To(Succeed())
	return shown
}

// replace asks for another certificate.
func (s *sealed) replace(value string) {
	s.t.Helper()
	s.change(key.Name, func(h *metal3.BareMetalHost) {
		metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.ReplaceCertificate, value)
	})
}

// condition is CertificateCurrent.
func (s *sealed) condition() metav1.Condition {
	s.looking.Store(true)
	defer s.looking.Store(false)
	b := v1alpha1.BMC{}
	s.Expect(s.kube.Get(s.t.Context(), key, &b)).To(Succeed())
	if c := meta.FindStatusCondition(b.Status.Conditions, v1alpha1.CertificateCurrent); c != nil {
		return *c
	}
	return metav1.Condition{}
}

// letsIn holds that whoever is told by the guard how the BMC is checked gets in.
func (s *sealed) letsIn(why string) {
	s.t.Helper()
	s.letsInAs(key.Name, why)
}

// letsInAs is letsIn for another host.
func (s *sealed) letsInAs(host, why string) {
	s.t.Helper()
	c, err := Guard{Pool: client.NewPool(client.Options{Now: s.now}), Reader: cached{s.kube}}.Client(key.Namespace+"/"+host, client.Target{
		URL: s.base, Username: user, Password: client.Secret(s.stored("bmc")["password"]), TLS: client.Trust{CA: s.ca}, Basic: true,
	})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(c.Get(s.t.Context(), "/redfish/v1/Systems", &struct{}{})).To(Succeed(), why)
}

// signed holds that the issuer's certificate is served and trusted.
func (s *sealed) signed(why string) {
	s.t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(s.issuer.CA())
	_, err := s.served().Verify(x509.VerifyOptions{Roots: pool, DNSName: "127.0.0.1", CurrentTime: s.now()})
	s.Expect(err).NotTo(HaveOccurred(), why)
	s.letsIn(why)
}

func TestEveryReasonOfACertificateIsListed(t *testing.T) {
	g := NewWithT(t)
	for _, r := range reason.All {
		if r.Has(reason.Certificate) {
			g.Expect(catalog.Has("BMC", v1alpha1.CertificateCurrent, string(r.Status), string(r.Reason))).To(BeTrue(), "%s is not in the catalogue of conditions", r.Reason)
		}
	}
}

// TestACertificateIsReplacedOnRequest, once for each value, and only then.
func TestACertificateIsReplacedOnRequest(t *testing.T) {
	s := newSealed(t)
	why := func() string { return fmt.Sprint(s.done, s.condition()) }
	s.run(why)
	s.Expect(s.condition()).To(BeZero(), "nobody has asked")
	s.Expect(s.sim.Total("")).To(BeZero())
	s.replace("1")
	s.run(why)
	s.Expect(s.condition()).To(And(HaveField("Reason", "Current"), HaveField("Message", ContainSubstring("issuer site is good until"))))
	s.signed(why())
	s.Expect(s.stored("host-1-bmc-certificate")["ca.crt"]).To(Equal(string(s.issuer.CA())), "the authority before is trusted no more")
	first := s.served().SerialNumber
	s.run(why)
	s.Expect(s.served().SerialNumber).To(Equal(first))
	s.replace("2")
	s.run(why)
	s.Expect(s.served().SerialNumber).NotTo(Equal(first))
	s.signed(why())
	s.ask("1") // the password, of a BMC with its new certificate
	s.Expect(s.run(why)).To(Equal(reason.Current), why())
	s.Expect(s.bmcPassword()).NotTo(Equal(original))
	s.letsIn("after the password was changed")
}

// TestACertificateIsReplacedBySchedule: when it is not the issuer's, and before it ends.
func TestACertificateIsReplacedBySchedule(t *testing.T) {
	s := newSealed(t)
	s.options.Scheduled = true
	s.start()
	why := func() string { return fmt.Sprint(s.done, s.condition()) }
	until := func(at time.Duration) {
		for end := s.now().Add(at); s.now().Before(end); {
			wait := s.turn(why)
			s.Expect(wait).To(BeNumerically(">", 0), "it is looked at again")
			s.ahead.Add(int64(min(wait, end.Sub(s.now())+time.Second)))
		}
	}
	until(time.Hour)
	s.signed(why())
	first := s.served().SerialNumber
	until(50 * 24 * time.Hour)
	s.Expect(s.served().SerialNumber).To(Equal(first), "it has more than a third of its life")
	until(20 * 24 * time.Hour)
	s.Expect(s.served().SerialNumber).NotTo(Equal(first))
	s.signed(why())
}

// TestACertificateThatHasEnded while nobody was there to renew it: ours is replaced all the
// same, one of somebody else is not trusted for it.
func TestACertificateThatHasEnded(t *testing.T) {
	for name, c := range map[string]struct {
		foreign, asked, replaced bool
	}{
		"ours":                         {replaced: true},
		"ours, on request":             {asked: true, replaced: true},
		"of somebody else":             {foreign: true},
		"of somebody else, on request": {foreign: true, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSealed(t)
			why := func() string { return fmt.Sprint(s.done, s.condition()) }
			s.replace("1")
			s.run(why)
			s.signed(why())
			if c.foreign {
				s.serveForeign()
			}
			s.ahead.Add(int64(100 * 24 * time.Hour))
			before := s.served()
			s.Expect(before.NotAfter.Before(s.now())).To(BeTrue())
			if s.options.Scheduled = !c.asked; c.asked {
				s.replace("2")
			}
			s.ironic.set(func() { s.ironic.unreached = true })
			s.done = nil
			s.start() // a program that has no connection yet
			for range 10 {
				s.ahead.Add(int64(s.turn(why)))
			}
			if c.replaced {
				s.Expect(s.served().SerialNumber).NotTo(Equal(before.SerialNumber), why())
				s.signed(why())
				s.Expect(s.condition()).To(HaveField("Reason", "Current"))
				return
			}
			s.Expect(s.served().Equal(before)).To(BeTrue(), why())
			s.Expect(s.done).NotTo(ContainElement(ContainSubstring("/redfish/")), "nobody logs in")
			s.Expect(s.condition()).To(HaveField("Message", ContainSubstring("certificate")), why())
		})
	}
}

// serveForeign has somebody else replace the BMC's certificate, for a month.
func (s *sealed) serveForeign() {
	s.t.Helper()
	server := redfish.Server{
		Host: &redfish.Host{
			Pool: client.NewPool(client.Options{Rate: 10_000, Burst: 10_000}), Key: "else",
			Target: client.Target{URL: s.base, TLS: client.Trust{Insecure: true}, Basic: true},
		},
		Login: rotation.Login{Username: user, Password: client.Secret(s.bmcPassword())},
	}
	names := []string{"127.0.0.1"}
	request, err := server.Generate(s.t.Context(), names)
	s.Expect(err).NotTo(HaveOccurred())
	chain, err := site(s.WithT).Sign(rand.Reader, request, names, 30*24*time.Hour, time.Now())
	s.Expect(err).NotTo(HaveOccurred())
	_, err = server.Install(s.t.Context(), chain)
	s.Expect(err).NotTo(HaveOccurred())
}

// TestWhatKeepsACertificate: nothing is sent to the BMC, and the condition says why.
func TestWhatKeepsACertificate(t *testing.T) {
	for name, c := range map[string]struct {
		before func(s *sealed)
		reason reason.Reason
		says   string
	}{
		"no issuer":         {func(s *sealed) { s.options.Authority = nil }, reason.NoIssuer, "no issuer"},
		"an unreadable one": {func(s *sealed) { s.problem = errors.New("tls.key: no such file") }, reason.IssuerFails, "tls.key"},
		"Ironic":            {func(s *sealed) { s.options.IronicTrusts = false }, reason.IronicRefuses, "make the conductors trust it"},
		"a host at work": {func(s *sealed) {
			s.change(key.Name, func(h *metal3.BareMetalHost) { h.Status.Provisioning.State = metal3.StateProvisioning })
		}, reason.NotAtRest, "at rest"},
		"a node at work": {func(s *sealed) { s.ironic.set(func() { s.ironic.state = ironic.StateCleaning }) }, reason.NotAtRest, "Ironic's node is cleaning"},
		"no Secret": {func(s *sealed) {
			s.change(key.Name, func(h *metal3.BareMetalHost) { h.Spec.BMC.CredentialsName = "none" })
		}, reason.WaitingForTurn, "Secret none"},
		"a BMC that is away": {func(s *sealed) { s.http.Close() }, reason.BMCSilent, "shows no certificate"},
		"a BMC without https": {func(s *sealed) {
			s.change(key.Name, func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = "redfish+http://192.0.2.1" })
		}, reason.Unsupported, "over https"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSealed(t)
			before := s.served().SerialNumber
			c.before(s)
			s.start()
			s.replace("1")
			s.turn(func() string { return fmt.Sprint(s.done) })
			s.Expect(s.condition()).To(And(HaveField("Reason", string(c.reason)), HaveField("Message", ContainSubstring(c.says))))
			s.Expect(s.sim.Total("")).To(BeZero())
			if name != "a BMC that is away" {
				s.Expect(s.served().SerialNumber).To(Equal(before))
			}
		})
	}
}

// TestAHostThatChecksNothing goes on so, and gets the issuer's certificate all the same.
func TestAHostThatChecksNothing(t *testing.T) {
	s := newSealed(t)
	s.options.IronicTrusts = false
	s.start()
	s.change(key.Name, func(h *metal3.BareMetalHost) { h.Spec.BMC.DisableCertificateVerification = true })
	s.replace("1")
	s.run(func() string { return fmt.Sprint(s.done, s.condition()) })
	s.Expect(s.condition()).To(HaveField("Reason", "Current"))
	s.Expect(s.stored("host-1-bmc-certificate")).NotTo(Or(HaveKey("ca.crt"), HaveKey("pin")))
	s.Expect(s.served().Issuer.CommonName).To(Equal("site"))
}

// TestAnotherBMCIsCheckedAsBefore: what was signed for the former one says nothing of it.
func TestAnotherBMCIsCheckedAsBefore(t *testing.T) {
	s := newSealed(t)
	s.replace("1")
	s.run(func() string { return fmt.Sprint(s.done, s.condition()) })
	trust, err := trustOf(t.Context(), cached{s.kube}, key.String(), client.Target{URL: s.base, TLS: client.Trust{CA: s.ca}})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(string(trust.CA)).To(Equal(string(s.issuer.CA())))
	trust, err = trustOf(t.Context(), cached{s.kube}, key.String(), client.Target{URL: "https://192.0.2.9", TLS: client.Trust{CA: s.ca}})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(string(trust.CA)).To(Equal(string(s.ca)))
}

// TestACertificateIsCarriedOnWithoutTheFlags: the program is started without an issuer in
// the middle of it.
func TestACertificateIsCarriedOnWithoutTheFlags(t *testing.T) {
	s := newSealed(t)
	s.Expect(s.sim.SetQuirk("1", simulator.CertificateAfterReset, simulator.Always)).To(Succeed())
	s.replace("1")
	why := func() string { return fmt.Sprint(s.done, s.condition()) }
	s.turn(why)
	s.Expect(s.stored("host-1-bmc-certificate")["state"]).To(ContainSubstring(`"phase"`))
	s.options.Authority = nil
	s.change(key.Name, func(h *metal3.BareMetalHost) { delete(h.Annotations, names.ReplaceCertificate) })
	s.start()
	s.turn(why)
	s.Expect(s.served().Issuer.CommonName).NotTo(Equal("site"))
	s.letsIn("before the BMC was reset")
	s.resetBMC()
	s.run(why)
	s.signed(why())
}

// TestHostsOfOneBMC, as blades behind one chassis controller: the certificate is replaced
// through one of them, the other one is let in with it too, and none takes it for foreign.
func TestHostsOfOneBMC(t *testing.T) {
	s := newSealed(t)
	s.options.Scheduled = true
	s.secret("other", user, original)
	s.host("host-2", "other")
	s.start()
	why := func() string { return fmt.Sprint(s.done, s.condition()) }
	both := func() {
		for _, name := range []string{"host-2", key.Name} {
			for range 2 {
				_, err := s.running[1].Reconcile(t.Context(), ctrl.Request{NamespacedName: kclient.ObjectKey{Namespace: key.Namespace, Name: name}})
				s.Expect(err).NotTo(HaveOccurred())
			}
		}
	}
	both()
	s.signed(why())
	s.letsInAs("host-2", "it has the same BMC")
	first := s.served().SerialNumber
	both()
	s.Expect(s.served().SerialNumber).To(Equal(first), "one has replaced it, the other leaves it")
	b := v1alpha1.BMC{}
	s.Expect(s.kube.Get(t.Context(), kclient.ObjectKey{Namespace: key.Namespace, Name: "host-2"}, &b)).To(Succeed())
	s.Expect(meta.FindStatusCondition(b.Status.Conditions, v1alpha1.CertificateCurrent)).To(And(HaveField("Reason", "Current"), HaveField("Message", ContainSubstring("through host lab/host-1"))))

	trust, err := trustOf(t.Context(), cached{s.kube}, "elsewhere/host-3", client.Target{URL: s.base, TLS: client.Trust{CA: s.ca}})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(string(trust.CA)).To(Equal(string(s.ca)), "Secrets of another namespace are not believed")
}

// TestAHostThatComesToABMC whose certificate was replaced through another one, and through
// which it is replaced from now on: it gets in, and its certificate is what all trust.
func TestAHostThatComesToABMC(t *testing.T) {
	s := newSealed(t)
	why := func() string { return fmt.Sprint(s.done, s.condition()) }
	s.replace("1")
	s.run(why)
	s.signed(why())
	s.secret("other", user, original)
	s.host("host-0", "other")
	s.letsInAs("host-0", "as it is")
	first, before := s.served().SerialNumber, s.issuer
	s.issuer = site(s.WithT)
	s.change("host-0", func(h *metal3.BareMetalHost) { h.Annotations = map[string]string{names.ReplaceCertificate: "1"} })
	b := v1alpha1.BMC{}
	for range 20 {
		result, err := s.running[1].Reconcile(t.Context(), ctrl.Request{NamespacedName: kclient.ObjectKey{Namespace: key.Namespace, Name: "host-0"}})
		s.Expect(err).NotTo(HaveOccurred())
		s.ahead.Add(int64(result.RequeueAfter))
		s.letsInAs(key.Name, "in the middle")
		s.Expect(s.kube.Get(t.Context(), kclient.ObjectKey{Namespace: key.Namespace, Name: "host-0"}, &b)).To(Succeed())
		if meta.IsStatusConditionTrue(b.Status.Conditions, v1alpha1.CertificateCurrent) {
			break
		}
	}
	s.Expect(s.served().SerialNumber).NotTo(Equal(first), "%v", b.Status.Conditions)
	s.signed(fmt.Sprint(b.Status.Conditions))
	s.letsInAs("host-0", "through which it was replaced")
	trust, err := trustOf(t.Context(), cached{s.kube}, key.String(), client.Target{URL: s.base, TLS: client.Trust{CA: s.ca}})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(string(trust.CA)).NotTo(ContainSubstring(string(before.CA())), "the authority before is trusted no more")
}

// TestNoPasswordInACertificatesWords: a BMC that repeats the login that it refuses.
func TestNoPasswordInACertificatesWords(t *testing.T) {
	s := newSealed(t)
	wrap := func(bmc http.Handler) http.Handler {
		return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				bmc.ServeHTTP(answer, r)
				return
			}
			answer.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(answer, `{"error":{"code":"Base.1.18.GeneralError","message":"the password `+original+` of `+user+` is not to my taste"}}`)
		})
	}
	s.wrap.Store(&wrap)
	s.replace("1")
	s.turn(func() string { return "" })
	s.Expect(s.condition().Message).To(And(ContainSubstring("is not to my taste"), Not(ContainSubstring(original))))
	s.Expect(s.stored("host-1-bmc-certificate")["state"]).NotTo(ContainSubstring(original))
}

// TestAWrongPasswordIsNotTriedForACertificate again and again: that would lock the account.
func TestAWrongPasswordIsNotTriedForACertificate(t *testing.T) {
	s := newSealed(t)
	s.Expect(s.sim.SetPassword(user, "s0mebody-Elses")).To(Succeed())
	s.replace("1")
	for range 20 {
		wait := s.turn(func() string { return fmt.Sprint(s.condition()) })
		s.ahead.Add(int64(wait))
	}
	s.Expect(s.sim.Logins()[accounts.Wrong]).To(BeNumerically("<=", 2), fmt.Sprint(s.condition()))
}

// resetBMC starts the BMC anew.
func (s *sealed) resetBMC() {
	s.t.Helper()
	c, err := client.New(client.Target{URL: s.base, Username: user, Password: client.Secret(s.bmcPassword()), TLS: client.Trust{Insecure: true}, Basic: true}, client.Options{})
	s.Expect(err).NotTo(HaveOccurred())
	managers, _, err := c.Members(s.t.Context(), "/redfish/v1/Managers", 1)
	s.Expect(err).NotTo(HaveOccurred())
	_, err = c.Post(s.t.Context(), managers[0]+"/Actions/Manager.Reset", map[string]string{"ResetType": "GracefulRestart"})
	s.Expect(err).NotTo(HaveOccurred())
}

// TestACertificateKilledAtEachStep kills the program before and after each thing that it
// does while password and certificate of one BMC are asked for at the same time, with a
// connection that is cut now and then. One is changed after the other, whoever checks
// gets in at rest, and a stored password opens the BMC at every moment.
func TestACertificateKilledAtEachStep(t *testing.T) {
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	whole := newSealed(t)
	whole.ask("1")
	whole.replace("1")
	whole.run(func() string { return fmt.Sprint(whole.done, whole.condition()) })
	whole.signed("without a kill")
	t.Logf("%d things are done: %q", whole.effects, whole.done)
	for at := 1; at <= whole.effects; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			t.Parallel()
			for round := range rounds {
				s := newSealed(t)
				why := func() string { return fmt.Sprintf("killed at %d, round %d: %q %v", at, round, s.done, s.condition()) }
				random := mathrand.New(mathrand.NewPCG(uint64(at), uint64(round)))
				if random.IntN(2) == 0 {
					s.Expect(s.sim.SetQuirk("1", simulator.CertificateCut, 1)).To(Succeed())
				}
				s.killAt, s.after = at, round%2 == 0
				s.ask("1")
				s.replace("1")
				s.Expect(s.run(why)).To(Equal(reason.Current), why())
				s.signed(why())
				s.Expect(s.bmcPassword()).NotTo(Equal(original), why())
				s.Expect(s.sim.Logins()[accounts.Wrong]).To(BeNumerically("<=", 1), why())
				s.Expect(s.condition()).To(HaveField("Reason", "Current"), why())
				s.http.Close()
			}
		})
	}
}
