package hubclient

import (
	"bufio"
	"cmp"
	"fmt"
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
	// own is the host's own, which the hub has given for a registration: it takes the
	// place of value. Both are kept in dir for processes that come later.
	own string
	dir *hostfile.Dir
	// read are the files that may hold it, in the order of their weight.
	read []func() string
}

// NewToken returns the token of the environment, or else of the unit's
// credential, or else of the unit's environment file below the root.
func NewToken(dir hostfile.Dir) *Token {
	t := &Token{value: os.Getenv(TokenEnv), dir: &dir}
	t.own = ownToken(dir)
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
	t.mu.Lock()
	known := []string{t.value, t.own}
	t.mu.Unlock()
	for _, read := range t.read {
		known = append(known, read())
	}
	return known
}

func (t *Token) get() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(t.own, t.value)
}

// Own makes the host's own token the one that is sent. It is kept for processes that come
// later in this boot; where that fails, they register again.
func (t *Token) Own(token string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.own = token
	if t.dir == nil {
		return nil
	}
	boot, _ := t.dir.BootID() // the empty one is the same for the whole boot
	if err := t.dir.Write(hostfile.HostToken, hostfile.OwnToken{BootID: boot, Token: token}); err != nil {
		return fmt.Errorf("keep the host's token: %w", err)
	}
	return nil
}

// disown goes back to the token that the host was booted with, and tells whether there
// was another.
func (t *Token) disown() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.own == "" {
		return false
	}
	t.own = ""
	if t.dir != nil {
		_ = os.Remove(t.dir.Path(hostfile.HostToken)) // one that stays is refused once more
	}
	return true
}

// ownToken is what an earlier process of this boot was given.
func ownToken(dir hostfile.Dir) string {
	var kept hostfile.OwnToken
	boot, _ := dir.BootID()
	if err := dir.Read(hostfile.HostToken, &kept); err != nil || kept.BootID != boot {
		return ""
	}
	return kept.Token
}

// Reload reads the token again and tells whether it has changed. Files that are
// missing or empty leave the token as it is. In the place of one of the host's own comes
// the one that the host was booted with.
func (t *Token) Reload() bool {
	if t.disown() {
		return true
	}
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
