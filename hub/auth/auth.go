// Package auth makes and checks the tokens that agents send to the hub.
//
// A token is bound to one infra-env and names it: it opens nothing else. One that is
// in an image for all hosts of the infra-env registers hosts; one that is in the image
// of a single machine, or was given for such a registration, is a host's own and speaks
// for that host alone. Tokens are made from the hub's key, the infra-env's token
// generation and what they name, so the same token comes out after a restart and in
// every replica (live images that carry it stay the same), and raising the generation
// revokes every token that was made before.
package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// prefix tells our tokens apart from others in configuration files and reports.
const prefix = "ifa1."

// maxToken bounds what is looked at.
const maxToken = 1024

// minKey is the shortest key in bytes.
const minKey = 32

// Errors of [Key.Check]. They are told apart in logs only: a caller without a
// good token learns nothing.
var (
	ErrMissing = errors.New("no agent token")
	ErrInvalid = errors.New("agent token is not valid")
)

// Claims are what a token says about its bearer.
type Claims struct {
	// InfraEnvID is the only infra-env that the token opens.
	InfraEnvID string `json:"infra_env_id"`
	// Generation is the infra-env's token generation when the token was made.
	Generation int64 `json:"generation"`
	// Machine is whose image the token is in: it speaks for the host that registers with
	// it first. Empty for all hosts of the infra-env.
	Machine string `json:"machine,omitempty"`
	// HostID is the only host that the token speaks for, and Serial the registration that
	// it was given for; empty for tokens of images.
	HostID string `json:"host_id,omitempty"`
	Serial int64  `json:"serial,omitempty"`
}

// Key signs tokens. The zero value signs and accepts nothing.
type Key struct {
	secret []byte
	// pair signs and checks tokens of agents and clusters in the place of secret; nil for none.
	pair *Pair
}

// NewKey makes a key of at least 32 secret bytes.
func NewKey(secret []byte) (Key, error) {
	if len(secret) < minKey {
		return Key{}, fmt.Errorf("token key: has %d bytes, want at least %d", len(secret), minKey)
	}
	return Key{secret: append([]byte(nil), secret...)}, nil
}

// With returns the key that leaves tokens of agents and clusters to the pair. Tokens in
// addresses, of images and signed URLs, stay its own: they are short, and open less.
func (k Key) With(pair Pair) Key {
	k.pair = &pair
	return k
}

// LoadKey reads the key file as [LoadSecret] does.
func LoadKey(path string) (Key, error) {
	secret, err := LoadSecret(path)
	if err != nil {
		return Key{}, fmt.Errorf("token key: %w", err)
	}
	return NewKey(secret)
}

// String keeps the secret out of logs.
func (Key) String() string { return "[token key]" }

// GoString keeps the secret out of logs.
func (Key) GoString() string { return "[token key]" }

// Token returns the token for the claims.
func (k Key) Token(c Claims) (string, error) {
	if len(k.secret) == 0 {
		return "", errors.New("token key: none is set")
	}
	if k.pair != nil {
		return k.pair.private.Sign(c)
	}
	payload, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	start, signed := prefix, payload
	if c.Own() {
		start, signed = hostPrefix, append([]byte(hostPrefix), payload...)
	}
	return start + base64.RawURLEncoding.EncodeToString(payload) + "." + base64.RawURLEncoding.EncodeToString(k.sign(signed)), nil
}

// Check returns the claims of a good token. Signatures are compared in
// constant time; whether the infra-env and its generation still exist is the
// caller's to check.
func (k Key) Check(token string) (Claims, error) {
	if token == "" {
		return Claims{}, ErrMissing
	}
	if k.pair != nil {
		return k.pair.agent(token)
	}
	body, found := strings.CutPrefix(token, prefix)
	if !found {
		body, found = strings.CutPrefix(token, hostPrefix)
	}
	encoded, _, split := strings.Cut(body, ".")
	if !found || !split || len(token) > maxToken || len(k.secret) == 0 {
		return Claims{}, ErrInvalid
	}
	payload, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return Claims{}, ErrInvalid
	}
	var c Claims
	if err := json.Unmarshal(payload, &c); err != nil || c.InfraEnvID == "" {
		return Claims{}, ErrInvalid
	}
	// Comparing the whole text leaves no second spelling of a token.
	want, err := k.Token(c)
	if err != nil || !hmac.Equal([]byte(token), []byte(want)) {
		return Claims{}, ErrInvalid
	}
	return c, nil
}

func (k Key) sign(payload []byte) []byte {
	mac := hmac.New(sha256.New, k.secret)
	mac.Write([]byte(prefix))
	mac.Write(payload)
	return mac.Sum(nil)
}

// IsZero reports whether there is no key.
func (k Key) IsZero() bool { return len(k.secret) == 0 }
