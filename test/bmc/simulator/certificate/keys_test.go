package certificate_test

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator/certificate"
)

func TestReplace(t *testing.T) {
	g := NewWithT(t)
	now := time.Now()
	keys, err := certificate.SelfSigned([]string{"bmc.test", "127.0.0.1"}, now)
	g.Expect(err).NotTo(HaveOccurred())
	issuer, err := certificate.SelfSigned([]string{"issuer"}, now)
	g.Expect(err).NotTo(HaveOccurred())
	parent, err := issuer.Leaf()
	g.Expect(err).NotTo(HaveOccurred())

	first, err := keys.Leaf()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first.VerifyHostname("127.0.0.1")).To(Succeed())

	text, err := keys.Request(pkix.Name{CommonName: "new"}, []string{"new.test"})
	g.Expect(err).NotTo(HaveOccurred())
	block, _ := pem.Decode([]byte(text))
	request, err := x509.ParseCertificateRequest(block.Bytes)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(request.CheckSignature()).To(Succeed())
	template := &x509.Certificate{SerialNumber: big.NewInt(7), Subject: request.Subject, DNSNames: request.DNSNames, NotBefore: now, NotAfter: now.AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, request.PublicKey, issuer.Current().PrivateKey)
	g.Expect(err).NotTo(HaveOccurred())

	g.Expect(keys.Replace([]byte("nonsense"))).To(MatchError(ContainSubstring("no certificate")))
	g.Expect(keys.Replace([]byte(issuer.PEM()))).To(MatchError(ContainSubstring("not of the last signing request")))
	still, _ := keys.Leaf()
	g.Expect(still.SerialNumber).To(Equal(first.SerialNumber))
	g.Expect(keys.Replace(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))).To(Succeed())
	leaf, err := keys.Leaf()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(leaf.VerifyHostname("new.test")).To(Succeed())

	key, err := x509.MarshalPKCS8PrivateKey(issuer.Current().PrivateKey)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(keys.Replace([]byte(issuer.PEM()+string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}))))).To(Succeed(), "with its key")
}
