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
	for name, tc := range map[string]struct{ dir, id, want, wantErr string }{
		"of the hub's key":       {hub, id, want + "\n", ""},
		"no id":                  {hub, "edge", "", "cluster id"},
		"another folder":         {filepath.Join(hub, "none"), id, "", "name the hub's own folder by --data-dir"},
		"a folder without a hub": {t.TempDir(), id, "", "agent.key is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var out bytes.Buffer
			cmd := newClusterTokenCommand()
			cmd.SetArgs([]string{tc.id, "--data-dir", tc.dir})
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
