package hubclient

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	// TokenEnv is the variable that carries the agent's token; it never travels in argv.
	TokenEnv = "PULL_SECRET_TOKEN"
	// credentialsEnv is where systemd puts the unit's credentials (LoadCredential=).
	credentialsEnv = "CREDENTIALS_DIRECTORY"
	// credential is the name of the one with the token.
	credential = "pull-secret-token"
	// maxTokenFile bounds what is read of a file with a token.
	maxTokenFile = 64 << 10
)

// Token holds the agent's secret. It can be read again after the hub refused it,
// because a hub may have renewed it. It prints as asterisks, so that no log can
// show it.
type Token struct {
	mu    sync.Mutex
	value string
	// read are the files that may hold it, in the order of their weight.
	read []func() string
}

// NewToken returns the token of the environment, or else of the unit's
// credential, or else of the unit's environment file below the root.
func NewToken(dir hostfile.Dir) *Token {
	t := &Token{value: os.Getenv(TokenEnv)}
	if folder := os.Getenv(credentialsEnv); folder != "" {
		t.read = append(t.read, func() string { return head(filepath.Join(folder, credential)) })
	}
	t.read = append(t.read, func() string { return assignment(head(dir.Path(hostfile.AgentEnv))) })
	if t.value == "" {
		t.Reload()
	}
	return t
}

// GivenToken returns a token that is read nowhere.
func GivenToken(value string) *Token { return &Token{value: value} }

// Set tells whether there is a token at all.
func (t *Token) Set() bool { return t.get() != "" }

// String hides the token.
func (t *Token) String() string { return "***" }

// GoString hides the token.
func (t *Token) GoString() string { return "***" }

// Known returns the values that the token has or may get, to be redacted in texts
// that leave the host; nothing for nil.
func (t *Token) Known() []string {
	if t == nil {
		return nil
	}
	known := []string{t.get()}
	for _, read := range t.read {
		known = append(known, read())
	}
	return known
}

func (t *Token) get() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.value
}

// Reload reads the token again and tells whether it has changed. Files that are
// missing or empty leave the token as it is.
func (t *Token) Reload() bool {
	for _, read := range t.read {
		if value := read(); value != "" {
			t.mu.Lock()
			defer t.mu.Unlock()
			changed := value != t.value
			t.value = value
			return changed
		}
	}
	return false
}

// head is the bounded, trimmed content of a file; empty when it cannot be read.
func head(file string) string {
	f, err := os.Open(file) //nolint:gosec // systemd's folder of credentials, or the host's own file
	if err != nil {
		return ""
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxTokenFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// assignment finds the token in the text of an environment file.
func assignment(text string) string {
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if value, found := strings.CutPrefix(strings.TrimSpace(lines.Text()), TokenEnv+"="); found {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}
