package infraenv

import (
	"testing"

	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
)

// The networks that an InfraEnv selects are those of its hosts: they belong into its own
// image, and its hosts are installed with --copy-network instead of ip=MAC:dhcp (assisted-service#4475).
func TestReportedStaticNetworks(t *testing.T) {
	config := &agentv1.NMStateConfig{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "m0", Labels: map[string]string{"site": "edge"}}}
	config.Spec.Interfaces = []agentv1.NMStateInterface{{Name: "nic1", MacAddress: "52:54:00:00:00:01"}}
	config.Spec.NetConfig.Raw = []byte(`{"interfaces":[{"name":"nic1","type":"ethernet","state":"up","ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"192.0.2.7","prefix-length":24}]}}]}`)
	w := newWorld(t, pullSecret(goodSecret), config, infraEnv(func(e *agentv1.InfraEnv) {
		e.Spec.NMStateConfigLabelSelector = metav1.LabelSelector{MatchLabels: map[string]string{"site": "edge"}}
	}))
	_, env := w.pass()
	record, err := w.hub.Hub.InfraEnv(t.Context(), hubid.InfraEnv(env))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(record.StaticNetworkConfig).To(And(ContainSubstring("192.0.2.7"), ContainSubstring("52:54:00:00:00:01")))
}
