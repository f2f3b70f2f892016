// Package redact takes secrets out of texts that leave the host: log bundles for
// the hub, and the journal lines in a deploy step's reason, which Ironic keeps.
// It knows the forms in which tokens, passwords, pull secrets, private keys and
// the contents of Ignition files get into logs, and takes the values that the
// caller knows besides. [Secrets] is for a text, [Writer] for a stream.
//
// In doubt it redacts: a name less in a log is no harm.
package redact

import (
	"bytes"
	"regexp"
	"slices"
)

// mark stands where a secret was.
const mark = "***"

// names are words that mark what follows a sign = or : as a secret, also within
// a longer name.
const names = `(?:token|passw(?:or)?d|passphrase|api[_-]?key|secret[_-]?(?:access[_-]?)?key|pull[_-]?secret|client[_-]?secret|client-key-data|` +
	`private[_-]?key|dockerc(?:onfigjson|fg)|configdrive|user[_-]?data)[\w.-]*|\b(?:secret|psk)`

// named begins a form that is marked by its name.
const named = `(?i)((?:` + names + `)\\*["']?\s*[=:]\s*`

// form is one way in which secrets appear. It is looked for in lines that hold
// one of its hints, in lower case: most lines of a journal need no further look.
type form struct {
	hints   []string
	find    *regexp.Regexp
	replace string
}

// nameHints are the hints of names.
var nameHints = []string{"token", "passw", "passphrase", "key", "secret", "configdrive", "user", "dockerc", "psk"}

// forms are tried in this order. Each keeps what stands in front of the secret.
var forms = []form{
	// Contents of Ignition files: data:text/plain;base64,… and data:,%7B…
	{[]string{"data:"}, regexp.MustCompile(`(?i)(\bdata:[\w/+.;=-]*,)[^\s"'\\<>]+`), "${1}" + mark},
	// Headers as name and value, in Ignition and in steps' arguments.
	{[]string{"authorization"}, regexp.MustCompile(`(?i)(authorization\\*["']\s*,\s*\\*["']value\\*["']\s*:\s*\\*["'])[^"'\\]+`), "${1}" + mark},
	{[]string{"authorization"}, regexp.MustCompile(`(?i)(authorization\\*["']?\s*[=:]\s*\[?\\*["']?(?:(?:bearer|basic|digest|negotiate)\s+)?)[^\s"'\\,;]+`), "${1}" + mark},
	{[]string{"bearer"}, regexp.MustCompile(`(?i)(\bbearer\s+)[\w.~+/=-]{6,}`), "${1}" + mark},
	// Names with values, as in environments, JSON, YAML, queries and flags.
	{nameHints, regexp.MustCompile(named + `\\+")[^"\\]*`), "${1}" + mark}, // JSON in JSON
	{nameHints, regexp.MustCompile(named + `")(?:[^"\\]|\\.)*`), "${1}" + mark},
	{nameHints, regexp.MustCompile(named + `')[^']*`), "${1}" + mark},
	{nameHints, regexp.MustCompile(named + `)[^\s"'&,;\\]+`), "${1}" + mark},
	{nameHints, regexp.MustCompile(`(?i)(\s--?[\w-]*(?:token|password|pull-secret|passphrase)[\w-]*\s+)[^\s"',;]+`), "${1}" + mark},
	// Pull secrets: the entries of registries, and the whole of one in base64.
	{[]string{"auth"}, regexp.MustCompile(`(?i)((?:\\*["']|\b)auth\\*["']?\s*:\s*\\*["']?)[\w+/=-]{4,}`), "${1}" + mark},
	{[]string{"eyjhdxrocyi6"}, regexp.MustCompile(`eyJhdXRocyI6[\w+/=-]*`), mark},
	// Private keys in base64, as in manifests of secrets: RSA, PRIVATE, EC, OPENSSH, ENCRYPTED, DSA.
	{[]string{"ls0tls1crudjtib"}, regexp.MustCompile(`LS0tLS1CRUdJTiB(?:SU0Eg|QUklW|FQyBQ|PUEVO|FTkNS|EU0Eg)[\w+/=-]*`), mark},
	// Tokens of the form JWT.
	{[]string{"eyj"}, regexp.MustCompile(`\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?`), mark},
	// Passwords of proxies, registries and iSCSI targets in addresses.
	{[]string{"://"}, regexp.MustCompile(`(://[^/\s:@"']*:)[^/\s"']*@`), "${1}" + mark + "@"},
	{[]string{"://"}, regexp.MustCompile(`(://)[^/\s:@"'\\]+@`), "${1}" + mark + "@"},
	{[]string{"iscsi:"}, regexp.MustCompile(`(?i)(\biscsi:)[^\s@/]+@`), "${1}" + mark + "@"},
	// Hashes of passwords, as in /etc/shadow.
	{[]string{"$"}, regexp.MustCompile(`\$(?:1|2[aby]|5|6|7|y|gy)\$[\w./$=,-]{8,}`), mark},
}

// line redacts one line.
func line(text []byte, known [][]byte) []byte {
	for _, secret := range known {
		if bytes.Contains(text, secret) {
			text = bytes.ReplaceAll(text, secret, []byte(mark))
		}
	}
	lower := bytes.ToLower(text)
	for _, form := range forms {
		if slices.ContainsFunc(form.hints, func(hint string) bool { return bytes.Contains(lower, []byte(hint)) }) {
			text = form.find.ReplaceAll(text, []byte(form.replace))
		}
	}
	return text
}

// Secrets redacts the text: all known forms, and the values that
// are given. A line beyond 1 MiB is cut.
func Secrets(text []byte, known ...string) []byte {
	var out bytes.Buffer
	out.Grow(len(text))
	w := NewWriter(&out, known...)
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return out.Bytes()
}
