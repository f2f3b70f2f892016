package main

import (
	"bytes"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
)

func TestClusterToken(t *testing.T) {
	const id = "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"
	g := NewWithT(t)
	hub := t.TempDir()
	key, err := auth.LoadKey(filepath.Join(hub, keyFile))
	g.Expect(err).NotTo(HaveOccurred())
	want, err := key.ClusterToken(id)
	g.Expect(err).NotTo(HaveOccurred())
	private := filepath.Join(hub, "private.pem")
	pair, err := auth.ParsePair(writePrivateKey(t, private), "")
	g.Expect(err).NotTo(HaveOccurred())
	signed, err := key.With(pair).ClusterToken(id)
	g.Expect(err).NotTo(HaveOccurred())
	for name, tc := range map[string]struct {
		dir, id, want, wantErr string
		args                   []string
	}{
		"of the hub's key":       {hub, id, want + "\n", "", nil},
		"of a key pair":          {hub, id, signed + "\n", "", []string{"--hub-auth=local", "--hub-auth-private-key-file", private}},
		"of a pair without keys": {hub, id, "", "--hub-auth=local needs the private key", []string{"--hub-auth=local"}},
		"no id":                  {hub, "edge", "", "cluster id", nil},
		"another folder":         {filepath.Join(hub, "none"), id, "", "name the hub's own folder by --data-dir", nil},
		"a folder without a hub": {t.TempDir(), id, "", "agent.key is missing", nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var out bytes.Buffer
			cmd := newClusterTokenCommand()
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
