package image

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// Scheme says what the bearer of a token may do at the hub.
type Scheme string

// Schemes of the authentication agent-installer-local.
const (
	UserAuth    Scheme = "userAuth"
	AgentAuth   Scheme = "agentAuth"
	WatcherAuth Scheme = "watcherAuth"
)

// Identity is the key of one installation: it signs the tokens that are put into the image,
// and the infra-env's id follows from it. An image that is made again with the same identity
// has the same bytes.
type Identity struct {
	key *ecdsa.PrivateKey
	// tls are the cluster's certificates by their names below the host's folder of them; none
	// where the hub makes its own.
	tls map[string][]byte
	// kubeconfig is issued by them.
	kubeconfig []byte
}

// NewIdentity makes one.
func NewIdentity() (Identity, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return Identity{key: key}, err
}

const keyBlock = "EC PRIVATE KEY"

// ParseIdentity reads what [Identity.PEM] wrote. Errors do not quote it.
func ParseIdentity(text []byte) (Identity, error) {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != keyBlock {
		return Identity{}, errors.New("it has no PEM block " + keyBlock)
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil || key.Curve != elliptic.P256() {
		return Identity{}, errors.New("it is no key of the curve P-256")
	}
	return Identity{key: key}, nil
}

// PEM is its file, which is secret.
func (i Identity) PEM() ([]byte, error) {
	raw, err := x509.MarshalECPrivateKey(i.key)
	return pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: raw}), err
}

// String keeps the key out of logs.
func (Identity) String() string { return "[identity]" }

// GoString keeps the key out of logs.
func (Identity) GoString() string { return "[identity]" }

// public is the key by which the hub verifies tokens.
func (i Identity) public() ([]byte, error) { return x509.MarshalPKIXPublicKey(&i.key.PublicKey) }

// namespace is of the ids of infra-envs.
var namespace = uuid.MustParse("3f3ae07c-6a0c-5b0b-9d0e-2b1f8a6f3c55")

// InfraEnvID is the id of the infra-env, which is known before the hub runs.
func (i Identity) InfraEnvID() (string, error) {
	public, err := i.public()
	return uuid.NewSHA1(namespace, public).String(), err
}

// PublicKey is the key as the hub's settings have it: PEM in base64.
func (i Identity) PublicKey() (string, error) {
	public, err := i.public()
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})), err
}

// Token is a JSON web token (ES256) of the scheme that does not end: the hub ends with the
// installation. The same identity gives the same token (RFC 6979).
func (i Identity) Token(s Scheme) (string, error) {
	claims, err := json.Marshal(map[string]string{"auth_scheme": string(s)})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." + encode(claims)
	digest := sha256.Sum256([]byte(text))
	// Without randomness the signature follows from key and text alone.
	der, err := i.key.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return "", fmt.Errorf("sign a token: %w", err)
	}
	raw, err := fixed(der)
	return text + "." + encode(raw), err
}
