package programs

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

func TestTheInstallerClient(t *testing.T) {
	g := NewWithT(t)
	root := t.TempDir()
	t.Setenv(hostfile.RootEnv, root)
	code, _, errs := call(t, "agent-installer-client", "register")
	g.Expect(code).To(Equal(2), "no hub")
	g.Expect(errs).NotTo(BeEmpty())
	var authorization string
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		authorization = r.Header.Get("Authorization")
		_, _ = io.WriteString(w, `[{"id": "11111111-1111-4111-8111-111111111111", "name": "edge", "openshift_cluster_id": "33333333-3333-4333-8333-333333333333"}]`)
	}))
	t.Cleanup(hub.Close)
	for name, value := range map[string]string{
		"SERVICE_BASE_URL": hub.URL, "USER_AUTH_TOKEN": "t0ken", "CLUSTER_ID": "33333333-3333-4333-8333-333333333333", "CLUSTER_NAME": "edge",
		"CLUSTER_API_VIP_DNS_NAME": "api.edge.example",
	} {
		t.Setenv(name, value)
	}
	code, _, errs = call(t, "agent-installer-client", "--dry-run", "importCluster")
	g.Expect(code).To(Equal(2), "it would be none")
	g.Expect(errs).To(Equal("agent-installer-client has no dry run\n"))
	g.Expect(authorization).To(BeEmpty(), "nobody was asked")
	code, _, errs = call(t, BinaryName, "agent-installer-client", "importCluster")
	g.Expect(code).To(Equal(1))
	g.Expect(errs).To(ContainSubstring("import-cluster-config.json"), "it says what is missing")

	g.Expect(os.MkdirAll(filepath.Join(root, "clusterconfig"), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(filepath.Join(root, "clusterconfig/import-cluster-config.json"), []byte(`{}`), 0o600)).To(Succeed())
	code, _, errs = call(t, "agent-installer-client", "importCluster")
	g.Expect(code).To(BeZero(), errs)
	g.Expect(authorization).To(Equal("t0ken"))

	code, _, _ = call(t, "agent-installer-client")
	g.Expect(code).To(Equal(2), "no subcommand")
	t.Setenv("CLUSTER_NAME", "")
	for subcommand, want := range map[string]int{"register": 1, "registerCluster": 1, "registerInfraEnv": 1, "configure": 2, "importCluster": 2, "dance": 2} {
		code, _, errs = call(t, "agent-installer-client", subcommand)
		g.Expect(code).To(Equal(want), subcommand)
		g.Expect(errs).NotTo(BeEmpty(), subcommand)
	}
}
