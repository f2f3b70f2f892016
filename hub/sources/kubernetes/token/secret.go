package token

import (
	"fmt"
	"time"
)

// How a cluster stores tokens.
const (
	// Type is that of their Secrets.
	Type = "bootstrap.kubernetes.io/token"
	// Label of those that Ironflow makes, with the value Maker.
	Label = "app.kubernetes.io/managed-by"
	Maker = "ironflow"
)

// Secret is the object that a running cluster knows a token by.
type Secret struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Type       string            `json:"type"`
	Metadata   Metadata          `json:"metadata"`
	StringData map[string]string `json:"stringData"`
}

// Metadata is that of such an object.
type Metadata struct {
	Name      string            `json:"name"`
	Namespace string            `json:"namespace"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// Stored is a token's Secret as a cluster shows it.
type Stored struct {
	Type     string   `json:"type"`
	Metadata Metadata `json:"metadata"`
	Data     struct {
		// Expiration is a time as RFC 3339 has it.
		Expiration []byte `json:"expiration"`
	} `json:"data"`
}

// Secret returns the object; it is as secret as the token.
func (t Token) Secret() (*Secret, error) {
	if !shape.MatchString(t.Text) {
		return nil, fmt.Errorf("bootstrap token: want ID.SECRET of %d and %d small letters and digits", idLength, secretLength)
	}
	id, secret := t.Text[:idLength], t.Text[idLength+1:]
	return &Secret{
		APIVersion: "v1", Kind: "Secret", Type: Type,
		Metadata: Metadata{Name: "bootstrap-token-" + id, Namespace: "kube-system", Labels: map[string]string{Label: Maker}},
		StringData: map[string]string{
			"token-id": id, "token-secret": secret, "expiration": t.Expires.UTC().Format(time.RFC3339),
			"usage-bootstrap-authentication": "true", "usage-bootstrap-signing": "true",
			"auth-extra-groups": Group, "description": "hosts that join, made by Ironflow",
		},
	}, nil
}

// Ended tells that it is a token that cannot be used any more. One without an end that can
// be read is left to whoever wrote it.
func (s Stored) Ended(now time.Time) bool {
	end, err := time.Parse(time.RFC3339, string(s.Data.Expiration))
	return s.Type == Type && err == nil && !end.After(now)
}
