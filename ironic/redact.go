package ironic

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
)

// redactor removes secrets from texts: those that the gateway itself holds,
// those in the body of the request at hand, and whatever looks like one.
type redactor struct {
	mu      sync.Mutex
	secrets map[string]string // by origin, so that a rotated secret replaces the old one
	files   map[string]cachedFile
}

type cachedFile struct {
	modified time.Time
	size     int64
	content  Secret
}

// shortestSecret keeps very short values from shredding whole sentences.
const shortestSecret = 4

func newRedactor(c Config) *redactor {
	r := &redactor{secrets: map[string]string{}, files: map[string]cachedFile{}}
	if b := c.Auth.Basic; b != nil {
		r.secrets["basic"] = string(b.Password)
	}
	if k := c.Auth.Keystone; k != nil {
		r.secrets["keystone"] = string(k.Password)
		r.secrets["application"] = string(k.ApplicationSecret)
	}
	return r
}

// file returns the trimmed content of a secret file, read again when it
// changed, or the literal when no file is named. Its content is redacted from
// then on.
func (r *redactor) file(path string, literal Secret) (Secret, error) {
	if path == "" {
		return literal, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("credentials file: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if f, ok := r.files[path]; ok && f.modified.Equal(info.ModTime()) && f.size == info.Size() {
		return f.content, nil
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("credentials file: %w", err)
	}
	content := Secret(strings.TrimSpace(string(raw)))
	r.files[path] = cachedFile{modified: info.ModTime(), size: info.Size(), content: content}
	r.secrets[path] = string(content)
	return content, nil
}

// secretKey matches the names under which requests carry secrets. HTTP headers
// all count: which of them authenticates is known to their receiver alone.
var secretKey = regexp.MustCompile(`(?i)passw|secret|token|configdrive|user_data|private_key|auth_key|priv_key|httpheaders|authorization`)

// looksSecret finds what no list knows: the credentials of an Authorization header,
// with its scheme or without, key-value pairs, and user parts of URLs, and the part of a
// live image's path that opens it.
var looksSecret = regexp.MustCompile(`(?i)(authorization["']?\s*[:=]\s*["']?(?:(?:basic|bearer|digest|negotiate)\s+)?)([^\s"',;}]+)` +
	`|("?[\w.-]*(?:password|passwd|secret|token)[\w.-]*["']?\s*[:=]\s*["']?)([^\s"',;}]+)` +
	`|(://)[^\s/@"'<>]+@` + `|(/by(?:token|apikey)/)[^\s/?"'<>]+`)

// clean returns the text without secrets; body is the request's, if any.
func (r *redactor) clean(text string, body any) string {
	if text == "" {
		return ""
	}
	for _, s := range r.known(body) {
		if len(s) >= shortestSecret {
			text = strings.ReplaceAll(text, s, redacted)
		}
	}
	return Redact(text)
}

// Redact removes from a text what looks like a secret: credentials of HTTP
// headers, values of keys that are named like one, the user part of URLs, and tokens in the paths of live images.
func Redact(text string) string {
	return looksSecret.ReplaceAllStringFunc(text, func(match string) string {
		m := looksSecret.FindStringSubmatch(match)
		if m[5] != "" {
			return m[5] + redacted + "@"
		}
		return m[1] + m[3] + m[6] + redacted
	})
}

func (r *redactor) known(body any) []string {
	r.mu.Lock()
	all := make([]string, 0, len(r.secrets))
	for _, s := range r.secrets {
		all = append(all, s)
	}
	r.mu.Unlock()
	if body == nil {
		return all
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return all
	}
	var plain any
	if json.Unmarshal(raw, &plain) != nil {
		return all
	}
	return secretsIn(plain, false, all)
}

// secretsIn collects the texts below secret keys. In a JSON patch the key is
// the last part of the path and the secret is the value.
func secretsIn(v any, secret bool, found []string) []string {
	switch x := v.(type) {
	case string:
		if secret {
			found = append(found, x)
		}
	case []any:
		for _, item := range x {
			found = secretsIn(item, secret, found)
		}
	case map[string]any:
		path, _ := x["path"].(string)
		for k, item := range x {
			found = secretsIn(item, secret || secretKey.MatchString(k) || k == "value" && secretKey.MatchString(path), found)
		}
	}
	return found
}
