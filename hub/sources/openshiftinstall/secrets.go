package openshiftinstall

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/sources"
)

// hiddenText stands for a secret.
const hiddenText = "[redacted]"

// shortest is the length below which a secret is not looked for: it would take letters
// out of words.
const shortest = 4

// secrets takes what nobody may read out of texts: what the order holds, and what has
// the form of a secret that the program makes itself.
type secrets struct {
	forms []string // longest first
}

// forms of secrets that are not known beforehand.
var patterns = []*regexp.Regexp{
	regexp.MustCompile(`\b[0-9A-Za-z]{5}-[0-9A-Za-z]{5}-[0-9A-Za-z]{5}-[0-9A-Za-z]{5}\b`),               // kubeadmin's password
	regexp.MustCompile(`\beyJ[0-9A-Za-z_-]{8,}\.[0-9A-Za-z_-]{8,}(\.[0-9A-Za-z_-]*)?`),                  // a signed token
	regexp.MustCompile(`\bsha256~[0-9A-Za-z_-]{16,}`),                                                   // an OAuth token
	regexp.MustCompile(`(?i)\b(bearer|basic)\s+[0-9A-Za-z+/=._~-]{8,}`),                                 // a header
	regexp.MustCompile(`(?i)\\?"(auth|password|identitytoken|registrytoken|token)\\?"\s*:\s*\\?"[^"]+`), // a member of a pull secret
	regexp.MustCompile(`(?i)\b(password|passwd|token)=[^\s&"]+`),
	regexp.MustCompile(`//[^/\s:@"]*:[^/\s@"]+@`), // a login in a URL
}

// telling are words in the names of members that hold secrets.
var telling = regexp.MustCompile(`(?i)password|passwd|secret|token|privatekey|credential|accesskey|^auths?$`)

func secretsOf(o *sources.Order, config []byte, p Proxy) *secrets {
	s := &secrets{}
	s.add(o.PullSecret)
	s.document([]byte(o.PullSecret), true)
	s.document(config, false)
	for _, m := range o.Manifests {
		var head struct {
			Kind string `json:"kind"`
		}
		for one := range strings.SplitSeq(string(m.Content), "\n---") {
			_ = yaml.Unmarshal([]byte(one), &head) // what is no YAML is the program's to refuse
			s.document([]byte(one), head.Kind == "Secret")
		}
	}
	for _, h := range o.Hosts {
		if h.Endpoint != nil {
			s.add(h.Endpoint.Token)
		}
	}
	for _, text := range []string{p.HTTP, p.HTTPS, o.Cluster.HTTPProxy, o.Cluster.HTTPSProxy} {
		if u, err := url.Parse(text); err == nil && u.User != nil {
			password, _ := u.User.Password()
			s.add(password)
		}
	}
	slices.SortFunc(s.forms, func(a, b string) int {
		if d := len(b) - len(a); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	s.forms = slices.Compact(s.forms)
	return s
}

// document adds the secrets of YAML or JSON: of members whose names tell, or all texts
// of one that is secret as a whole.
func (s *secrets) document(raw []byte, whole bool) {
	var content any
	if yaml.Unmarshal(raw, &content) != nil {
		return
	}
	if object, ok := content.(map[string]any); ok && whole && object["kind"] == "Secret" {
		content = []any{object["data"], object["stringData"]} // its name and kind are none
	}
	s.walk(content, whole)
}

func (s *secrets) walk(content any, secret bool) {
	switch v := content.(type) {
	case map[string]any:
		for name, inner := range v {
			s.walk(inner, secret || telling.MatchString(name))
		}
	case []any:
		for _, inner := range v {
			s.walk(inner, secret)
		}
	case string:
		if !secret {
			return
		}
		s.add(v)
		if decoded, err := base64.StdEncoding.DecodeString(v); err == nil {
			s.add(string(decoded))
			if _, password, ok := strings.Cut(string(decoded), ":"); ok {
				s.add(password)
			}
		}
		if strings.HasPrefix(strings.TrimSpace(v), "{") { // a document in a text
			s.document([]byte(v), true)
		}
	}
}

// add has a secret looked for, in the forms that it takes in a program's output.
func (s *secrets) add(text string) {
	text = strings.TrimSpace(text)
	if len(text) < shortest || text == "null" || text == "true" || text == "false" {
		return
	}
	if strings.Contains(text, "\n") {
		for line := range strings.Lines(text) { // output is looked at line by line
			s.add(line)
		}
	}
	quoted, _ := json.Marshal(text) //nolint:errchkjson // a text
	twice, _ := json.Marshal(string(quoted[1 : len(quoted)-1]))
	s.forms = append(s.forms, text, string(quoted[1:len(quoted)-1]), string(twice[1:len(twice)-1]), strings.Trim(fmt.Sprintf("%q", text), `"`),
		url.QueryEscape(text), url.PathEscape(text), base64.StdEncoding.EncodeToString([]byte(text)))
}

// clean is a text without them.
func (s *secrets) clean(text string) string {
	for _, form := range s.forms {
		text = strings.ReplaceAll(text, form, hiddenText)
	}
	for _, p := range patterns {
		text = p.ReplaceAllString(text, hiddenText)
	}
	return text
}
