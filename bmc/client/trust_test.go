package client_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

func pemOf(certificate *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
}

func pinOf(certificate *x509.Certificate) string {
	sum := sha256.Sum256(certificate.Raw)
	return hex.EncodeToString(sum[:])
}

func TestTrust(t *testing.T) {
	// The certificate of httptest is its own authority, for 127.0.0.1 and example.com.
	server := httptest.NewUnstartedServer(newFake())
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(server.Close)
	leaf := server.Certificate()
	other := other(NewWithT(t))
	cases := map[string]struct {
		trust client.Trust
		url   string
		now   time.Time
		good  bool
		says  string
	}{
		"nothing given":        {says: "give its CA or its pin"},
		"the CA":               {trust: client.Trust{CA: pemOf(leaf)}, good: true},
		"another CA":           {trust: client.Trust{CA: other}, says: "give its CA or its pin"},
		"several CAs":          {trust: client.Trust{CA: append(append([]byte{}, other...), pemOf(leaf)...)}, good: true},
		"another name":         {trust: client.Trust{CA: pemOf(leaf)}, url: strings.Replace(server.URL, "127.0.0.1", "localhost", 1), says: "not for this address"},
		"expired":              {trust: client.Trust{CA: pemOf(leaf)}, now: leaf.NotAfter.Add(time.Hour), says: "not valid now"},
		"the pin":              {trust: client.Trust{Pin: pinOf(leaf)}, good: true},
		"as openssl writes it": {trust: client.Trust{Pin: colons(pinOf(leaf))}, good: true},
		"the pin, another name": {
			trust: client.Trust{Pin: pinOf(leaf)}, url: strings.Replace(server.URL, "127.0.0.1", "localhost", 1), good: true,
		},
		"another pin":           {trust: client.Trust{Pin: strings.Repeat("ab", 32)}, says: "not the pinned one"},
		"another pin, insecure": {trust: client.Trust{Pin: strings.Repeat("ab", 32), Insecure: true}, says: "not the pinned one"},
		"pin and CA":            {trust: client.Trust{Pin: pinOf(leaf), CA: pemOf(leaf)}, good: true},
		"pin and another CA":    {trust: client.Trust{Pin: pinOf(leaf), CA: other}, says: "give its CA or its pin"},
		"insecure":              {trust: client.Trust{Insecure: true}, good: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			options := quick()
			if !c.now.IsZero() {
				options.Now = func() time.Time { return c.now }
			}
			url := server.URL
			if c.url != "" {
				url = c.url
			}
			it := newClient(t, client.Target{URL: url, Username: user, Password: password, TLS: c.trust}, options)
			err := it.Get(t.Context(), system, &struct{}{})
			if c.good {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(client.KindOf(err)).To(Equal(client.TLS), "%v", err)
				g.Expect(err).To(MatchError(ContainSubstring(c.says)))
			}
			g.Expect(it.Connection().Leaf).To(Equal(leaf), "also one that is not trusted is shown")
			g.Expect(it.Connection().Version).To(BeEquivalentTo(tls.VersionTLS13))
		})
	}
}

// unrelated is an authority that signed nothing.
const unrelated = `-----BEGIN CERTIFICATE-----
MIIBgDCCASWgAwIBAgIUEeD/IAhvJE190F6Mt6wySSNLxowwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJdW5yZWxhdGVkMCAXDTI2MTEyNDEwNDExOVoYDzIxMjYxMDMx
MTA0MTE5WjAUMRIwEAYDVQQDDAl1bnJlbGF0ZWQwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQgEy4AwTovlSm0/Z/FdDVtohNq1KvqAyNSqI0MsrOEZdc4Zy3cwasc
n+ZiTGHDnA6X/o9Q2W3R7GK1XIEb7THAo1MwUTAdBgNVHQ4EFgQUk9RF6k6mAvWr
4sMbRdluwKtciW4wHwYDVR0jBBgwFoAUk9RF6k6mAvWr4sMbRdluwKtciW4wDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAgE/LLkMQ1DgsfIr3XNwT
NmgWJeKLDZXPqD3I7e34zBsCIQCas1aqoiKJQs9qKIDD45Wa3Q2b37VHW2ztM8h3
YbTB/w==
-----END CERTIFICATE-----
`

func parse(g *WithT) *x509.Certificate {
	block, _ := pem.Decode([]byte(unrelated))
	certificate, err := x509.ParseCertificate(block.Bytes)
	g.Expect(err).NotTo(HaveOccurred())
	return certificate
}

func other(g *WithT) []byte { return pemOf(parse(g)) }

func colons(hexadecimal string) string {
	var parts []string
	for i := 0; i < len(hexadecimal); i += 2 {
		parts = append(parts, strings.ToUpper(hexadecimal[i:i+2]))
	}
	return strings.Join(parts, ":")
}

func TestOldTLSAndNone(t *testing.T) {
	g := NewWithT(t)
	old := httptest.NewUnstartedServer(newFake())
	old.Config.ErrorLog = quiet()
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	t.Cleanup(old.Close)
	it := newClient(t, client.Target{URL: old.URL, TLS: client.Trust{Insecure: true}}, quick())
	g.Expect(client.KindOf(it.Get(t.Context(), system, &struct{}{}))).To(Equal(client.TLS))

	plain := httptest.NewServer(newFake())
	t.Cleanup(plain.Close)
	it = newClient(t, client.Target{URL: strings.Replace(plain.URL, "http:", "https:", 1), TLS: client.Trust{Insecure: true}}, quick())
	g.Expect(client.KindOf(it.Get(t.Context(), system, &struct{}{}))).To(Equal(client.TLS))
}

func TestNewRefusesWhatCannotWork(t *testing.T) {
	cases := map[string]struct {
		target client.Target
		says   string
	}{
		"no URL":           {client.Target{}, "https://HOST[:PORT]"},
		"no scheme":        {client.Target{URL: "192.0.2.1"}, "https://HOST[:PORT]"},
		"another scheme":   {client.Target{URL: "ipmi://192.0.2.1"}, "https://HOST[:PORT]"},
		"with a path":      {client.Target{URL: "https://192.0.2.1/redfish/v1"}, "has a path"},
		"with credentials": {client.Target{URL: "https://root:calvin@192.0.2.1"}, "holds credentials"},
		"unreadable":       {client.Target{URL: "https://root:cal vin@192.0.2.1:x"}, "cannot be read"},
		"a port too high":  {client.Target{URL: "https://192.0.2.1:65536"}, "1 to 65535"},
		"no CA":            {client.Target{URL: "https://192.0.2.1", TLS: client.Trust{CA: []byte("x")}}, "PEM"},
		"a short pin":      {client.Target{URL: "https://192.0.2.1", TLS: client.Trust{Pin: "abcd"}}, "64 hexadecimal digits"},
		"no pin":           {client.Target{URL: "https://192.0.2.1", TLS: client.Trust{Pin: strings.Repeat("zz", 32)}}, "64 hexadecimal digits"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := client.New(c.target, client.Options{})
			g.Expect(err).To(MatchError(ContainSubstring(c.says)))
			g.Expect(err.Error()).NotTo(ContainSubstring("cal"))
		})
	}
	for _, url := range []string{"https://192.0.2.1", "https://bmc.example:8443/", "http://[2001:db8::1]:8000", "HTTPS://BMC.example"} {
		_, err := client.New(client.Target{URL: url}, client.Options{})
		NewWithT(t).Expect(err).NotTo(HaveOccurred(), url)
	}
}

func TestUnreachable(t *testing.T) {
	g := NewWithT(t)
	server := httptest.NewServer(newFake())
	url := server.URL
	server.Close()
	it := newClient(t, client.Target{URL: url, Username: user, Password: password}, quick())
	err := it.Get(t.Context(), system, &struct{}{})
	g.Expect(client.KindOf(err)).To(Equal(client.Unreachable))
	g.Expect(err).To(MatchError(ContainSubstring("connection refused")))
}

func TestConnection(t *testing.T) {
	g, f := NewWithT(t), newFake()
	f.paths[system] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", "Thu, 01 Jan 1970 00:00:10 GMT")
		body(w, http.StatusOK, `{}`)
	}
	options := quick()
	options.Now = func() time.Time { return time.Unix(70, 5e8) }
	it := newClient(t, serve(t, f), options)
	g.Expect(it.Connection()).To(Equal(client.Connection{}))
	g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
	g.Expect(it.Connection().Dated).To(BeTrue())
	g.Expect(it.Connection().Skew).To(Equal(-time.Minute))
	g.Expect(it.Connection().Leaf.DNSNames).To(ContainElement("example.com"))
}

// TestAnAddressWithAZone: the zone says where to send, and is no part of what the BMC calls
// itself, in its certificate and in its links.
func TestAnAddressWithAZone(t *testing.T) {
	g, f := NewWithT(t), newFake()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.ParseIP("fe80::1")}}
	leaf, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	g.Expect(err).NotTo(HaveOccurred())
	server := httptest.NewUnstartedServer(f)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{leaf}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)

	var dialed string
	options := quick()
	options.Dial = func(ctx context.Context, network, addr string) (net.Conn, error) {
		dialed = addr
		return (&net.Dialer{}).DialContext(ctx, network, server.Listener.Addr().String())
	}
	target := client.Target{
		URL: "https://[FE80::1%25Eth0]:8443", Username: user, Password: password,
		TLS: client.Trust{CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leaf})},
	}
	it := newClient(t, target, options)
	g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
	g.Expect(dialed).To(Equal("[fe80::1%Eth0]:8443"))
	g.Expect(it.Get(t.Context(), "https://[fe80::1]:8443/redfish/v1/A", &struct{}{})).To(Succeed())
	g.Expect(client.KindOf(it.Get(t.Context(), "https://[fe80::1%25other]:8443/redfish/v1/A", &struct{}{}))).To(Equal(client.Broken))
}
