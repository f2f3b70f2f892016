package infraenv

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// nmstate is an NMStateConfig of the site "edge" with the address for the card.
func nmstate(name, mac, address string, change ...func(*agentv1.NMStateConfig)) *agentv1.NMStateConfig {
	c := &agentv1.NMStateConfig{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name, Labels: map[string]string{"site": "edge"}}}
	c.Spec.Interfaces = []agentv1.NMStateInterface{{Name: "nic1", MacAddress: mac}}
	c.Spec.NetConfig.Raw = []byte(`{"interfaces":[{"name":"nic1","type":"ethernet","state":"up","ipv4":{"enabled":true,"dhcp":false,"address":[{"ip":"` + address + `","prefix-length":24}]}}]}`)
	for _, f := range change {
		f(c)
	}
	return c
}

func ofSite(e *agentv1.InfraEnv) {
	e.Spec.NMStateConfigLabelSelector = metav1.LabelSelector{MatchLabels: map[string]string{"site": "edge"}}
}

func (w *world) record(env *agentv1.InfraEnv) wire.InfraEnv {
	w.t.Helper()
	record, err := w.hub.Hub.InfraEnv(w.t.Context(), hubid.InfraEnv(env))
	w.Expect(err).NotTo(HaveOccurred())
	return record
}

// TestTheRecordHasTheStaticNetworks: those that an InfraEnv selects are those of its hosts.
// They belong into its own image, and its hosts are installed with --copy-network instead
// of ip=MAC:dhcp (assisted-service#4475).
func TestTheRecordHasTheStaticNetworks(t *testing.T) {
	elsewhere := nmstate("m0", "52:54:00:00:00:09", "198.51.100.9")
	elsewhere.Namespace = "other"
	w := newWorld(t, pullSecret(goodSecret), elsewhere,
		nmstate("m1", "52:54:00:00:00:02", "192.0.2.8"), nmstate("m0", "52:54:00:00:00:01", "192.0.2.7"),
		nmstate("m2", "52:54:00:00:00:03", "198.51.100.1", func(c *agentv1.NMStateConfig) { c.Labels["site"] = "core" }),
		infraEnv(ofSite, func(e *agentv1.InfraEnv) { e.Spec.NetworkDiscoveryDelaySeconds = new(int64(20)) }))
	_, env := w.pass()
	record := w.record(env)
	w.Expect(record.StaticNetworkConfig).To(MatchJSON(`[
		{"mac_interface_map":[{"logical_nic_name":"nic1","mac_address":"52:54:00:00:00:01"}],
		 "network_yaml":"interfaces:\n- ipv4:\n    address:\n    - ip: 192.0.2.7\n      prefix-length: 24\n    dhcp: false\n    enabled: true\n  name: nic1\n  state: up\n  type: ethernet\n"},
		{"mac_interface_map":[{"logical_nic_name":"nic1","mac_address":"52:54:00:00:00:02"}],
		 "network_yaml":"interfaces:\n- ipv4:\n    address:\n    - ip: 192.0.2.8\n      prefix-length: 24\n    dhcp: false\n    enabled: true\n  name: nic1\n  state: up\n  type: ethernet\n"}]`))
	w.Expect(record.NetworkDiscoveryDelaySeconds).To(HaveValue(BeEquivalentTo(20)))
	w.Expect(imageCreated(env).Status).To(Equal(corev1.ConditionTrue))

	w.Expect(w.kube.Delete(t.Context(), nmstate("m1", "", ""))).To(Succeed())
	_, env = w.pass()
	w.Expect(w.record(env).StaticNetworkConfig).NotTo(ContainSubstring("192.0.2.8"), "it is gone")
	env.Spec.NMStateConfigLabelSelector, env.Spec.NetworkDiscoveryDelaySeconds = metav1.LabelSelector{}, nil
	w.Expect(w.kube.Update(t.Context(), env)).To(Succeed())
	_, env = w.pass()
	w.Expect(w.record(env).StaticNetworkConfig).To(BeEmpty(), "an empty selector selects none")
	w.Expect(w.record(env).NetworkDiscoveryDelaySeconds).To(BeNil())
}

// TestANetworkThatCannotBeIsLeftOut: it is that of one host, and the images of the others stay.
func TestANetworkThatCannotBeIsLeftOut(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*agentv1.NMStateConfig)
		want   string
	}{
		"the card of another": {
			func(c *agentv1.NMStateConfig) { c.Spec.Interfaces[0].MacAddress = "52:54:00:00:00:0A" },
			"NMStateConfig m1: address 52:54:00:00:00:0a is that of a card of NMStateConfig m0, too",
		},
		"no card": {func(c *agentv1.NMStateConfig) { c.Spec.Interfaces = nil }, "NMStateConfig m1: spec.interfaces is empty"},
		"two cards of one name": {func(c *agentv1.NMStateConfig) {
			c.Spec.Interfaces = append(c.Spec.Interfaces, agentv1.NMStateInterface{Name: "nic1", MacAddress: "52:54:00:00:00:03"})
		}, "NMStateConfig m1: two cards have the name nic1"},
		"no document":            {func(c *agentv1.NMStateConfig) { c.Spec.NetConfig.Raw = nil }, "NMStateConfig m1 spec.config: is empty"},
		"a document that is odd": {func(c *agentv1.NMStateConfig) { c.Spec.NetConfig.Raw = []byte(`[]`) }, "NMStateConfig m1 spec.config: "},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pullSecret(goodSecret), nmstate("m0", "52:54:00:00:00:0a", "192.0.2.7"), nmstate("m1", "52:54:00:00:00:02", "192.0.2.8", tc.change), infraEnv(ofSite))
			_, env := w.pass()
			w.Expect(w.record(env).StaticNetworkConfig).To(And(ContainSubstring("192.0.2.7"), Not(ContainSubstring("192.0.2.8"))))
			w.Expect(imageCreated(env)).To(And(HaveField("Status", corev1.ConditionTrue), HaveField("Reason", agentv1.ReasonImageCreated), HaveField("Message", ContainSubstring(tc.want))))
			w.Expect(staticNetworks(env)).To(HaveValue(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", agentv1.ReasonNetworksLeftOut),
				HaveField("Message", And(ContainSubstring("1 of 2 NMStateConfigs"), ContainSubstring(tc.want), ContainSubstring("DHCP"), ContainSubstring("Next: "))))))
			_, again := w.pass()
			w.Expect(again.ResourceVersion).To(Equal(env.ResourceVersion), "a pass without news writes nothing")
		})
	}
}

// TestANetworkThatTheLiveSystemCannotDo stays in the record, since another base image may
// have what it needs, and is named with the ways out.
func TestANetworkThatTheLiveSystemCannotDo(t *testing.T) {
	beyond := nmstate("m1", "52:54:00:00:00:02", "192.0.2.8", func(c *agentv1.NMStateConfig) {
		c.Spec.NetConfig.Raw = []byte(`{"interfaces":[{"name":"nic1"},{"name":"vx","type":"vxlan","vxlan":{"id":7,"base-iface":"nic1","remote":"192.0.2.1"}}]}`)
	})
	w := newWorld(t, pullSecret(goodSecret), nmstate("m0", "52:54:00:00:00:0a", "192.0.2.7"), beyond, infraEnv(ofSite))
	_, env := w.pass()
	w.Expect(w.record(env).StaticNetworkConfig).To(And(ContainSubstring("192.0.2.7"), ContainSubstring("vxlan")))
	w.Expect(imageCreated(env)).To(And(HaveField("Status", corev1.ConditionTrue), HaveField("Message", ContainSubstring("NMStateConfig m1 spec.config"))))
	w.Expect(staticNetworks(env)).To(HaveValue(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", agentv1.ReasonNetworksLeftOut), HaveField("Message", And(
		ContainSubstring(
			"1 of 2 NMStateConfigs",
		),
		ContainSubstring("NMStateConfig m1 spec.config"),
		ContainSubstring("interfaces[1].type"),
		ContainSubstring("base image 9 is too old"),
		Not(ContainSubstring("m0")),
	)))))

	w.r.live = func(context.Context, string, string) network.Live { return network.Live{Nmstatectl: true} }
	_, env = w.pass()
	w.Expect(staticNetworks(env)).To(HaveValue(HaveField("Status", corev1.ConditionTrue)))
}

// noHub keeps nothing: what it is told is looked at elsewhere.
type noHub struct{}

func (noHub) EnsureInfraEnv(context.Context, service.InfraEnvSpec) (wire.InfraEnv, error) {
	return wire.InfraEnv{}, nil
}

func (noHub) DeleteInfraEnv(context.Context, string) error { return nil }

func (noHub) ImageURLs(context.Context, string) (service.ImageURLs, error) {
	return service.ImageURLs{}, nil
}

func (noHub) ImageToken(context.Context, string) (string, error) { return "", nil }

// TestAnotherBaseImageIsLookedAt: nothing of the InfraEnv changes with it, and the condition
// would go on saying that hosts boot with DHCP which do not.
func TestAnotherBaseImageIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, scheme := NewWithT(t), runtime.NewScheme()
		for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, agentv1.AddToScheme, hivev1.AddToScheme, hiveextv1.AddToScheme} {
			g.Expect(add(scheme)).To(Succeed())
		}
		api, err := kubeapi.New(scheme, &agentv1.InfraEnv{}, &agentv1.NMStateConfig{}, &agentv1.Agent{}, &hivev1.ClusterDeployment{}, &hiveextv1.AgentClusterInstall{}, &corev1.Secret{}, &corev1.ConfigMap{})
		g.Expect(err).NotTo(HaveOccurred())
		kube, err := api.Client(scheme)
		g.Expect(err).NotTo(HaveOccurred())
		mgr, err := api.Manager(scheme, nil)
		g.Expect(err).NotTo(HaveOccurred())
		var has atomic.Bool
		bases := make(chan struct{}, 1)
		live := func(context.Context, string, string) network.Live { return network.Live{Nmstatectl: has.Load()} }
		g.Expect(Setup(mgr, noHub{}, "https://hub.example", live, bases)).To(Succeed())
		stop, _ := kubeapi.Start(t, mgr)
		defer stop()

		beyond := nmstate("m1", "52:54:00:00:00:02", "192.0.2.8", func(c *agentv1.NMStateConfig) {
			c.Spec.NetConfig.Raw = []byte(`{"interfaces":[{"name":"nic1"},{"name":"vx","type":"vxlan","vxlan":{"id":7,"base-iface":"nic1","remote":"192.0.2.1"}}]}`)
		})
		env := infraEnv(ofSite)
		env.UID = ""
		for _, o := range []client.Object{pullSecret(goodSecret), beyond, env} {
			g.Expect(kube.Create(t.Context(), o)).To(Succeed())
		}
		shown := func() *agentv1.Condition {
			<-time.After(time.Minute)
			g.Expect(kube.Get(t.Context(), key, env)).To(Succeed())
			return staticNetworks(env)
		}
		g.Expect(shown()).To(HaveValue(HaveField("Reason", agentv1.ReasonNetworksLeftOut)))
		has.Store(true)
		bases <- struct{}{}
		g.Expect(shown()).To(HaveValue(HaveField("Reason", agentv1.ReasonNetworksTaken)))
	})
}

func staticNetworks(env *agentv1.InfraEnv) *agentv1.Condition {
	return agentv1.FindCondition(env.Status.Conditions, agentv1.ConditionStaticNetworks)
}

// TestWhetherHostsGetTheirNetworksIsACondition: whoever reads the InfraEnv sees it without
// reading messages of a condition that says something else.
func TestWhetherHostsGetTheirNetworksIsACondition(t *testing.T) {
	w := newWorld(t, pullSecret(goodSecret), nmstate("m0", "52:54:00:00:00:0a", "192.0.2.7"), infraEnv(ofSite))
	_, env := w.pass()
	w.Expect(staticNetworks(env)).To(HaveValue(And(
		HaveField("Status", corev1.ConditionTrue), HaveField("Reason", agentv1.ReasonNetworksTaken),
		HaveField("Message", HavePrefix("1 NMStateConfig is in the record of this environment")),
	)))

	bad := nmstate("m1", "52:54:00:00:00:0A", "192.0.2.8")
	w.Expect(w.kube.Create(t.Context(), bad)).To(Succeed())
	_, env = w.pass()
	w.Expect(staticNetworks(env)).To(HaveValue(HaveField("Status", corev1.ConditionFalse)))
	bad.Spec.Interfaces[0].MacAddress = "52:54:00:00:00:0b"
	w.Expect(w.kube.Update(t.Context(), bad)).To(Succeed())
	_, env = w.pass()
	w.Expect(staticNetworks(env)).To(HaveValue(And(HaveField("Status", corev1.ConditionTrue), HaveField("Message", HavePrefix("2 NMStateConfigs are in the record of this environment")))))

	env.Spec.NMStateConfigLabelSelector.MatchLabels["site"] = "egde"
	w.Expect(w.kube.Update(t.Context(), env)).To(Succeed())
	_, env = w.pass()
	w.Expect(staticNetworks(env)).To(HaveValue(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", agentv1.ReasonNoNetworkSelected), HaveField("Message", ContainSubstring("Next: ")))))
	env.Spec.NMStateConfigLabelSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "site", Operator: "Like"}}}
	w.Expect(w.kube.Update(t.Context(), env)).To(Succeed())
	_, env = w.pass()
	w.Expect(staticNetworks(env)).To(HaveValue(And(
		HaveField("Status", corev1.ConditionFalse), HaveField("Reason", agentv1.ReasonNoNetworkSelected),
		HaveField("Message", ContainSubstring("cannot be understood")),
	)))
	env.Spec.NMStateConfigLabelSelector = metav1.LabelSelector{}
	w.Expect(w.kube.Update(t.Context(), env)).To(Succeed())
	_, env = w.pass()
	w.Expect(staticNetworks(env)).To(BeNil(), "an environment that selects none has DHCP on purpose")
}

func TestManyNetworksThatCannotBeAreAFewWords(t *testing.T) {
	objects := []client.Object{pullSecret(goodSecret), infraEnv(ofSite)}
	for n := range 9 {
		objects = append(objects, nmstate(fmt.Sprintf("m%d", n), "52:54:00:00:00:0a", "192.0.2.7"))
	}
	w := newWorld(t, objects...)
	_, env := w.pass()
	w.Expect(imageCreated(env).Message).To(And(
		ContainSubstring("8 networks are left out"), ContainSubstring("NMStateConfig m5"), Not(ContainSubstring("NMStateConfig m6:")),
		ContainSubstring("; and 3 more. Next: "),
	))
}

func TestASelectorThatNobodyUnderstands(t *testing.T) {
	w := newWorld(t, pullSecret(goodSecret), infraEnv(func(e *agentv1.InfraEnv) {
		e.Spec.NMStateConfigLabelSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "site", Operator: "Like"}}}
	}))
	_, env := w.pass()
	w.Expect(imageCreated(env)).To(And(HaveField("Reason", agentv1.ReasonImageCreationError), HaveField("Message", ContainSubstring("spec.nmStateConfigLabelSelector"))))
}

func TestNetworksWakeTheirEnvironments(t *testing.T) {
	w := newWorld(t, infraEnv(ofSite))
	w.Expect(w.r.envsOfNetwork(t.Context(), nmstate("m0", "", ""))).To(ConsistOf(ctrlreconcile.Request{NamespacedName: key}))
	other := nmstate("m0", "", "", func(c *agentv1.NMStateConfig) { c.Labels = nil })
	w.Expect(w.r.envsOfNetwork(t.Context(), other)).To(BeEmpty())
	other = nmstate("m0", "", "")
	other.Namespace = "other"
	w.Expect(w.r.envsOfNetwork(t.Context(), other)).To(BeEmpty())
}
