package seal

import (
	"fmt"
	"strings"
)

// Text is a secret within a record, sealed for its place. What was stored before secrets
// were sealed is plain; it is read all the same.
type Text string

// String hides the secret, or what is sealed of it.
func (Text) String() string { return "[secret]" }

// GoString hides the secret, or what is sealed of it.
func (Text) GoString() string { return "[secret]" }

// Plain tells that there is a secret that was never sealed.
func (t Text) Plain() bool { return t != "" && !t.isSealed() }

// isSealed tells a sealed text from one that is plain. No JSON document begins like one.
func (t Text) isSealed() bool {
	form, _, found := strings.Cut(string(t), ".")
	return found && form == version
}

// Reveal is the secret; empty for none.
func (k Keys) Reveal(place string, t Text) (string, error) {
	if !t.isSealed() {
		return string(t), nil
	}
	plain, err := k.Open(place, string(t))
	return string(plain), err
}

// Keep is what a record has of a secret from now on. A secret that it has already stays as
// it is, so that the record does not change; another one, and one that cannot be opened any
// more, is sealed.
func (k Keys) Keep(place string, have Text, secret string) (Text, error) {
	if secret == "" {
		return "", nil
	}
	if had, err := k.Reveal(place, have); err == nil && had == secret {
		return have, nil
	}
	sealed, err := k.Seal(place, []byte(secret))
	if err != nil {
		return "", fmt.Errorf("%s: %w", place, err)
	}
	return Text(sealed), nil
}

// Fresh tells that a secret is sealed with the first key, or that there is none.
func (k Keys) Fresh(t Text) bool { return t == "" || k.Current(string(t)) }

// Renew seals a secret with the first key where it is plain, or was sealed with another
// one; done tells that there was something to do.
func (k Keys) Renew(place string, have Text) (_ Text, done bool, err error) {
	if k.Fresh(have) {
		return have, false, nil
	}
	secret, err := k.Reveal(place, have)
	if err != nil {
		return have, false, err
	}
	sealed, err := k.Seal(place, []byte(secret))
	if err != nil {
		return have, false, fmt.Errorf("%s: %w", place, err)
	}
	return Text(sealed), true, nil
}
