package probe

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
)

// clock holds the BMC's clock against ours. The manager's own is exact to the time
// that its answer took; the header Date is there where the manager shows none.
func (p *probe) clock() {
	seconds, proof := skew(p.manager, p.seen, p.bmc.Connection())
	if proof == "" {
		p.set(unknown(Clock, "neither DateTime of the manager nor the header Date is there"))
		return
	}
	p.report.ClockSkewSeconds = &seconds
	p.set(yes(Clock, fmt.Sprintf("%+d s", seconds), proof))
}

// skew is the BMC's clock less ours in seconds, and what says so.
func skew(m found[manager], seen time.Time, connection client.Connection) (seconds int64, proof string) {
	if at := m.value.DateTime.Time; m.read() && !at.IsZero() && !seen.IsZero() {
		return int64(at.Sub(seen).Round(time.Second) / time.Second), m.path + ": DateTime"
	}
	if connection.Dated {
		return int64(connection.Skew.Round(time.Second) / time.Second), "the header Date"
	}
	return 0, ""
}

// mostNames bounds the names of a certificate that are reported.
const mostNames = 16

// certificate is the one of the handshake; nil without TLS.
func certificate(connection client.Connection) *v1alpha1.Certificate {
	leaf := connection.Leaf
	if leaf == nil {
		return nil
	}
	digest := sha256.Sum256(leaf.Raw)
	out := &v1alpha1.Certificate{
		Subject: bounded(leaf.Subject.String()), Issuer: bounded(leaf.Issuer.String()),
		NotBefore: metav1.NewTime(leaf.NotBefore.UTC()), NotAfter: metav1.NewTime(leaf.NotAfter.UTC()),
		SelfSigned: leaf.Subject.String() == leaf.Issuer.String() && leaf.CheckSignature(leaf.SignatureAlgorithm, leaf.RawTBSCertificate, leaf.Signature) == nil,
		SHA256:     hex.EncodeToString(digest[:]), Key: keyOf(leaf), TLS: tls.VersionName(connection.Version),
	}
	for _, name := range leaf.DNSNames {
		out.Names = append(out.Names, bounded(name))
	}
	for _, ip := range leaf.IPAddresses {
		out.Names = append(out.Names, ip.String())
	}
	out.Names = out.Names[:min(len(out.Names), mostNames)]
	return out
}

// keyOf is the kind and size of a certificate's key.
func keyOf(leaf *x509.Certificate) string {
	switch key := leaf.PublicKey.(type) {
	case *rsa.PublicKey:
		return fmt.Sprintf("RSA %d", key.N.BitLen())
	case *ecdsa.PublicKey:
		return fmt.Sprintf("ECDSA %d", key.Curve.Params().BitSize)
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return leaf.PublicKeyAlgorithm.String()
}
