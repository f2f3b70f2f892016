package image

import (
	"context"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

func nmState(name, mac, config string) *agentv1.NMStateConfig {
	c := &agentv1.NMStateConfig{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name, Labels: map[string]string{"site": "edge"}}}
	c.Spec.Interfaces = []agentv1.NMStateInterface{{Name: "uplink", MacAddress: mac}}
	c.Spec.NetConfig.Raw = []byte(config)
	return c
}

const staticUplink = `{"interfaces":[
  {"name":"uplink","type":"ethernet","state":"up","ipv4":{"enabled":true,"address":[{"ip":"192.0.2.7","prefix-length":24}]}},
  {"name":"uplink.7","type":"vlan","vlan":{"base-iface":"uplink","id":7},"ipv4":{"enabled":true,"dhcp":true}}]}`

func selecting(e *agentv1.InfraEnv) {
	e.Spec.NMStateConfigLabelSelector = metav1.LabelSelector{MatchLabels: map[string]string{"site": "edge"}}
}

func bootsFrom(mac string) *metal3v1.BareMetalHost {
	h := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	h.Spec.BootMACAddress = mac
	return h
}

// A host without DHCP has its addresses before the hub has ever seen it.
func TestStaticNetworkOfAnInfraEnvReachesItsHost(t *testing.T) {
	w := newWorld(t, asked(ofEdge), edge(selecting), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`), bootsFrom("02:00:00:00:00:01"),
		nmState("node-0", "02:00:00:00:00:01", staticUplink), nmState("node-1", "02:00:00:00:00:02", `{"interfaces":[{"name":"other"}]}`))
	i, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(is(i, metal3v1.ConditionImageReady).Status).To(Equal(metav1.ConditionTrue))
	files := w.store.specs[0].NetworkKeyfiles
	w.Expect(files).To(HaveLen(2))
	w.Expect(string(files["uplink.nmconnection"])).To(And(ContainSubstring("192.0.2.7/24"), ContainSubstring("mac-address=02:00:00:00:00:01")))
	w.Expect(string(files["uplink.nmconnection"])).NotTo(ContainSubstring("interface-name="), "the card has another name in the live system")
	w.Expect(w.r.imagesOfNMState(t.Context(), nmState("node-0", "", ""))).To(ConsistOf(ctrl.Request{NamespacedName: key}))
}

func TestOtherHostsGetNoneOfIt(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*agentv1.InfraEnv)
		mac    string
		config string
		want   metav1.ConditionStatus
		files  int
	}{
		"nothing in it":      {selecting, "02:00:00:00:00:01", `null`, metav1.ConditionFalse, 0},
		"another card":       {selecting, "02:00:00:00:00:09", staticUplink, metav1.ConditionTrue, 0},
		"an empty selector":  {func(*agentv1.InfraEnv) {}, "02:00:00:00:00:01", staticUplink, metav1.ConditionTrue, 0},
		"a host's own":       {selecting, "02:00:00:00:00:01", staticUplink, metav1.ConditionTrue, 2},
		"one that is broken": {selecting, "02:00:00:00:00:01", `{"interfaces":[{"name":"a","type":"ovs-bridge"}]}`, metav1.ConditionFalse, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, asked(ofEdge), edge(c.change), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`), bootsFrom(c.mac),
				nmState("node-0", "02:00:00:00:00:01", c.config))
			i, _, err := w.pass()
			w.Expect(err).NotTo(HaveOccurred())
			ready := is(i, metal3v1.ConditionImageReady)
			w.Expect(ready.Status).To(Equal(c.want))
			if c.want == metav1.ConditionFalse {
				w.Expect(ready).To(And(
					HaveField("Reason", ReasonBuildInvalid),
					HaveField("Message", And(ContainSubstring("NMStateConfig node-0"), Or(ContainSubstring("interfaces[0].type"), ContainSubstring("document: is empty")))),
				))
				return
			}
			w.Expect(w.store.specs[0].NetworkKeyfiles).To(HaveLen(c.files))
		})
	}
}

// The primary port of a bond has a name that only the live system knows: the keyfiles go
// through the script that fills it in.
func TestACardsNameIsFilledInByTheLiveSystem(t *testing.T) {
	const bond = `{"hostname":{"config":"node-0.example.com"},"interfaces":[{"name":"bond0","type":"bond",
		"link-aggregation":{"mode":"active-backup","port":["uplink"],"options":{"primary":"uplink"}},"ipv4":{"enabled":true,"dhcp":true}}]}`
	w := newWorld(t, asked(ofEdge), edge(selecting), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`), bootsFrom("02:00:00:00:00:01"),
		nmState("node-0", "02:00:00:00:00:01", bond))
	_, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	spec := w.store.specs[0]
	w.Expect(spec.NetworkKeyfiles).To(BeEmpty())
	files := map[string]string{}
	for _, f := range spec.InitrdFiles {
		files[f.Name] = string(f.Data)
	}
	w.Expect(files["etc/assisted/network/host0/mac_interface.ini"]).To(Equal("02:00:00:00:00:01=uplink\n"))
	w.Expect(files["etc/assisted/network/host0/bond0.nmconnection"]).To(ContainSubstring("primary=uplink\n"))
	w.Expect(string(spec.Ignition)).To(And(ContainSubstring("/etc/hostname"), ContainSubstring("node-0.example.com")))
}

// What is left to nmstatectl is said on the image: nobody else would, before the machine
// boots.
func TestAnImageSaysThatNmstatectlSetsItsNetworkUp(t *testing.T) {
	w := newWorld(t, asked(ofEdge), edge(selecting), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`), bootsFrom("02:00:00:00:00:01"),
		nmState("node-0", "02:00:00:00:00:01", `{"interfaces":[{"name":"uplink"},{"name":"vx","type":"vxlan"}]}`))
	var arch string
	w.r.options.Live = func(_ context.Context, a, _ string) network.Live {
		arch = a
		return network.Live{Nmstatectl: true}
	}
	i, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(arch).To(Equal(i.Spec.Architecture))
	w.Expect(is(i, metal3v1.ConditionImageReady)).To(And(HaveField("Status", metav1.ConditionTrue),
		HaveField("Message", And(ContainSubstring("by nmstatectl"), ContainSubstring("interfaces[1].type")))))
	w.Expect(string(w.store.specs[0].Ignition)).To(ContainSubstring("ironflow-nmstate.service"))
}

// A host that gets no network, or one of two, is told so on its image: with an address
// mistyped it would boot with DHCP, and nobody would see why.
func TestAnImageSaysWhichNetworkItHasNot(t *testing.T) {
	for name, tc := range map[string]struct {
		env      func(*agentv1.InfraEnv)
		configs  []*agentv1.NMStateConfig
		want     string
		keyfiles int
	}{
		"its own": {selecting, []*agentv1.NMStateConfig{nmState("node-0", "02:00:00:00:00:01", staticUplink)}, "Generated image", 2},
		"none that holds its card": {
			selecting,
			[]*agentv1.NMStateConfig{nmState("node-0", "02:00:00:00:00:10", staticUplink)},
			"Generated image, without a static network: none of the 1 NMStateConfigs that InfraEnv edge selects holds a card of this host, and it boots with DHCP. " +
				"Next: correct spec.interfaces of the one that is meant, or spec.bootMACAddress of the host", 0,
		},
		"two that hold its card": {
			selecting,
			[]*agentv1.NMStateConfig{nmState("node-0", "02:00:00:00:00:01", staticUplink), nmState("node-1", "02:00:00:00:00:01", staticUplink)},
			"Generated image, with the network of NMStateConfig node-0: node-1 holds a card of this host, too, and is left out. Next: describe a host in one NMStateConfig", 2,
		},
		"none is asked for": {func(*agentv1.InfraEnv) {}, nil, "Generated image", 0},
		"none is there":     {selecting, nil, "Generated image", 0},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{asked(ofEdge), edge(tc.env), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`), bootsFrom("02:00:00:00:00:01")}
			for _, c := range tc.configs {
				objects = append(objects, c)
			}
			w := newWorld(t, objects...)
			i, _, err := w.pass()
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(is(i, metal3v1.ConditionImageReady)).To(And(HaveField("Status", metav1.ConditionTrue), HaveField("Message", tc.want)))
			w.Expect(w.store.specs[0].NetworkKeyfiles).To(HaveLen(tc.keyfiles))
			w.Expect(w.kube.Create(t.Context(), nmState("z", "02:00:00:00:00:01", staticUplink))).To(Succeed())
			i, _, err = w.pass()
			w.Expect(err).NotTo(HaveOccurred())
			if tc.keyfiles > 0 {
				w.Expect(is(i, metal3v1.ConditionImageReady).Message).To(MatchRegexp(`: .*\bz holds a card of this host, too`), "the message follows what there is")
			}
		})
	}
}

func TestTheVersionOfAnInfraEnvPicksTheBase(t *testing.T) {
	w := newWorld(t, asked(ofEdge), edge(func(e *agentv1.InfraEnv) { e.Spec.OSImageVersion = "4.18" }), secret("pull", corev1.DockerConfigJsonKey, `{"auths":{}}`))
	_, _, err := w.pass()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.store.specs[0].Version).To(Equal("4.18"))
}
