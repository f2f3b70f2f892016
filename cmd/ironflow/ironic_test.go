package main

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
)

func TestNamesOfTheCertificateCanBeSkipped(t *testing.T) {
	g := NewWithT(t)
	g.Expect(ironicConfig(ironicSettings{skipNames: true}).SkipServerName).To(BeTrue())
	g.Expect(ironicConfig(ironicSettings{}).SkipServerName).To(BeFalse())
}

func TestAuthenticationFollowsTheFolder(t *testing.T) {
	with := func(names ...string) string {
		dir := t.TempDir()
		for _, name := range names {
			file := filepath.Join(dir, name)
			NewWithT(t).Expect(os.MkdirAll(filepath.Dir(file), 0o700)).To(Succeed())
			NewWithT(t).Expect(os.WriteFile(file, []byte("x"), 0o600)).To(Succeed())
		}
		return dir
	}
	both := with("ironic/username", "ironic/password")
	for name, c := range map[string]struct {
		settings ironicSettings
		want     ironic.Auth
	}{
		"no files":      {ironicSettings{authRoot: with()}, ironic.Auth{}},
		"only a user":   {ironicSettings{authRoot: with("ironic/username")}, ironic.Auth{}},
		"user and more": {ironicSettings{authRoot: both}, ironic.Auth{Basic: &ironic.Basic{UsernameFile: both + "/ironic/username", PasswordFile: both + "/ironic/password"}}},
		"Keystone, the whole system": {
			ironicSettings{authRoot: both, keystone: keystoneSettings{url: "https://id.test/v3", user: "ironflow", domain: "Default"}},
			ironic.Auth{Keystone: &ironic.Keystone{URL: "https://id.test/v3", Username: "ironflow", UserDomain: "Default", System: true, PasswordFile: both + "/keystone/password"}},
		},
		"Keystone, a project": {
			ironicSettings{authRoot: both, keystone: keystoneSettings{url: "https://id.test/v3", user: "ironflow", domain: "Default", project: "service"}},
			ironic.Auth{Keystone: &ironic.Keystone{URL: "https://id.test/v3", Username: "ironflow", UserDomain: "Default", Project: "service", PasswordFile: both + "/keystone/password"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(ironicConfig(c.settings).Auth).To(Equal(c.want))
		})
	}
}
