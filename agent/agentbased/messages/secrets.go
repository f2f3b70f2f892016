package messages

import (
	"encoding/base64"
	"os"
	"regexp"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// hidden stands where a secret was.
const hidden = "***"

// looksSecret finds what a text can have of secrets, whoever has written it: keys in PEM, JSON web
// tokens, hashes of passwords, credentials of headers, values of members and variables that are
// named like a secret, and the user part of URLs. What is in a group stays. A blank behind a colon
// ends no name but that of a password: sentences have "token: " and "pull-secret.yaml: ".
var looksSecret = regexp.MustCompile(`(?is)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)` +
	`|\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?` +
	`|\$[0-9a-z]{1,2}\$[^\s"':;,]+` +
	`|(authorization\\*["']?\s*[:=]\s*\\*["']?(?:(?:basic|bearer)\s+)?)[\w+/.~=*-]+` +
	`|(\b(?:basic|bearer)\s+)[\w+/.~=-]{16,}` +
	`|(\\*"[\w.-]*(?:auth|passw(?:or)?d|passphrase|secret|token|psk|private.?key)[\w.-]*\\*"\s*:\s*\\*")[^"\\]+` +
	`|([\w.-]*(?:auth|passw(?:or)?d|passphrase|secret|token|psk|private.?key)\w*=\\*["']?)[^\s"',;}\\]+` +
	`|(\bpassw(?:or)?d\w*\s*:\s*\\*["']?)[^\s"',;}\\]+` +
	`|(://)[^\s/@"'<>]+@`)

// clean is the text without what looks like a secret.
func clean(text string) string {
	return looksSecret.ReplaceAllStringFunc(text, func(match string) string {
		m := looksSecret.FindStringSubmatch(match)
		kept := strings.Join(m[1:], "")
		if strings.HasSuffix(match, "@") && kept == "://" {
			return kept + hidden + "@"
		}
		return kept + hidden
	})
}

// named are the settings whose values are secrets, and authMember the credentials of a pull secret.
var (
	named      = regexp.MustCompile(`(?i)token|passw|secret`)
	authMember = regexp.MustCompile(`\\*"auth\\*"\s*:\s*\\*"([\w+/=-]+)`)
)

const (
	// shortest keeps very short values from making holes in sentences.
	shortest = 6
	// pullSecret is where the image has the credentials of registries.
	pullSecret = places.Manifests + "/pull-secret.yaml"
)

// without is the text without the secrets that the host's own files have. What cannot be read
// has told nobody anything.
func without(dir hostfile.Dir, text string) string {
	settings, _ := places.Settings(dir) // those that can be read
	var known []string
	for name, value := range settings {
		if named.MatchString(name) {
			known = append(known, value)
		}
	}
	raw, _ := os.ReadFile(dir.Path(pullSecret)) // not every workflow has it
	for _, found := range authMember.FindAllStringSubmatch(string(raw), -1) {
		known = append(known, found[1])
		if credentials, err := base64.StdEncoding.DecodeString(found[1]); err == nil {
			_, password, _ := strings.Cut(string(credentials), ":")
			known = append(known, string(credentials), password)
		}
	}
	for _, secret := range known {
		if len(secret) >= shortest {
			text = strings.ReplaceAll(text, secret, hidden)
		}
	}
	return text
}

// maxReason bounds a reason, so that a message with one, and the name of its host, has at most
// 1,000 bytes.
const maxReason = 700

// reason is the error in one bounded line without secrets.
func reason(dir hostfile.Dir, err error) string {
	var lines []string
	for line := range strings.Lines(strings.ToValidUTF8(clean(without(dir, err.Error())), "?")) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	text := strings.TrimRight(strings.Join(lines, "; "), ".")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + " …"
	}
	return text
}
