package main

import (
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/ironic"
)

// ironicConfig is how to reach Ironic. Files that do not exist leave their part of
// the authentication out, as with baremetal-operator.
func ironicConfig(s ironicSettings) ironic.Config {
	c := ironic.Config{
		URL:      s.endpoint,
		CAFile:   existing(s.caFile),
		CertFile: existing(s.certFile),
		KeyFile:  existing(s.keyFile),
		Insecure: s.insecure, SkipServerName: s.skipNames,
		Timeout: s.timeout,
	}
	if k := s.keystone; k.url != "" {
		c.Auth.Keystone = &ironic.Keystone{
			URL: k.url, Username: k.user, PasswordFile: filepath.Join(s.authRoot, "keystone", "password"),
			UserDomain: k.domain, Project: k.project, System: k.project == "",
		}
		return c
	}
	user := existing(filepath.Join(s.authRoot, "ironic", "username"))
	password := existing(filepath.Join(s.authRoot, "ironic", "password"))
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

// readExisting returns the file's content, empty when there is no such file.
func readExisting(file string) (string, error) {
	raw, err := os.ReadFile(file)
	if os.IsNotExist(err) || file == "" {
		return "", nil
	}
	return string(raw), err
}
