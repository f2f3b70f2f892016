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
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/localtoken"
)

// ErrScheme means that a token is good, and for others than it was shown for. It is an
// [ErrInvalid].
var ErrScheme = fmt.Errorf("%w: it is of another scheme", ErrInvalid)

// ErrEnded means that a token was good, and is not any more. It is an [ErrInvalid].
var ErrEnded = fmt.Errorf("%w: its time is over", ErrInvalid)

// Local checks JSON web tokens that were signed by ES256: those of an installation without a
// hub outside (AUTH_TYPE agent-installer-local), which are signed before the hub runs and
// have the claim auth_scheme, and those of a [Pair]. It has public keys only. The zero value
// accepts nothing.
type Local struct{ keys []*ecdsa.PublicKey }

// maxLocal bounds what is looked at.
const maxLocal = 8192

// ParseLocal reads the public key as the hub's settings have it (EC_PUBLIC_KEY_PEM): PEM,
// or PEM in base64. Where there are several, tokens of each of them are good.
func ParseLocal(text string) (Local, error) {
	var l Local
	for block, rest := pem.Decode(localtoken.Unwrap(text)); block != nil; block, rest = pem.Decode(rest) {
		found, err := x509.ParsePKIXPublicKey(block.Bytes)
		if err != nil {
			return Local{}, fmt.Errorf("PEM block %s: %w", block.Type, err)
		}
		key, ok := found.(*ecdsa.PublicKey)
		if !ok || key.Curve != elliptic.P256() {
			return Local{}, errors.New("it is no key of the curve P-256, which ES256 needs")
		}
		l.keys = append(l.keys, key)
	}
	if len(l.keys) == 0 {
		return Local{}, errors.New("it is neither PEM nor PEM in base64")
	}
	return l, nil
}

// LocalOf checks the tokens of a key.
func LocalOf(key localtoken.Key) Local { return Local{[]*ecdsa.PublicKey{key.Public()}} }

// Check tells whether the token is good for the scheme at this moment: nil, [ErrMissing],
// [ErrEnded], [ErrScheme] or [ErrInvalid].
func (l Local) Check(token string, scheme localtoken.Scheme, now time.Time) error {
	var claims struct {
		Scheme localtoken.Scheme `json:"auth_scheme"`
	}
	if err := l.read(token, now, &claims); err != nil {
		return err
	}
	switch claims.Scheme {
	case scheme:
		return nil
	case localtoken.User, localtoken.Agent, localtoken.Watcher:
		return ErrScheme
	}
	return ErrInvalid
}

// read decodes the claims of a token that is good at this moment; else the error is
// [ErrMissing], [ErrEnded] or [ErrInvalid].
func (l Local) read(token string, now time.Time, claims any) error {
	if token == "" {
		return ErrMissing
	}
	if !l.Signed(token) {
		return ErrInvalid
	}
	var times struct {
		Exp *float64 `json:"exp"`
		Nbf *float64 `json:"nbf"`
	}
	if errors.Join(claimed(token, &times), claimed(token, claims)) != nil {
		return ErrInvalid
	}
	seconds := float64(now.Unix())
	switch {
	case times.Exp != nil && seconds >= *times.Exp:
		return ErrEnded
	case times.Nbf != nil && seconds < *times.Nbf:
		return ErrInvalid
	}
	return nil
}

// Signed tells whether one of the keys has signed the token, whatever it says.
func (l Local) Signed(token string) bool {
	parts := strings.Split(token, ".")
	if len(token) > maxLocal || len(parts) != 3 {
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
	return slices.ContainsFunc(l.keys, func(key *ecdsa.PublicKey) bool { return ecdsa.Verify(key, digest[:], r, s) })
}

// claimed decodes what a token says, whoever has signed it.
func claimed(token string, claims any) error {
	parts := strings.Split(token, ".")
	if len(token) > maxLocal || len(parts) != 3 {
		return ErrInvalid
	}
	return part(parts[1], claims)
}

// part decodes one of the two JSON parts of a token.
func part(text string, out any) error {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, out)
}
