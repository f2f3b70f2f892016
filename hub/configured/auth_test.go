package configured

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/auth"
)

// writePrivateKey writes a key of the curve P-256 to the file, and returns its PEM.
func writePrivateKey(t *testing.T, path string) string {
	t.Helper()
	g := NewWithT(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	g.Expect(err).NotTo(HaveOccurred())
	raw, err := x509.MarshalECPrivateKey(key)
	g.Expect(err).NotTo(HaveOccurred())
	text := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
	g.Expect(os.WriteFile(path, text, 0o600)).To(Succeed())
	return string(text)
}

// TestKeysOfTheAuthenticationLocal: they come from files or the environment, what cannot work
// is refused at the start, and tokens are the pair's from then on.
func TestKeysOfTheAuthenticationLocal(t *testing.T) {
	dir := t.TempDir()
	private, empty := filepath.Join(dir, "private.pem"), filepath.Join(dir, "empty.pem")
	text := writePrivateKey(t, private)
	another := writePrivateKey(t, filepath.Join(dir, "another.pem"))
	NewWithT(t).Expect(os.WriteFile(empty, nil, 0o600)).To(Succeed())
	for name, tc := range map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"a file":             {args: []string{"--hub-auth=local", "--hub-auth-private-key-file=" + private}},
		"the environment":    {args: []string{"--hub-auth=local"}, env: map[string]string{"EC_PRIVATE_KEY_PEM": text}},
		"base64":             {args: []string{"--hub-auth=local"}, env: map[string]string{"EC_PRIVATE_KEY_PEM": base64.StdEncoding.EncodeToString([]byte(text))}},
		"no key":             {args: []string{"--hub-auth=local"}, want: "set --hub-auth-private-key-file or EC_PRIVATE_KEY_PEM"},
		"no such file":       {args: []string{"--hub-auth=local", "--hub-auth-private-key-file=/none"}, want: "--hub-auth-private-key-file: open /none"},
		"an empty file":      {args: []string{"--hub-auth=local", "--hub-auth-private-key-file=" + empty}, want: empty + " is empty"},
		"no such public key": {args: []string{"--hub-auth=local", "--hub-auth-private-key-file=" + private, "--hub-auth-public-key-file=/none"}, want: "--hub-auth-public-key-file: open /none"},
		"a public key that errs": {
			args: []string{"--hub-auth=local", "--hub-auth-private-key-file=" + private},
			env:  map[string]string{"EC_PUBLIC_KEY_PEM": another},
			want: "--hub-auth=local: the public key: ",
		},
		"keys for nothing":    {args: []string{"--hub-auth-private-key-file=" + private}, want: "keys of tokens are set, and --hub-auth is token"},
		"keys without tokens": {args: []string{"--hub-auth=none"}, env: map[string]string{"EC_PUBLIC_KEY_PEM": "x"}, want: "keys of tokens are set, and --hub-auth is none"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for k, v := range tc.env {
				t.Setenv(k, v)
			}
			var s v1alpha1.IronflowConfiguration
			flags := pflag.NewFlagSet("hub", pflag.ContinueOnError)
			settings.Bind(flags, topics.All(&s))
			g.Expect(flags.Parse(append([]string{"--data-dir=" + t.TempDir()}, tc.args...))).To(Succeed())
			err := CheckAuth(s.Hub)
			if tc.want != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			key, err := TokenKey(s.Hub, s.Store.DataDir)
			g.Expect(err).NotTo(HaveOccurred())
			const env = "cccccccc-0000-4000-8000-000000000001"
			token, err := key.Token(auth.Claims{InfraEnvID: env, Generation: 1})
			g.Expect(err).NotTo(HaveOccurred())
			pair, err := auth.ParsePair(text, "")
			g.Expect(err).NotTo(HaveOccurred())
			other, err := auth.NewKey(make([]byte, 32))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(other.With(pair).Check(token)).To(Equal(auth.Claims{InfraEnvID: env, Generation: 1}), "another hub with the pair takes it")
		})
	}
}
