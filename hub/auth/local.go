package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/localtoken"
)

// ErrEnded means that a token was good, and is not any more. It is an [ErrInvalid].
var ErrEnded = fmt.Errorf("%w: its time is over", ErrInvalid)

// Local checks the tokens of an installation without a hub outside (AUTH_TYPE
// agent-installer-local): JSON web tokens, signed by ES256 before the hub runs, with the
// claim auth_scheme. The hub has the public key only. The zero value accepts nothing.
type Local struct{ key *ecdsa.PublicKey }

// maxLocal bounds what is looked at.
const maxLocal = 8192

// ParseLocal reads the public key as the hub's settings have it (EC_PUBLIC_KEY_PEM): PEM,
// or PEM in base64.
func ParseLocal(text string) (Local, error) {
	raw := []byte(strings.TrimSpace(text))
	if decoded, err := base64.StdEncoding.DecodeString(string(raw)); err == nil {
		raw = decoded
	}
	block, _ := pem.Decode(raw)
	if block == nil {
		return Local{}, errors.New("it is neither PEM nor PEM in base64")
	}
	found, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return Local{}, fmt.Errorf("PEM block %s: %w", block.Type, err)
	}
	key, ok := found.(*ecdsa.PublicKey)
	if !ok || key.Curve != elliptic.P256() {
		return Local{}, errors.New("it is no key of the curve P-256, which ES256 needs")
	}
	return Local{key}, nil
}

// LocalOf checks the tokens of a key.
func LocalOf(key localtoken.Key) Local { return Local{key.Public()} }

// Check tells whether the token is good for the scheme at this moment: nil, [ErrMissing],
// [ErrEnded] or [ErrInvalid].
func (l Local) Check(token string, scheme localtoken.Scheme, now time.Time) error {
	if token == "" {
		return ErrMissing
	}
	if !l.Signed(token) {
		return ErrInvalid
	}
	var claims struct {
		Scheme localtoken.Scheme `json:"auth_scheme"`
		Exp    *float64          `json:"exp"`
		Nbf    *float64          `json:"nbf"`
	}
	if err := part(strings.Split(token, ".")[1], &claims); err != nil || claims.Scheme == "" || claims.Scheme != scheme {
		return ErrInvalid
	}
	seconds := float64(now.Unix())
	switch {
	case claims.Exp != nil && seconds >= *claims.Exp:
		return ErrEnded
	case claims.Nbf != nil && seconds < *claims.Nbf:
		return ErrInvalid
	}
	return nil
}

// Signed tells whether the key has signed the token, whatever it says.
func (l Local) Signed(token string) bool {
	parts := strings.Split(token, ".")
	if l.key == nil || len(token) > maxLocal || len(parts) != 3 {
		return false
	}
	var header struct {
		Alg  string          `json:"alg"`
		Crit json.RawMessage `json:"crit"`
	}
	// The algorithm is ours to choose, never the token's.
	if err := part(parts[0], &header); err != nil || header.Alg != "ES256" || header.Crit != nil {
		return false
	}
	signature, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	if err != nil || len(signature) != 2*localtoken.Half {
		return false
	}
	r, s := new(big.Int).SetBytes(signature[:localtoken.Half]), new(big.Int).SetBytes(signature[localtoken.Half:])
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	return ecdsa.Verify(l.key, digest[:], r, s)
}

// part decodes one of the two JSON parts of a token.
func part(text string, out any) error {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}
