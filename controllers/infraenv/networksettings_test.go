package infraenv

import (
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/test/crdpaths"
	"github.com/ironflow/ironflow/test/pages"
)

// networkSettings are the paths of an NMStateConfig's spec. The edit makes each something else, which is
// then in the record of the InfraEnv that selects it.
var networkSettings = []struct {
	path, becomes string
	edit          func(*agentv1.NMStateConfig)
	has           string
}{
	{
		"spec.interfaces[].macAddress", "`mac_interface_map[].mac_address` of `static_network_config`: by it a host finds its network",
		func(c *agentv1.NMStateConfig) { c.Spec.Interfaces[0].MacAddress = "52:54:00:00:00:aa" }, "52:54:00:00:00:aa",
	},
	{
		"spec.interfaces[].name", "`mac_interface_map[].logical_nic_name`: the name of that card in the document",
		func(c *agentv1.NMStateConfig) {
			c.Spec.Interfaces[0].Name = "nic7"
			c.Spec.NetConfig.Raw = []byte(strings.ReplaceAll(string(c.Spec.NetConfig.Raw), "nic1", "nic7"))
		}, `"logical_nic_name":"nic7"`,
	},
	{
		"spec.config", "`network_yaml`: the document, as it is; what it cannot be is said by the condition `StaticNetworks` of the InfraEnv",
		func(c *agentv1.NMStateConfig) {
			c.Spec.NetConfig.Raw = []byte(strings.ReplaceAll(string(c.Spec.NetConfig.Raw), "192.0.2.7", "192.0.2.77"))
		}, "192.0.2.77",
	},
}

// TestEverySettingOfANetworkHasItsRow: nothing that a user can write is forgotten, and each reaches the hub.
func TestEverySettingOfANetworkHasItsRow(t *testing.T) {
	var rows []string
	var b strings.Builder
	b.WriteString("| setting of an NMStateConfig | becomes |\n|---|---|\n")
	for _, s := range networkSettings {
		rows = append(rows, s.path)
		fmt.Fprintf(&b, "| `%s` | %s |\n", s.path, s.becomes)
	}
	crdpaths.Leaves(t, "NMStateConfig", rows)
	pages.Generated{Root: "../..", Page: "host-fields.md", Package: "./controllers/infraenv", Update: *update}.Hold(t, "settings of an NMStateConfig", b.String())
	for _, s := range networkSettings {
		t.Run(s.path, func(t *testing.T) {
			config := nmstate("m0", "52:54:00:00:00:01", "192.0.2.7")
			w := newWorld(t, pullSecret(goodSecret), config, infraEnv(ofSite))
			_, env := w.pass()
			w.Expect(w.record(env).StaticNetworkConfig).NotTo(ContainSubstring(s.has))
			w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(config), config)).To(Succeed())
			s.edit(config)
			w.Expect(w.kube.Update(t.Context(), config)).To(Succeed())
			_, env = w.pass()
			w.Expect(w.record(env).StaticNetworkConfig).To(ContainSubstring(s.has))
			w.Expect(w.kube.Delete(t.Context(), config)).To(Succeed())
			_, env = w.pass()
			w.Expect(w.record(env).StaticNetworkConfig).NotTo(ContainSubstring(s.has), "it is gone")
		})
	}
}
