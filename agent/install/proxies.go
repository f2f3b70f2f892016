package install

import (
	"os"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// Proxies are the environment for downloads, in both cases: the order's proxies,
// or, where it names none, those that the agent itself was given.
func Proxies(p *wire.Proxy) []string {
	var env []string
	if p == nil {
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"} {
			if value := os.Getenv(name); value != "" {
				env = append(env, name+"="+value)
			}
		}
		return env
	}
	for name, value := range map[string]*string{"HTTP_PROXY": p.HTTPProxy, "HTTPS_PROXY": p.HTTPSProxy, "NO_PROXY": p.NoProxy} {
		if value != nil && *value != "" {
			env = append(env, name+"="+*value, strings.ToLower(name)+"="+*value)
		}
	}
	slices.Sort(env)
	return env
}
