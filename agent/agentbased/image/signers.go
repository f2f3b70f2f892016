package image

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"slices"
	"time"

	"sigs.k8s.io/yaml"
)

// The authorities of a release's cluster that its installer takes when they are there: one
// that signs for administrators, and those that sign for the API, by each of its ways.
const adminSigner = "admin-kubeconfig-signer"

var apiSigners = []string{"kube-apiserver-lb-signer", "kube-apiserver-localhost-signer", "kube-apiserver-service-network-signer"}

const (
	signerLife = 10 * 365 * 24 * time.Hour
	adminLife  = 365 * 24 * time.Hour
	// backdate allows for hosts whose clocks are behind.
	backdate = time.Hour
	rsaBits  = 2048
)

// newSigners makes them. The installer takes RSA keys in the form of PKCS #1.
func newSigners(now time.Time) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range append([]string{adminSigner}, apiSigners...) {
		key, err := rsa.GenerateKey(rand.Reader, rsaBits)
		if err != nil {
			return nil, fmt.Errorf("make the key of %s: %w", name, err)
		}
		template, err := certificate(name, now, signerLife)
		if err != nil {
			return nil, err
		}
		template.Subject.OrganizationalUnit = []string{"openshift"}
		template.IsCA, template.BasicConstraintsValid = true, true
		template.KeyUsage = x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign
		der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
		if err != nil {
			return nil, fmt.Errorf("sign the certificate of %s: %w", name, err)
		}
		files[name+".crt"] = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
		files[name+".key"] = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	}
	return files, nil
}

// certificate is one with a random serial number.
func certificate(name string, now time.Time, life time.Duration) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("draw a serial number: %w", err)
	}
	return &x509.Certificate{SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: now.Add(-backdate), NotAfter: now.Add(life)}, nil
}

// signersKubeconfig is an administrator's access to the cluster's API at server (a URL),
// valid for one year from now.
func signersKubeconfig(files map[string][]byte, name, server string, now time.Time) ([]byte, error) {
	var signer tls.Certificate
	for _, one := range append(slices.Clone(apiSigners), adminSigner) {
		var err error
		if signer, err = tls.X509KeyPair(files[one+".crt"], files[one+".key"]); err != nil {
			return nil, fmt.Errorf("%s.crt and %s.key: %w", one, one, err)
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the administrator's key: %w", err)
	}
	template, err := certificate("system:admin", now, adminLife)
	if err != nil {
		return nil, err
	}
	template.Subject.Organization = []string{"system:masters"}
	template.KeyUsage, template.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	der, err := x509.CreateCertificate(rand.Reader, template, signer.Leaf, key.Public(), signer.PrivateKey.(crypto.Signer))
	if err != nil {
		return nil, fmt.Errorf("sign the administrator's certificate: %w", err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encode the administrator's key: %w", err)
	}
	var trusted []byte
	for _, one := range apiSigners {
		trusted = append(trusted, files[one+".crt"]...)
	}
	type object map[string]any
	return yaml.Marshal(object{
		"apiVersion": "v1", "kind": "Config", "current-context": "admin",
		"clusters": []object{{"name": name, "cluster": object{"server": server, "certificate-authority-data": trusted}}},
		"users": []object{{"name": "admin", "user": object{
			"client-certificate-data": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
			"client-key-data":         pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: private}),
		}}},
		"contexts": []object{{"name": "admin", "context": object{"cluster": name, "user": "admin"}}},
	})
}
