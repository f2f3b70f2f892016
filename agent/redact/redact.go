// Package redact blots secrets out of texts that leave the host: log bundles for
// the hub, and the journal lines in a deploy step's reason, which Ironic keeps.
package redact

import "regexp"

// secrets are forms in which secrets get into logs, each with the part that
// stays in front. Ironic's agent, for one, logs its token in each request line.
var secrets = []*regexp.Regexp{
	regexp.MustCompile(`((?i:agent_token|api_key|image_token|pull_secret_token|x-secret-key|x-auth-token|password|passwd)["']?\s*[=:]\s*["']?)[^\s"'&,;]+`),
	regexp.MustCompile(`((?i:authorization)["']?\s*[=:]\s*["']?(?i:bearer|basic)?\s*)[^\s"'&,;]+`),
	regexp.MustCompile(`("auth"\s*:\s*")[^"]+`),
	regexp.MustCompile(`(https?://[^/\s:@]+:)[^/\s@]+@`),
}

// Secrets blots secrets out of the text.
func Secrets(text []byte) []byte {
	for i, form := range secrets {
		replacement := "${1}***"
		if i == len(secrets)-1 {
			replacement += "@"
		}
		text = form.ReplaceAll(text, []byte(replacement))
	}
	return text
}
