package bootstrap_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

// readyNodes plays a temporary control plane in which these nodes are Ready, and nothing else is.
func (h *host) readyNodes(t *testing.T, names ...string) {
	t.Helper()
	type object = map[string]any
	var items []object
	for _, name := range names {
		items = append(items, object{
			"metadata": object{"name": name, "labels": object{"node-role.kubernetes.io/master": ""}},
			"status":   object{"conditions": []object{{"type": "Ready", "status": "True"}}},
		})
	}
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(object{"items": items})
	}))
	t.Cleanup(api.Close)
	h.write(t, "/opt/openshift/auth/kubeconfig-loopback", kubeconfig(t, api))
	h.write(t, "/opt/openshift/.bootkube.done", "")
}

// withoutController is an order whose controller somebody else brings.
func withoutController(masters int64) wire.InstallCmdRequest {
	return request(func(r *wire.InstallCmdRequest) { r.ControllerImage, r.ControlPlaneCount = "", masters })
}

// TestANodeIsThatOfOneHost: a name that a host had in its live system and that another host
// was given since is the other one's alone.
func TestANodeIsThatOfOneHost(t *testing.T) {
	for name, tc := range map[string]struct {
		hosts []wire.Host
		want  []string
	}{
		"names that were exchanged": {
			[]wire.Host{
				{ID: "h1", InfraEnvID: id, RequestedHostname: "master-1", Inventory: `{"hostname":"master-2"}`},
				{ID: "h2", InfraEnvID: id, RequestedHostname: "master-2", Inventory: `{"hostname":"master-1"}`},
			},
			[]string{"h1 Joined", "h1 Done"},
		},
		"the name of the live system, where no other was given": {
			[]wire.Host{{ID: "h1", InfraEnvID: id, Inventory: `{"hostname":"master-1"}`}},
			[]string{"h1 Joined", "h1 Done"},
		},
		"a kubelet registers in small letters": {
			[]wire.Host{{ID: "h1", InfraEnvID: id, RequestedHostname: "Master-1", Inventory: `{"hostname":"x"}`}},
			[]string{"h1 Joined", "h1 Done"},
		},
		"the text of another member is no name": {
			[]wire.Host{{ID: "h1", InfraEnvID: id, Inventory: `{"hostname":"x","system_vendor":{"hostname":"master-1"}}`}},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := newHost(t)
			h.readyNodes(t, "master-1")
			h.hosts = tc.hosts
			g.Expect(h.run(t, h.role(), withoutController(2), "")).To(Succeed())
			g.Expect(h.told).To(Equal(tc.want))
		})
	}
}
