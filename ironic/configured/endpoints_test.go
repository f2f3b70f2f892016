package configured

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
)

func TestSeveralIronics(t *testing.T) {
	for name, c := range map[string]struct {
		file string
		want []ironic.Config
		says string
	}{
		"two": {
			file: `
- name: east
  url: https://east.example:6385
  caFile: ca.crt
  usernameFile: user
  passwordFile: /secret/password
- name: west
  url: https://west.example
  certFile: tls.crt
  keyFile: tls.key
  keystone: {url: "https://keystone.example/v3", username: ironflow, passwordFile: password, system: true}
`,
			want: []ironic.Config{
				{Name: "east", URL: "https://east.example:6385", CAFile: "DIR/ca.crt", Auth: ironic.Auth{
					Basic: &ironic.Basic{UsernameFile: "DIR/user", PasswordFile: "/secret/password"},
				}},
				{Name: "west", URL: "https://west.example", CertFile: "DIR/tls.crt", KeyFile: "DIR/tls.key", Auth: ironic.Auth{
					Keystone: &ironic.Keystone{URL: "https://keystone.example/v3", Username: "ironflow", PasswordFile: "DIR/password", System: true},
				}},
			},
		},
		"a name is missing": {file: "- url: https://east.example", says: "entry 1 of"},
		"a key is misspelt": {file: "- {name: east, uri: x}", says: `unknown field "uri"`},
		"nothing is listed": {file: "[]", says: "lists no Ironic"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			dir := t.TempDir()
			file := filepath.Join(dir, "endpoints.yaml")
			g.Expect(os.WriteFile(file, []byte(c.file), 0o600)).To(Succeed())
			got, err := readEndpoints(file)
			if c.says != "" {
				g.Expect(err).To(MatchError(ContainSubstring(c.says)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(got).To(HaveLen(len(c.want)))
			for i := range c.want {
				g.Expect(got[i]).To(Equal(inDir(c.want[i], dir)))
			}
		})
	}
}

// inDir puts the test's folder into a configuration.
func inDir(c ironic.Config, dir string) ironic.Config {
	files := []*string{&c.CAFile, &c.CertFile, &c.KeyFile}
	if b := c.Auth.Basic; b != nil {
		files = append(files, &b.UsernameFile, &b.PasswordFile)
	}
	if k := c.Auth.Keystone; k != nil {
		files = append(files, &k.PasswordFile)
	}
	for _, f := range files {
		if rest, ok := cutDir(*f); ok {
			*f = filepath.Join(dir, rest)
		}
	}
	return c
}

func cutDir(file string) (string, bool) {
	const prefix = "DIR/"
	if len(file) > len(prefix) && file[:len(prefix)] == prefix {
		return file[len(prefix):], true
	}
	return file, false
}
