//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/localtoken"
	"github.com/ironflow/ironflow/cluster/settings"
)

// TestTokensOfAKeyPair: a host is installed with a token that another program has signed with the
// hub's key pair, and the program inside its cluster reports with one that the hub has signed.
func TestTokensOfAKeyPair(t *testing.T) {
	t.Parallel()
	g := NewWithT(t)
	key, err := localtoken.New()
	g.Expect(err).NotTo(HaveOccurred())
	text, err := key.PEM()
	g.Expect(err).NotTo(HaveOccurred())
	private := filepath.Join(t.TempDir(), "private.pem")
	g.Expect(os.WriteFile(private, text, 0o600)).To(Succeed())

	w := prepare(t, "--hub-auth", "local", "--hub-auth-private-key-file", private)
	w.start(w.hub)
	w.connect(w.hub.URL, w.hub.CA)
	id := w.newCluster(1)
	p := w.newPool(id)
	p.token, err = key.Sign(map[string]string{"infra_env_id": p.id})
	g.Expect(err).NotTo(HaveOccurred())
	host := w.boot(p)
	w.install(p, id)
	w.installs(p)
	w.finish(p, id)
	w.Expect(w.written(w.host(host).ID)).To(Equal(1))
	w.Expect(w.insideEnvironment(id)[settings.TokenEnv]).To(HavePrefix("eyJ"), "it is a JSON web token")
}
