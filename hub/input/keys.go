package input

import (
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"maps"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/ironflow/ironflow/hub/apierror"
)

// sshKeys refuses keys that no SSH server would read: then nobody gets onto the host,
// which is noticed when that is needed. Empty lines and comments are as in the file.
func sshKeys(member, text string) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if _, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line)); err != nil {
			return apierror.Field(member, "line %d is no public key: want lines of a file such as id_ed25519.pub, ssh-ed25519 AAAAC3Nza… NAME", n)
		}
	}
	return nil
}

// pullSecret refuses what no container tool would read. Nothing of it is repeated but the
// names of registries.
func pullSecret(text string) error {
	var secret struct {
		Auths map[string]json.RawMessage `json:"auths"`
	}
	if json.Unmarshal([]byte(text), &secret) != nil || secret.Auths == nil {
		return apierror.Field("pull_secret", `want JSON with "auths", such as {"auths":{"registry.example":{"auth":"BASE64"}}}`)
	}
	for _, registry := range slices.Sorted(maps.Keys(secret.Auths)) {
		if err := credential(secret.Auths[registry]); err != nil {
			return apierror.Field("pull_secret", `auths[%.100q] %v: want {"auth":"BASE64"}, of USER:PASSWORD`, registry, err)
		}
	}
	return nil
}

func credential(raw json.RawMessage) error {
	var entry struct {
		Auth *string `json:"auth"`
	}
	if json.Unmarshal(raw, &entry) != nil {
		return errors.New("is no object with texts")
	}
	if entry.Auth == nil {
		return nil // tools look for a helper, or ask without
	}
	plain, err := base64.StdEncoding.DecodeString(*entry.Auth)
	if err != nil {
		return errors.New("has an auth that is not base64")
	}
	if !strings.Contains(string(plain), ":") {
		return errors.New("has an auth without a colon between user and password")
	}
	return nil
}

const maxBundle = 65535

// trustBundle refuses what no program would trust anybody by.
func trustBundle(member, text string) error {
	if len(text) > maxBundle {
		return apierror.Field(member, "has %d bytes: want at most %d; leave out authorities that nobody needs", len(text), maxBundle)
	}
	rest := []byte(text)
	for n := 1; len(strings.TrimSpace(string(rest))) > 0; n++ {
		block, after := pem.Decode(rest)
		if block == nil {
			return apierror.Field(member, "want certificates in PEM, from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----, and block %d is none", n)
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil || block.Type != "CERTIFICATE" {
			return apierror.Field(member, "want certificates in PEM, and block %d of type %.40q holds none", n, block.Type)
		}
		rest = after
	}
	return nil
}

// base64Bundle is a bundle that the protocol has in base64.
func base64Bundle(member, text string) error {
	if text == "" {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(raw) == 0 {
		return apierror.Field(member, "want certificates in PEM, in base64")
	}
	return trustBundle(member, string(raw))
}
