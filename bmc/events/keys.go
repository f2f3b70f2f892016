package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strconv"
	"strings"
)

// Prefix is the path below which the receiver takes deliveries.
const Prefix = "/redfish/events/"

// contextPrefix marks the contexts of our subscriptions.
const contextPrefix = "ironflow."

// keyBytes is how long each of the two parts of a key is: 192 bits, 32 characters.
const keyBytes = 24

// minSecret is the least length of the server's secret, in bytes.
const minSecret = 32

// Keys derives the key of each host from one secret of the server. Every replica
// with that secret comes to the same ones, and none is stored.
type Keys struct{ secret []byte }

// NewKeys makes keys from a secret of at least 32 bytes.
func NewKeys(secret []byte) (Keys, error) {
	if len(secret) < minSecret {
		return Keys{}, fmt.Errorf("the secret for addresses of BMC events has %d bytes: give it at least %d random ones", len(secret), minSecret)
	}
	return Keys{secret: append([]byte(nil), secret...)}, nil
}

// Key is what a BMC has to know to tell us something about one host. It is secret.
type Key struct {
	// Part is the last part of the address, Context goes along with each delivery.
	Part, Context string
}

// Of returns the key of a host. Another generation is another key: that is how a
// key that became known is replaced. Host is best the host's UID: a host that is
// made anew under its old name gets another key then.
func (k Keys) Of(host string, generation int) Key {
	return Key{Part: k.derive("path", host, generation), Context: contextPrefix + k.derive("context", host, generation)}
}

func (k Keys) derive(use, host string, generation int) string {
	mac := hmac.New(sha256.New, k.secret)
	// A host's name may hold anything, hence it is last.
	mac.Write([]byte("ironflow bmc events\x00" + use + "\x00" + strconv.Itoa(generation) + "\x00" + host))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:keyBytes])
}

// Seal is a mark that nobody without the server's secret can put on a text about a host.
// The host is best its UID, which has no zero byte.
func (k Keys) Seal(host, text string) string {
	return k.derive("seal", host+"\x00"+text, 0)
}

// Sealed reports whether a mark is that of a text about a host.
func (k Keys) Sealed(host, text, seal string) bool {
	return subtle.ConstantTimeCompare([]byte(seal), []byte(k.Seal(host, text))) == 1
}

// maxDestination is the longest destination that OpenBMC takes.
const maxDestination = 2000

// Destination is the address that a BMC is given; base is how BMCs reach the
// receiver, as https://ironflow.example:8092.
func (k Key) Destination(base string) (string, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil:
		return "", errors.New("the address of the receiver of BMC events is not a URL: give it as https://HOST:PORT")
	case u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return "", fmt.Errorf("the address of the receiver of BMC events, %q, must be https://HOST[:PORT], without credentials and query", u.Redacted())
	}
	destination := strings.TrimSuffix(base, "/") + Prefix + k.Part
	if len(destination) > maxDestination {
		return "", fmt.Errorf("the address of the receiver of BMC events makes destinations of more than %d characters, which BMCs refuse", maxDestination)
	}
	return destination, nil
}

// redacted is shown instead of keys.
const redacted = "[redacted]"

// String implements fmt.Stringer; it hides the key.
func (k Key) String() string { return redacted }

// GoString implements fmt.GoStringer; it hides the key.
func (k Key) GoString() string { return redacted }

// LogValue implements slog.LogValuer; it hides the key.
func (k Key) LogValue() slog.Value { return slog.StringValue(redacted) }
