package hubclient

import (
	"bufio"
	"os"
	"strings"
	"sync"
)

// TokenEnv is the variable that carries the agent's token; it never travels in argv.
const TokenEnv = "PULL_SECRET_TOKEN"

// Token holds the agent's secret. It can be read again from the unit's
// environment file after the hub refused it, because a hub may have renewed it.
// It prints as asterisks, so that no log can show it.
type Token struct {
	mu    sync.Mutex
	value string
	file  string
}

// NewToken returns the token of the environment variable; file is the unit's
// environment file, which [Token.Reload] reads.
func NewToken(file string) *Token { return &Token{value: os.Getenv(TokenEnv), file: file} }

// Set tells whether there is a token at all.
func (t *Token) Set() bool { return t.get() != "" }

// String hides the token.
func (t *Token) String() string { return "***" }

func (t *Token) get() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.value
}

// Reload reads the token again and tells whether it has changed. A missing or
// unreadable file leaves the token as it is.
func (t *Token) Reload() bool {
	f, err := os.Open(t.file)
	if err != nil {
		return false
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		value, found := strings.CutPrefix(strings.TrimSpace(lines.Text()), TokenEnv+"=")
		if !found {
			continue
		}
		value = strings.Trim(value, `"'`)
		t.mu.Lock()
		changed := value != t.value
		t.value = value
		t.mu.Unlock()
		return changed
	}
	return false
}
