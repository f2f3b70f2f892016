// Package configured makes what live images begin with of the program's configuration: the settings of every live system, those of ironic-python-agent, the
// host programs and the base images. It refuses what cannot work, with the flag and what to set. Files are read anew at each call, so that a change of one
// reaches the next image.
package configured

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// Values of --live-nmstatectl.
const (
	NmstatectlAuto   = "auto"
	NmstatectlAlways = "always"
	NmstatectlNever  = "never"
)

// CheckNmstatectl refuses any other; none is auto.
func CheckNmstatectl(value string) error {
	if !slices.Contains([]string{"", NmstatectlAuto, NmstatectlAlways, NmstatectlNever}, value) {
		return fmt.Errorf("--live-nmstatectl %q is neither %s, %s nor %s", value, NmstatectlAuto, NmstatectlAlways, NmstatectlNever)
	}
	return nil
}

// Live is what is known of a live system: what somebody says, or what its base image shows. base is asked where nobody says anything; nil where base images
// are another process's.
func Live(said string, base func() (*media.Medium, error)) network.Live {
	switch said {
	case NmstatectlAlways:
		return network.Live{Nmstatectl: true, Why: "--live-nmstatectl=always"}
	case NmstatectlNever:
		return network.Live{Why: "--live-nmstatectl=never"}
	}
	if base == nil {
		return network.Live{Why: "the base images are another process's; where they have nmstatectl, say --live-nmstatectl=always"}
	}
	m, err := base()
	if err != nil {
		return network.Live{Why: err.Error()}
	}
	has, why := m.Nmstatectl()
	return network.Live{Nmstatectl: has, Why: why}
}

// Host is what every live image begins with.
func Host(s v1alpha1.LiveSystem) (ignition.HostConfig, error) {
	keys, keysErr := readGiven(s.SSHKeyFile)
	registries, registriesErr := readGiven(s.RegistriesFile)
	bundle, bundleErr := readGiven(s.CABundleFile)
	pull, pullErr := pullSecret(s)
	for _, problem := range []struct {
		what string
		err  error
	}{{"SSH keys", keysErr}, {"registries.conf", registriesErr}, {"CA bundle", bundleErr}, {"pull secret", pullErr}} {
		if problem.err != nil {
			return ignition.HostConfig{}, fmt.Errorf("%s of live images: %w", problem.what, problem.err)
		}
	}
	return ignition.HostConfig{
		SSHKeys: append(linesOf(keys), linesOf(s.SSHKey)...), PullSecret: pull, Registries: registries, CABundle: bundle, NTPServers: s.NTPServers,
		Proxy: ignition.Proxy{HTTP: s.HTTPProxy, HTTPS: s.HTTPSProxy, No: s.NoProxy},
	}, nil
}

// IPA is what every live image of an architecture tells ironic-python-agent.
func IPA(s v1alpha1.LiveSystem, arch string) (ignition.IPA, error) {
	ca, err := readExisting(s.IronicCAFile)
	if err != nil {
		return ignition.IPA{}, fmt.Errorf("CA of Ironic: %w", err)
	}
	config := ignition.IPA{
		CA: ca, Image: s.IronicAgentImage, ImageInsecure: s.IronicAgentImageInsecure, IPOptions: s.IPOptions,
		APIURLs: s.IronicBaseURLs, InspectionURLs: s.InspectorBaseURLs,
	}
	if arch == "aarch64" {
		config.Image = cmp.Or(s.IronicAgentImageARM, config.Image)
	}
	if config.Image == "" {
		config.Command = []string{"/usr/local/bin/ironic-python-agent", "--config-file", "/etc/ironic-python-agent.conf"}
	}
	return config, nil
}

// pullSecret is that of live systems, empty for none. An error does not repeat it.
func pullSecret(s v1alpha1.LiveSystem) (ignition.Secret, error) {
	if s.PullSecret == "" {
		text, err := readExisting(s.PullSecretFile)
		return ignition.Secret(strings.TrimSpace(text)), err
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s.PullSecret))
	if err != nil {
		return "", errors.New("IRONIC_AGENT_PULL_SECRET is not base64")
	}
	return ignition.Secret(raw), nil
}

// readGiven reads a file that has to be there when it is named.
func readGiven(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	raw, err := os.ReadFile(file)
	return string(raw), err
}

// readExisting reads a file that may not be there yet.
func readExisting(file string) (string, error) {
	text, err := readGiven(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return text, err
}

// linesOf are the lines of a text that say something.
func linesOf(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
