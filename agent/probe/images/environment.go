package images

import (
	"os"
	"strings"
)

// Variables that tell podman where its configuration is.
const (
	containersConfEnv = "CONTAINERS_CONF"
	storageConfEnv    = "CONTAINERS_STORAGE_CONF"
	registriesConfEnv = "CONTAINERS_REGISTRIES_CONF"
	authFileEnv       = "REGISTRY_AUTH_FILE"
)

// proxies are the proxies of the environment, in both cases.
var proxies = []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"}

// Environment is what podman gets of the agent's environment: proxies, where
// its configuration is, and a home, below which it looks for credentials.
func Environment() []string {
	home := "/root"
	if own, err := os.UserHomeDir(); err == nil {
		home = own
	}
	out := []string{"HOME=" + home}
	names := []string{containersConfEnv, storageConfEnv, registriesConfEnv, authFileEnv}
	for _, name := range proxies {
		names = append(names, name, strings.ToLower(name))
	}
	for _, name := range names {
		if value, ok := os.LookupEnv(name); ok {
			out = append(out, name+"="+value)
		}
	}
	return out
}
