package cli

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/configured"
)

func TestClusterToken(t *testing.T) {
	const id = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
	g := NewWithT(t)
	hub := t.TempDir()
	key, err := auth.LoadKey(filepath.Join(hub, configured.KeyFile))
	g.Expect(err).NotTo(HaveOccurred())
	want, err := key.ClusterToken(auth.ClusterClaims{ClusterID: id})
	g.Expect(err).NotTo(HaveOccurred())
	private := filepath.Join(hub, "private.pem")
	pair, err := auth.ParsePair(writePrivateKey(t, private), "")
	g.Expect(err).NotTo(HaveOccurred())
	signed, err := key.With(pair).ClusterToken(auth.ClusterClaims{ClusterID: id})
	g.Expect(err).NotTo(HaveOccurred())
	next, err := key.ClusterToken(auth.ClusterClaims{ClusterID: id, Generation: 1772366400500000})
	g.Expect(err).NotTo(HaveOccurred())
	for name, tc := range map[string]struct {
		dir, id, want, wantErr string
		args                   []string
	}{
		"of the hub's key":       {hub, id, want + "\n", "", nil},
		"after a revocation":     {hub, id, next + "\n", "", []string{"--generation", "1772366400500000"}},
		"of a key pair":          {hub, id, signed + "\n", "", []string{"--hub-auth=local", "--hub-auth-private-key-file", private}},
		"of a pair without keys": {hub, id, "", "--hub-auth=local needs the private key", []string{"--hub-auth=local"}},
		"no id":                  {hub, "edge", "", "cluster id", nil},
		"another folder":         {filepath.Join(hub, "none"), id, "", "name the hub's own folder by --data-dir", nil},
		"a folder without a hub": {t.TempDir(), id, "", "agent.key is missing", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var out bytes.Buffer
			cmd := NewClusterToken()
			cmd.SetArgs(append([]string{tc.id, "--data-dir", tc.dir}, tc.args...))
			cmd.SetOut(&out)
			cmd.SetErr(&out)
			cmd.SilenceUsage, cmd.SilenceErrors = true, true
			err := cmd.ExecuteContext(t.Context())
			if tc.wantErr != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
				g.Expect(filepath.Join(hub, "none")).NotTo(BeADirectory())
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(out.String()).To(Equal(tc.want))
		})
	}
}

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
