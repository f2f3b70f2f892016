package auth

import (
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// imagePrefix starts tokens that open nothing but images.
const imagePrefix = "ifi1."

// imageMAC is the length of such a token's signature in bytes: the token is part
// of an address, and BMCs take short ones only.
const imageMAC = 16

// ImageToken returns a token that opens the live images of an infra-env, and
// nothing of the hub's API. It has 49 characters, 59 after a revocation, and is as
// stable as the agents' token.
func (k Key) ImageToken(c Claims) (string, error) {
	if k.IsZero() {
		return "", fmt.Errorf("token key: none is set")
	}
	id, err := uuid.Parse(c.InfraEnvID)
	if err != nil {
		return "", fmt.Errorf("infra-env id: %w", err)
	}
	payload := binary.AppendUvarint(id[:], uint64(c.Generation))
	return imagePrefix + base64.RawURLEncoding.EncodeToString(append(payload, k.signImage(payload)...)), nil
}

func (k Key) signImage(payload []byte) []byte {
	return k.sign(append([]byte(imagePrefix), payload...))[:imageMAC]
}

// CheckImage returns the claims of a good image token, or [ErrInvalid]. Whether
// the infra-env and its generation still exist is the caller's to check.
func (k Key) CheckImage(token string) (Claims, error) {
	body, found := strings.CutPrefix(token, imagePrefix)
	raw, err := base64.RawURLEncoding.DecodeString(body)
	if !found || err != nil || len(token) > maxToken || k.IsZero() || len(raw) < len(uuid.UUID{})+1+imageMAC {
		return Claims{}, ErrInvalid
	}
	payload := raw[:len(raw)-imageMAC]
	generation, n := binary.Uvarint(payload[len(uuid.UUID{}):])
	if n <= 0 || n != len(payload)-len(uuid.UUID{}) {
		return Claims{}, ErrInvalid
	}
	c := Claims{InfraEnvID: uuid.UUID(payload[:len(uuid.UUID{})]).String(), Generation: int64(generation)}
	// Comparing the whole text leaves no second spelling of a token.
	want, err := k.ImageToken(c)
	if err != nil || !hmac.Equal([]byte(token), []byte(want)) {
		return Claims{}, ErrInvalid
	}
	return c, nil
}
