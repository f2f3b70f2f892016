// Package localtoken makes the tokens of AUTH_TYPE local and agent-installer-local: JSON web
// tokens (RFC 7519), signed by ES256. Those of an installation without a hub outside
// (agent-installer-local) have one claim of meaning, auth_scheme: whoever makes the image of
// the hosts signs them before the hub runs; a hub without such an image signs its own. Those
// of local name what they open, and package hub/auth says how. The hub checks both by
// [Key.Public].
package localtoken

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Scheme is what the bearer of a token may do. The names are the protocol's.
type Scheme string

// The schemes.
const (
	User    Scheme = "userAuth"
	Agent   Scheme = "agentAuth"
	Watcher Scheme = "watcherAuth"
)

// Half is the length in bytes of each of the two numbers of a signature (RFC 7518, 3.4).
const Half = 32

// block is the type of the key's PEM block.
const block = "EC PRIVATE KEY"

// Key signs tokens. It is a secret; the zero value signs nothing.
type Key struct{ key *ecdsa.PrivateKey }

// New makes a key.
func New() (Key, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return Key{key}, err
}

// pkcs8 is the type of the PEM block that other tools write.
const pkcs8 = "PRIVATE KEY"

// Parse reads what [Key.PEM] wrote, or a key in the form PKCS #8; blocks of other types before
// it are passed over. Errors do not quote it.
func Parse(text []byte) (Key, error) {
	for found, rest := pem.Decode(text); found != nil; found, rest = pem.Decode(rest) {
		if found.Type != block && found.Type != pkcs8 {
			continue
		}
		key, err := parse(found)
		if err != nil || key.Curve != elliptic.P256() {
			return Key{}, errors.New("it is no key of the curve P-256")
		}
		return Key{key}, nil
	}
	return Key{}, errors.New("it has no PEM block " + block)
}

func parse(found *pem.Block) (*ecdsa.PrivateKey, error) {
	if found.Type == block {
		return x509.ParseECPrivateKey(found.Bytes)
	}
	key, err := x509.ParsePKCS8PrivateKey(found.Bytes)
	if err != nil {
		return nil, err
	}
	of, is := key.(*ecdsa.PrivateKey)
	if !is {
		return nil, errors.New("it is of another kind")
	}
	return of, nil
}

// Unwrap returns a key's PEM, which settings may have in base64.
func Unwrap(text string) []byte {
	raw := []byte(strings.TrimSpace(text))
	if decoded, err := base64.StdEncoding.DecodeString(string(raw)); err == nil {
		return decoded
	}
	return raw
}

// PEM is the key's file.
func (k Key) PEM() ([]byte, error) {
	raw, err := x509.MarshalECPrivateKey(k.key)
	return pem.EncodeToMemory(&pem.Block{Type: block, Bytes: raw}), err
}

// Public is the key by which tokens are checked.
func (k Key) Public() *ecdsa.PublicKey { return &k.key.PublicKey }

// String keeps the key out of logs.
func (Key) String() string { return "[key of local tokens]" }

// GoString keeps the key out of logs.
func (Key) GoString() string { return "[key of local tokens]" }

// Token returns the token of the scheme, which does not end: the hub ends with the
// installation. The same key gives the same token (RFC 6979).
func (k Key) Token(s Scheme) (string, error) { return k.TokenUntil(s, time.Time{}) }

// TokenUntil returns the token of the scheme that is good until the time; the zero time is
// for ever.
func (k Key) TokenUntil(s Scheme, end time.Time) (string, error) {
	said := map[string]any{"auth_scheme": string(s)}
	if !end.IsZero() {
		said["exp"] = end.Unix()
	}
	return k.Sign(said)
}

// Sign returns a token with the claims, which become JSON. The same key gives the same token.
func (k Key) Sign(said any) (string, error) {
	if k.key == nil {
		return "", errors.New("sign a local token: there is no key")
	}
	claims, err := json.Marshal(said)
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." + encode(claims)
	digest := sha256.Sum256([]byte(text))
	// Without randomness the signature follows from key and text alone.
	der, err := k.key.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return "", fmt.Errorf("sign a local token: %w", err)
	}
	var numbers struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &numbers); err != nil {
		return "", fmt.Errorf("sign a local token: %w", err)
	}
	raw := make([]byte, 2*Half)
	numbers.R.FillBytes(raw[:Half])
	numbers.S.FillBytes(raw[Half:])
	return text + "." + encode(raw), nil
}
