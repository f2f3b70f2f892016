package client

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
)

// Target says how to reach a BMC.
type Target struct {
	// URL is https://HOST[:PORT], without path and credentials. http is taken too.
	URL string
	// Username is empty for a BMC that asks for no credentials.
	Username string
	Password Secret
	TLS      Trust
	// System is the path of the system, as /redfish/v1/Systems/1; empty: find it. The
	// client itself does not use it.
	System string
	// Basic says that no session is ever opened.
	Basic bool
}

// Trust says which certificate a BMC must show. The zero value asks for one that the
// system's authorities vouch for.
type Trust struct {
	// CA are the authorities (PEM) that are trusted instead of the system's.
	CA []byte
	// Pin is the SHA-256 of the leaf certificate (DER) in hexadecimal digits, with or
	// without colons. It decides alone, unless CA is set too: then both must hold.
	Pin string
	// Insecure accepts any certificate, but for the pin.
	Insecure bool
}

// Secret is a text that never prints itself.
type Secret string

const redacted = "[redacted]"

// Format writes a fixed text in place of the secret, for each verb: for a wrong one
// fmt would look inside.
func (Secret) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redacted) }

// String returns a fixed text in place of the secret.
func (Secret) String() string { return redacted }

// GoString returns a fixed text in place of the secret.
func (Secret) GoString() string { return redacted }

// LogValue returns a fixed text in place of the secret.
func (Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText returns a fixed text in place of the secret.
func (Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// equal reports whether two targets are reached in the same way.
func (t Target) equal(other Target) bool {
	return t.URL == other.URL && t.Username == other.Username && t.Password == other.Password && t.System == other.System &&
		t.Basic == other.Basic && t.TLS.Pin == other.TLS.Pin && t.TLS.Insecure == other.TLS.Insecure && bytes.Equal(t.TLS.CA, other.TLS.CA)
}

// serves reports whether a client is one of a target.
func (c *Client) serves(target Target) bool {
	system := target.System
	target.System = ""
	return system == c.system && c.target.equal(target)
}
