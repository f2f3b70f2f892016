// Package authorities makes what the nodes of a Kubernetes cluster trust each other by:
// the three certificate authorities that kubeadm knows and the key pair that signs
// service account tokens. kubeadm takes them as they are when it finds them in its
// folder, so that no certificate is ever copied from host to host.
//
// The package also issues the administrator's kubeconfig. It keeps nothing: a [Set] is
// turned into files and back by its owner.
package authorities

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/pki"
)

// life is how long the authorities are valid: that of kubeadm's own.
const life = 10 * 365 * 24 * time.Hour

// Names of authorities: their files are NAME.crt and NAME.key below kubeadm's folder.
const (
	// Cluster signs for the API, its clients and the kubelets.
	Cluster = "ca"
	// FrontProxy signs for the aggregation layer.
	FrontProxy = "front-proxy-ca"
	// Etcd signs for etcd, its peers and its clients.
	Etcd = "etcd/ca"
)

// commonNames are those that kubeadm gives to its own authorities.
var commonNames = map[string]string{Cluster: "kubernetes", FrontProxy: "front-proxy-ca", Etcd: "etcd-ca"}

// Files of the service accounts' key pair.
const (
	serviceAccountKey    = "sa.key"
	serviceAccountPublic = "sa.pub"
)

// Set is all authorities of a cluster.
type Set struct {
	files map[string][]byte
	ca    *pki.Authority
	leaf  *x509.Certificate
}

// New makes authorities that are valid from now on.
func New(now time.Time) (*Set, error) {
	files := map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(commonNames)) {
		_, pair, err := pki.NewAuthority(commonNames[name], now, life)
		if err != nil {
			return nil, fmt.Errorf("authority %s of the cluster: %w", name, err)
		}
		files[name+".crt"], files[name+".key"] = pair.Cert, pair.Key
	}
	if err := serviceAccounts(files); err != nil {
		return nil, err
	}
	return Parse(files)
}

// serviceAccounts adds the key pair of service account tokens.
func serviceAccounts(files map[string][]byte) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("key of service accounts: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("key of service accounts: %w", err)
	}
	public, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		return fmt.Errorf("key of service accounts: %w", err)
	}
	files[serviceAccountKey] = pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})
	files[serviceAccountPublic] = pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})
	return nil
}

// Parse reads what [Set.Files] gave. Other files are left out.
func Parse(all map[string][]byte) (*Set, error) {
	files := map[string][]byte{}
	for name := range names() {
		if len(all[name]) == 0 {
			return nil, fmt.Errorf("the cluster's authorities: %s is missing", name)
		}
		files[name] = all[name]
	}
	set := &Set{files: files}
	for name := range commonNames {
		authority, err := pki.ParseAuthority(pki.Pair{Cert: files[name+".crt"], Key: files[name+".key"]})
		if err != nil {
			return nil, fmt.Errorf("authority %s of the cluster: %w", name, err)
		}
		if name == Cluster {
			set.ca = authority
		}
	}
	block, _ := pem.Decode(files[Cluster+".crt"])
	if block == nil {
		return nil, errors.New("authority ca of the cluster: no certificate in PEM")
	}
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("authority ca of the cluster: %w", err)
	}
	set.leaf = leaf
	return set, nil
}

// names is every file of a set.
func names() map[string]bool {
	all := map[string]bool{serviceAccountKey: true, serviceAccountPublic: true}
	for name := range commonNames {
		all[name+".crt"], all[name+".key"] = true, true
	}
	return all
}

// Files are all files by their path below kubeadm's folder of certificates: ca.crt,
// ca.key, etcd/ca.crt, sa.key and so on. Those named .key are private.
func (s *Set) Files() map[string][]byte { return maps.Clone(s.files) }

// Certificate is that of the authority that signs for the API, in PEM.
func (s *Set) Certificate() []byte { return s.files[Cluster+".crt"] }

// Hash is what a joining host knows the API's authority by: kubeadm's discovery hash.
func (s *Set) Hash() string {
	sum := sha256.Sum256(s.leaf.RawSubjectPublicKeyInfo)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Private tells that a file of a set is a private key.
func Private(name string) bool { return strings.HasSuffix(name, ".key") }

// PEM tells that a text has a certificate.
func PEM(text string) bool {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return false
	}
	_, err := x509.ParseCertificate(block.Bytes)
	return err == nil
}
