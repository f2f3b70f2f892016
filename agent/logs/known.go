package logs

import (
	"bufio"
	"net/url"
	"os"
	"strings"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/api/hostfile"
)

// HostSecrets are the secrets that this host is known to have: the agent's
// token, and the passwords of proxies in the environment and in the unit's file.
func HostSecrets(dir hostfile.Dir, token *hubclient.Token, getenv func(string) string) []string {
	known := token.Known()
	add := func(value string) {
		if u, err := url.Parse(strings.Trim(value, `"'`)); err == nil && u.User != nil {
			if password, set := u.User.Password(); set {
				known = append(known, password)
			}
		}
	}
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		add(getenv(name))
	}
	if f, err := os.Open(dir.Path(hostfile.AgentEnv)); err == nil {
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			_, value, _ := strings.Cut(lines.Text(), "=")
			add(strings.TrimSpace(value))
		}
	}
	return known
}
