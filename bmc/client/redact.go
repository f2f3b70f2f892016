package client

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// redactor takes the secrets of a client out of texts.
type redactor struct {
	mu     sync.Mutex
	fixed  []string // never forgotten: the password and its forms
	tokens []string // of the last sessions; what requests held does not push them out
	recent []string // what requests held
}

const (
	// shortSecret is the length below which a secret is not searched in texts: it
	// would hit by chance. Texts that equal it are redacted all the same.
	shortSecret = 4
	keptSecrets = 32
	keptTokens  = 8
)

func newRedactor(target Target) *redactor {
	r := &redactor{}
	if target.Password != "" {
		password := string(target.Password)
		r.fixed = []string{password, basicForm(target.Username, password)}
	}
	return r
}

// basicForm is what basic authentication sends.
func basicForm(username, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(username + ":" + password))
}

// add adds a secret that the BMC was told.
func (r *redactor) add(secret string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent = withNewest(r.recent, secret, keptSecrets)
}

// addToken adds the token of a session.
func (r *redactor) addToken(token string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tokens = withNewest(r.tokens, token, keptTokens)
}

// withNewest adds a text to a list of so many, as the newest of them.
func withNewest(list []string, text string, most int) []string {
	if text == "" {
		return list
	}
	list = append(slices.DeleteFunc(list, func(known string) bool { return known == text }), text)
	return list[max(0, len(list)-most):]
}

// clean replaces secrets in a text: the client's, and those of one call.
func (r *redactor) clean(text string, more ...string) string { return r.cleaner(more...)(text) }

// cleaner cleans several texts. It knows the secrets of now.
func (r *redactor) cleaner(more ...string) func(text string) string {
	r.mu.Lock()
	secrets := slices.Concat(r.fixed, r.tokens, r.recent, more)
	r.mu.Unlock()
	var forms []string
	for _, secret := range secrets {
		if len(secret) >= shortSecret {
			forms = append(forms, formsOf(secret)...)
		}
	}
	// The longest first: one may be part of another.
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		if !strings.Contains(redacted, form) { // it would grow with each look
			pairs = append(pairs, form, redacted)
		}
	}
	replacer := strings.NewReplacer(pairs...)
	return func(text string) string {
		if text != "" && slices.Contains(secrets, text) {
			return redacted
		}
		return replacer.Replace(text)
	}
}

// formsOf are a secret as it is, and as JSON, URLs and Go's quotes write it.
func formsOf(secret string) []string {
	inJSON := jsonForm(secret)
	return []string{
		secret, inJSON, jsonForm(inJSON), // JSON within JSON: a request that is repeated in a message
		strings.Trim(strconv.Quote(secret), `"`), url.QueryEscape(secret), url.PathEscape(secret),
	}
}

func jsonForm(secret string) string {
	raw, err := json.Marshal(secret)
	if err != nil || len(raw) < 2 {
		return secret
	}
	return string(raw[1 : len(raw)-1])
}

// secretNames are parts of the names of properties whose values are secrets.
var secretNames = []string{"password", "passphrase", "token", "secret", "privatekey", "httpheaders", "context", "destination"}

// secretsOf collects the secret texts of a request's body: BMCs repeat in messages
// what they do not like.
func secretsOf(body []byte) []string {
	var value any
	if len(body) == 0 || json.Unmarshal(body, &value) != nil {
		return nil
	}
	var found []string
	var walk func(value any, secret bool)
	walk = func(value any, secret bool) {
		switch v := value.(type) {
		case string:
			if secret {
				found = append(found, v)
			}
		case []any:
			for _, element := range v {
				walk(element, secret)
			}
		case map[string]any:
			for name, member := range v {
				lower := strings.ToLower(name)
				walk(member, secret || slices.ContainsFunc(secretNames, func(part string) bool { return strings.Contains(lower, part) }))
			}
		}
	}
	walk(value, false)
	return found
}
