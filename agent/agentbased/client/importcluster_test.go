package client_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

const runningID = "33333333-3333-4333-8333-333333333333"

// running is a root directory with the files of a running cluster.
func running(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	g := NewWithT(t)
	g.Expect(os.MkdirAll(filepath.Join(root, "clusterconfig"), 0o755)).To(Succeed())
	for name, text := range files {
		g.Expect(os.WriteFile(filepath.Join(root, "clusterconfig", name), []byte(text), 0o600)).To(Succeed())
	}
	return root
}

func TestImportCluster(t *testing.T) {
	env := map[string]string{"CLUSTER_ID": runningID, "CLUSTER_NAME": "edge", "CLUSTER_API_VIP_DNS_NAME": "api.edge.lab.example"}
	config := `{"networking": {"userManagedNetworking": true}}`
	endpoint := `{"url": "https://192.0.2.5:22623/config/worker", "ca_certificate": "Q0E="}`
	imported := `{"id": "` + clusterID + `", "name": "edge", "openshift_cluster_id": "` + runningID + `"`
	const patch = "PATCH /clusters/" + clusterID
	for name, tc := range map[string]struct {
		files   map[string]string
		answers map[string][]answer
		calls   []string
		update  string
		want    string
	}{
		"a new one": {
			files: map[string]string{"import-cluster-config.json": config, "worker-ignition-endpoint.json": endpoint},
			answers: map[string][]answer{
				"GET /clusters": {{200, `[]`}}, "POST /clusters/import": {{201, imported + `}`}}, patch: {{201, imported + `}`}},
			},
			calls: []string{"GET /clusters", "POST /clusters/import", patch},
			update: `{"user_managed_networking": true, "ignition_endpoint": {"url": "https://192.0.2.5:22623/config/worker", "ca_certificate": "Q0E="},
				"api_vips": null, "cluster_networks": null, "ingress_vips": null, "machine_networks": null,
				"olm_operators": null, "operator_bundles": null, "service_networks": null}`,
		},
		"cut off before its settings": {
			files:   map[string]string{"import-cluster-config.json": config},
			answers: map[string][]answer{"GET /clusters": {{200, `[` + imported + `}]`}}, patch: {{201, imported + `}`}}},
			calls:   []string{"GET /clusters", patch},
			update: `{"user_managed_networking": true,
				"api_vips": null, "cluster_networks": null, "ingress_vips": null, "machine_networks": null,
				"olm_operators": null, "operator_bundles": null, "service_networks": null}`,
		},
		"known already": {
			files: map[string]string{"import-cluster-config.json": config, "worker-ignition-endpoint.json": endpoint},
			answers: map[string][]answer{
				"GET /clusters": {{200, `[` + imported + `, "user_managed_networking": true, "ignition_endpoint": ` + endpoint + `}]`}},
			},
			calls: []string{"GET /clusters"},
		},
		"another cluster": {
			files:   map[string]string{"import-cluster-config.json": `{}`},
			answers: map[string][]answer{"GET /clusters": {{200, `[{"name": "core"}]`}}},
			calls:   []string{"GET /clusters"}, want: `the hub has cluster core with id "" already`,
		},
		"no settings": {want: "import-cluster-config.json: no such file"},
		"unknown settings": {
			files: map[string]string{"import-cluster-config.json": `{"network": {}}`, "worker-ignition-endpoint.json": `{}`},
			want:  `/clusterconfig/import-cluster-config.json: want a JSON object: json: unknown field "network"` + "\nworker-ignition-endpoint.json: url is missing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			hub := newHub(t, tc.answers)
			err := newClient(t, hub.URL, running(t, tc.files), env).Run(t.Context(), "importCluster")
			if tc.want != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(hub.made()).To(Equal(tc.calls))
			if tc.update != "" {
				g.Expect(hub.body(t, patch)).To(MatchJSON(tc.update))
			}
			if name == "a new one" {
				g.Expect(hub.body(t, "POST /clusters/import")).To(MatchJSON(`{"name": "edge", "api_vip_dnsname": "api.edge.lab.example", "openshift_cluster_id": "` + runningID + `"}`))
			}
		})
	}
}
