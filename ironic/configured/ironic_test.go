package configured

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/ironic"
)

func TestNamesOfTheCertificateCanBeSkipped(t *testing.T) {
	g := NewWithT(t)
	g.Expect(One(v1alpha1.Ironic{SkipNames: true}).SkipServerName).To(BeTrue())
	g.Expect(One(v1alpha1.Ironic{}).SkipServerName).To(BeFalse())
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
		settings v1alpha1.Ironic
		want     ironic.Auth
	}{
		"no files":      {v1alpha1.Ironic{AuthRoot: with()}, ironic.Auth{}},
		"only a user":   {v1alpha1.Ironic{AuthRoot: with("ironic/username")}, ironic.Auth{}},
		"user and more": {v1alpha1.Ironic{AuthRoot: both}, ironic.Auth{Basic: &ironic.Basic{UsernameFile: both + "/ironic/username", PasswordFile: both + "/ironic/password"}}},
		"Keystone, the whole system": {
			v1alpha1.Ironic{AuthRoot: both, KeystoneURL: "https://id.test/v3", KeystoneUser: "ironflow", KeystoneDomain: "Default"},
			ironic.Auth{Keystone: &ironic.Keystone{URL: "https://id.test/v3", Username: "ironflow", UserDomain: "Default", System: true, PasswordFile: both + "/keystone/password"}},
		},
		"Keystone, a project": {
			v1alpha1.Ironic{AuthRoot: both, KeystoneURL: "https://id.test/v3", KeystoneUser: "ironflow", KeystoneDomain: "Default", KeystoneProject: "service"},
			ironic.Auth{Keystone: &ironic.Keystone{URL: "https://id.test/v3", Username: "ironflow", UserDomain: "Default", Project: "service", PasswordFile: both + "/keystone/password"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(One(c.settings).Auth).To(Equal(c.want))
		})
	}
}
