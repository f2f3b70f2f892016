package registry

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
)

// secret is a pull secret: logins by registry, or by a path of one.
type secret map[string]authn.AuthConfig

func parseSecret(text string) (secret, error) {
	var document struct {
		Auths map[string]authn.AuthConfig `json:"auths"`
	}
	if text == "" {
		return secret{}, nil
	}
	if json.Unmarshal([]byte(text), &document) != nil { // its error may quote the secret
		return nil, errors.New("pull secret: want a JSON document with a member auths, whose entries have auth in base64")
	}
	out := secret{}
	for key, login := range document.Auths {
		key = strings.TrimPrefix(strings.TrimPrefix(key, "https://"), "http://")
		for _, end := range []string{"/", "/v1", "/v2"} {
			key = strings.TrimSuffix(key, end)
		}
		out[canonical(key)] = login
	}
	return out, nil
}

// canonical writes the one registry with two names as the library does.
func canonical(place string) string {
	if host, rest, _ := strings.Cut(place, "/"); host == "docker.io" {
		return strings.TrimSuffix("index.docker.io/"+rest, "/")
	}
	return place
}

// entry is the login for a repository: that of the longest path.
func (s secret) entry(repository string) (authn.AuthConfig, bool) {
	for at := repository; ; {
		if login, ok := s[at]; ok {
			return login, true
		}
		i := strings.LastIndex(at, "/")
		if i < 0 {
			return authn.AuthConfig{}, false
		}
		at = at[:i]
	}
}

func (s secret) of(repository string) authn.Authenticator {
	if login, ok := s.entry(repository); ok {
		return authn.FromConfig(login)
	}
	return authn.Anonymous
}

// longest bounds what a registry says of itself in an error.
const longest = 300

// explain says why a place did not give the image, without credentials.
func (s secret) explain(err error, p place) string {
	text := err.Error()
	answer, ok := errors.AsType[*transport.Error](err)
	if ok {
		text = fmt.Sprintf("the registry answered %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
		for _, d := range answer.Errors {
			text += ": " + string(d.Code) + " " + d.Message
		}
	}
	for _, login := range s {
		basic := base64.StdEncoding.EncodeToString([]byte(login.Username + ":" + login.Password))
		for _, form := range []string{login.Auth, basic, login.Password, login.IdentityToken, login.RegistryToken} {
			if form != "" {
				text = strings.ReplaceAll(text, form, "[redacted]")
			}
		}
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if runes := []rune(text); len(runes) > longest {
		text = string(runes[:longest]) + " …"
	}
	if ok && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden) {
		if _, has := s.entry(p.repository()); has {
			return text + " (with the login of the pull secret)"
		}
		return text + " (the pull secret has no entry for it)"
	}
	return text
}
