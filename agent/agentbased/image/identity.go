package image

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/api/localtoken"
)

// Identity is the key of one installation: it signs the tokens that are put into the image,
// and the infra-env's id follows from it. An image that is made again with the same identity
// has the same bytes.
type Identity struct {
	key localtoken.Key
	// owner is what the output folder is to say of the cluster whose it is; nil for what the plan says.
	owner map[string]string
	// tls are the cluster's certificates by their names below the host's folder of them; none
	// where the hub makes its own.
	tls map[string][]byte
	// password is the administrator's of a release's cluster, when it has just been made; tls has
	// its hash.
	password string
	// kubeconfig is issued by them.
	kubeconfig []byte
	// ends is when the tokens end; zero for never.
	ends time.Time
}

// NewIdentity makes one.
func NewIdentity() (Identity, error) {
	key, err := localtoken.New()
	return Identity{key: key}, err
}

// ParseIdentity reads what [Identity.PEM] wrote. Errors do not quote it.
func ParseIdentity(text []byte) (Identity, error) {
	key, err := localtoken.Parse(text)
	return Identity{key: key}, err
}

// PEM is its file, which is secret.
func (i Identity) PEM() ([]byte, error) { return i.key.PEM() }

// String keeps the key out of logs.
func (Identity) String() string { return "[identity]" }

// GoString keeps the key out of logs.
func (Identity) GoString() string { return "[identity]" }

// public is the key by which the hub verifies tokens.
func (i Identity) public() ([]byte, error) { return x509.MarshalPKIXPublicKey(i.key.Public()) }

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

// Token is that of the scheme; the same identity gives the same.
func (i Identity) Token(s localtoken.Scheme) (string, error) { return i.key.TokenUntil(s, i.ends) }
