// Package token makes bootstrap tokens: what a host proves with that it may ask for its
// first certificate. A token has an end, after which the cluster forgets it.
package token

import (
	"crypto/rand"
	"encoding/json"
	"regexp"
	"time"
)

// Life is how long a token can be used.
const Life = 24 * time.Hour

// fresh is how much of its life a token must have left to be given to another host.
const fresh = Life / 2

// Group is the one whose members kubeadm lets join.
const Group = "system:bootstrappers:kubeadm:default-node-token"

// alphabet is that of tokens. Its length divides 252, so that bytes below that are drawn evenly.
const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

const (
	idLength     = 6
	secretLength = 16
)

var shape = regexp.MustCompile(`^[a-z0-9]{6}\.[a-z0-9]{16}$`)

// Token opens the API to a host that joins.
type Token struct {
	// Text is ID.SECRET.
	Text string `json:"token"`
	// Expires is when it ends at the earliest. That of an installation begins its life only
	// when kubeadm initialises the cluster.
	Expires time.Time `json:"expires"`
}

// New makes a token.
func New(now time.Time) Token {
	return Token{Text: draw(idLength) + "." + draw(secretLength), Expires: now.Add(Life).UTC().Truncate(time.Second)}
}

// draw is random text of the alphabet.
func draw(length int) string {
	const even = 252 // of 256 values, the most that is a multiple of 36
	text := make([]byte, 0, length)
	for len(text) < length {
		var b [32]byte
		_, _ = rand.Read(b[:]) // never fails
		for _, one := range b {
			if one < even && len(text) < length {
				text = append(text, alphabet[int(one)%len(alphabet)])
			}
		}
	}
	return string(text)
}

// Reuse is the kept token when enough of its life is left, else a new one.
func Reuse(kept []byte, now time.Time) Token {
	var t Token
	if json.Unmarshal(kept, &t) == nil && shape.MatchString(t.Text) && t.Expires.Sub(now) >= fresh {
		return t
	}
	return New(now)
}

// Keep is what [Reuse] reads.
func (t Token) Keep() ([]byte, error) { return json.Marshal(t) }
