package auth

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
	"io/fs"
	"math/big"
	"os"
)

// LocalKey signs local tokens, where nobody has handed in the public key of tokens that
// were made before. Its tokens are the same each time.
type LocalKey struct{ key *ecdsa.PrivateKey }

const localBlock = "EC PRIVATE KEY"

// LoadLocalKey reads the key file; a missing one is made, as [LoadSecret] does. A damaged
// one is an error: tokens that it has signed are in use.
func LoadLocalKey(path string) (LocalKey, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newLocalKey(path)
	}
	if err != nil {
		return LocalKey{}, fmt.Errorf("key of local tokens: %w", err)
	}
	return parseLocalKey(path, raw)
}

func parseLocalKey(path string, raw []byte) (LocalKey, error) {
	block, _ := pem.Decode(raw)
	if block == nil || block.Type != localBlock {
		return LocalKey{}, fmt.Errorf("key of local tokens: %s has no PEM block %s: restore it, or remove it to make a new one", path, localBlock)
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil || key.Curve != elliptic.P256() {
		return LocalKey{}, fmt.Errorf("key of local tokens: %s is no key of the curve P-256: restore it, or remove it to make a new one", path)
	}
	return LocalKey{key}, nil
}

func newLocalKey(path string) (LocalKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return LocalKey{}, fmt.Errorf("key of local tokens: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return LocalKey{}, fmt.Errorf("key of local tokens: %w", err)
	}
	kept, err := keepSecret(path, pem.EncodeToMemory(&pem.Block{Type: localBlock, Bytes: der}))
	if err != nil {
		return LocalKey{}, fmt.Errorf("key of local tokens: %w", err)
	}
	if !kept {
		return LoadLocalKey(path) // another one was faster
	}
	return LocalKey{key}, nil
}

// String keeps the key out of logs.
func (LocalKey) String() string { return "[key of local tokens]" }

// GoString keeps the key out of logs.
func (LocalKey) GoString() string { return "[key of local tokens]" }

// Local checks the tokens of the key.
func (k LocalKey) Local() Local { return Local{&k.key.PublicKey} }

// Token returns the token of the scheme, which does not end: the hub ends with the
// installation.
func (k LocalKey) Token(s Scheme) (string, error) {
	claims, err := json.Marshal(map[string]string{"auth_scheme": string(s)})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"ES256","typ":"JWT"}`)) + "." + encode(claims)
	digest := sha256.Sum256([]byte(text))
	// Without randomness the signature follows from key and text alone (RFC 6979).
	der, err := k.key.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return "", fmt.Errorf("sign a local token: %w", err)
	}
	var numbers struct{ R, S *big.Int }
	if _, err := asn1.Unmarshal(der, &numbers); err != nil {
		return "", fmt.Errorf("sign a local token: %w", err)
	}
	raw := make([]byte, 2*half)
	numbers.R.FillBytes(raw[:half])
	numbers.S.FillBytes(raw[half:])
	return text + "." + encode(raw), nil
}
