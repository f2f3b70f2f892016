// Package configured makes of the program's configuration how each Ironic is reached. It refuses what
// cannot work, with the flag and what to set.
package configured

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/ironic"
)

// Check refuses to work without one.
func Check(s v1alpha1.Ironic) error {
	if s.Endpoint == "" && s.EndpointsFile == "" {
		return errors.New("no Ironic: set --ironic-endpoint or IRONIC_ENDPOINT to its URL, such as https://ironic.example:6385")
	}
	return nil
}

// One is how to reach the Ironic of the settings themselves. Files that do not exist leave their part of
// the authentication out, as with baremetal-operator.
func One(s v1alpha1.Ironic) ironic.Config {
	c := ironic.Config{
		URL:      s.Endpoint,
		CAFile:   existing(s.CAFile),
		CertFile: existing(s.ClientCertFile),
		KeyFile:  existing(s.ClientKeyFile),
		Insecure: s.Insecure, SkipServerName: s.SkipNames,
		Timeout: s.Timeout.Duration,
	}
	if s.KeystoneURL != "" {
		c.Auth.Keystone = &ironic.Keystone{
			URL: s.KeystoneURL, Username: s.KeystoneUser, PasswordFile: filepath.Join(s.AuthRoot, "keystone", "password"),
			UserDomain: s.KeystoneDomain, Project: s.KeystoneProject, System: s.KeystoneProject == "",
		}
		return c
	}
	user := existing(filepath.Join(s.AuthRoot, "ironic", "username"))
	password := existing(filepath.Join(s.AuthRoot, "ironic", "password"))
	if user != "" && password != "" {
		c.Auth.Basic = &ironic.Basic{UsernameFile: user, PasswordFile: password}
	}
	return c
}

// existing returns the file's name, or nothing when there is no such file.
func existing(file string) string {
	if _, err := os.Stat(file); err != nil {
		return ""
	}
	return file
}
