package infraenv

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/crdpaths"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the table of docs/host-fields.md")

// setting is what becomes of a path of an InfraEnv's spec.
type setting struct {
	path, spec string
	// has is true of the record and the status where the spec asks for it, gone when it asks
	// no more; nil has another test.
	has, gone gomegatypes.GomegaMatcher
	becomes   string
}

// made is what an InfraEnv has become.
type made struct {
	wire.InfraEnv
	Registries string
	// Script is the address of the iPXE script.
	Script string
}

// The addresses of two NMStateConfigs, of the sites "edge" and "core".
const ofEdge, ofCore = "192.0.2.7", "198.51.100.1"

// selecting is the row of a member of the selector of networks, by which the record has those that are not empty.
func selecting(member, selector, edge, core string) setting {
	has := func(address, want string) gomegatypes.GomegaMatcher {
		if want == "" {
			return in("StaticNetworkConfig", Not(ContainSubstring(address)))
		}
		return in("StaticNetworkConfig", ContainSubstring(address))
	}
	return setting{
		"spec.nmStateConfigLabelSelector." + member, `{"nmStateConfigLabelSelector":` + selector + `}`, And(has(ofEdge, edge), has(ofCore, core)),
		in("StaticNetworkConfig", BeEmpty()), "which NMStateConfigs are in `static_network_config`, and the network of each host's own image",
	}
}

func in(member string, matcher any) gomegatypes.GomegaMatcher { return HaveField(member, matcher) }

var settings = []setting{
	{
		"spec.proxy.httpProxy", `{"proxy":{"httpProxy":"http://proxy.example:3128"}}`,
		in("Proxy", HaveField("HTTPProxy", HaveValue(Equal("http://proxy.example:3128")))), in("Proxy", BeNil()), "`proxy.http_proxy`",
	},
	{
		"spec.proxy.httpsProxy", `{"proxy":{"httpsProxy":"http://proxy.example:3129"}}`,
		in("Proxy", HaveField("HTTPSProxy", HaveValue(Equal("http://proxy.example:3129")))), in("Proxy", BeNil()), "`proxy.https_proxy`",
	},
	{
		"spec.proxy.noProxy", `{"proxy":{"httpProxy":"http://proxy.example:3128","noProxy":"example.com"}}`,
		in("Proxy", HaveField("NoProxy", HaveValue(Equal("example.com")))), in("Proxy", BeNil()), "`proxy.no_proxy`",
	},
	{
		"spec.additionalNTPSources[]", `{"additionalNTPSources":["ntp1.example","ntp2.example"]}`, in("AdditionalNTPSources", "ntp1.example,ntp2.example"),
		in("AdditionalNTPSources", ""), "`additional_ntp_sources`",
	},
	{"spec.ntpSources[]", `{"ntpSources":["ntp3.example"]}`, in("NTPSources", "ntp3.example"), in("NTPSources", ""), "`ntp_sources`"},
	{
		"spec.sshAuthorizedKey", `{"sshAuthorizedKey":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"}`,
		in("SSHAuthorizedKey", HavePrefix("ssh-ed25519")), in("SSHAuthorizedKey", ""), "`ssh_authorized_key`",
	},
	{"spec.pullSecretRef.name", `{}`, nil, nil, "`pull_secret`: key `.dockerconfigjson` of the Secret; required"},
	{"spec.agentLabels{}", `{}`, nil, nil, "labels of each Agent when it is made"},
	{"spec.agentApproval.autoApprove", `{"agentApproval":{"autoApprove":true}}`, nil, nil, "`spec.approved` of each Agent when it is made"},
	selecting("matchLabels{}", `{"matchLabels":{"site":"edge"}}`, ofEdge, ""),
	selecting("matchExpressions[].key", `{"matchExpressions":[{"key":"site","operator":"Exists"}]}`, ofEdge, ofCore),
	selecting("matchExpressions[].operator", `{"matchExpressions":[{"key":"site","operator":"NotIn","values":["core"]}]}`, ofEdge, ""),
	selecting("matchExpressions[].values[]", `{"matchExpressions":[{"key":"site","operator":"In","values":["core"]}]}`, "", ofCore),
	{"spec.clusterRef.name", `{}`, nil, nil, "`cluster_id`: the ClusterDeployment's; cannot change"},
	{"spec.clusterRef.namespace", `{}`, nil, nil, "`cluster_id`: where the ClusterDeployment is"},
	{
		"spec.kernelArguments[].operation", `{"kernelArguments":[{"operation":"replace","value":"a=b=c"}]}`,
		in("KernelArguments", HaveValue(MatchJSON(`[{"operation":"replace","value":"a=b=c"}]`))), in("KernelArguments", BeNil()), "`kernel_arguments[].operation`",
	},
	{
		"spec.kernelArguments[].value", `{"kernelArguments":[{"operation":"append","value":"a=b"}]}`,
		in("KernelArguments", HaveValue(MatchJSON(`[{"operation":"append","value":"a=b"}]`))), in("KernelArguments", BeNil()), "`kernel_arguments[].value`",
	},
	{
		"spec.ignitionConfigOverride", `{"ignitionConfigOverride":"{\"ignition\":{\"version\":\"3.2.0\"}}"}`, in("IgnitionConfigOverride", ContainSubstring("3.2.0")),
		in("IgnitionConfigOverride", ""), "`ignition_config_override`",
	},
	{"spec.cpuArchitecture", `{}`, nil, nil, "`cpu_architecture`; cannot change"},
	{"spec.osImageVersion", `{"osImageVersion":"4.18"}`, in("OpenshiftVersion", "4.18"), in("OpenshiftVersion", ""), "`openshift_version`: which base image; the newest where it is not given"},
	{"spec.imageType", `{"imageType":"minimal-iso"}`, in("Type", wire.ImageTypeMinimalISO), in("Type", wire.ImageTypeFullISO), "`image_type`; `full-iso` where it is not given"},
	{
		"spec.ipxeScriptType", `{"ipxeScriptType":"BootOrderControl"}`, in("Script", ContainSubstring("boot-order-control")),
		in("Script", Not(ContainSubstring("boot-order-control"))), "the address of the iPXE script in the status",
	},
	{"spec.additionalTrustBundle", `{"additionalTrustBundle":` + quoted(certificate) + `}`, in("AdditionalTrustBundle", certificate), in("AdditionalTrustBundle", ""), "`additional_trust_bundle`"},
	{
		"spec.mirrorRegistryRef.name", `{"mirrorRegistryRef":{"name":"mirrors","namespace":"site"}}`,
		And(in("Registries", ContainSubstring("mirror.example")), in("AdditionalTrustBundle", certificate)), And(in("Registries", ""), in("AdditionalTrustBundle", "")),
		"`/etc/containers/registries.conf` of live images, of key `registries.conf` of the ConfigMap; key `ca-bundle.crt` is added to the trust bundle. Another ConfigMap, or content, makes other images",
	},
	{
		"spec.mirrorRegistryRef.namespace", `{"mirrorRegistryRef":{"name":"mirrors","namespace":"elsewhere"}}`,
		in("Registries", ContainSubstring("elsewhere.example")), in("Registries", ""), "where that ConfigMap is",
	},
	{
		"spec.networkDiscoveryDelaySeconds", `{"networkDiscoveryDelaySeconds":30}`, in("NetworkDiscoveryDelaySeconds", HaveValue(BeEquivalentTo(30))),
		in("NetworkDiscoveryDelaySeconds", BeNil()), "`network_discovery_delay_seconds`",
	},
}

func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// TestEverySettingOfAnInfraEnvHasItsRow: nothing that a user can write is forgotten.
func TestEverySettingOfAnInfraEnvHasItsRow(t *testing.T) {
	var rows []string
	var b strings.Builder
	b.WriteString("| setting of an InfraEnv | becomes |\n|---|---|\n")
	for _, s := range settings {
		rows = append(rows, s.path)
		fmt.Fprintf(&b, "| `%s` | %s |\n", s.path, s.becomes)
	}
	crdpaths.Leaves(t, "InfraEnv", rows)
	pages.Generated{Root: "../..", Page: "host-fields.md", Package: "./controllers/infraenv", Update: *update}.Hold(t, "settings of an InfraEnv", b.String())
}

const registries = `[[registry]]
location = "quay.io/site"
[[registry.mirror]]
location = "mirror.example/site"
`

func mirrorMap(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: "mirrors"}, Data: data}
}

// of reads what the InfraEnv has become.
func (w *world) of(env *agentv1.InfraEnv) made {
	w.t.Helper()
	id := hubid.InfraEnv(env)
	record, err := w.hub.Hub.InfraEnv(w.t.Context(), id)
	w.Expect(err).NotTo(HaveOccurred())
	parts, err := w.hub.ImageParts(w.t.Context(), id)
	w.Expect(err).NotTo(HaveOccurred())
	return made{InfraEnv: record, Registries: parts.Registries, Script: env.Status.BootArtifacts.IpxeScriptURL}
}

// TestWhatIsEmptiedIsTakenBack: each setting reaches the hub's record, and goes from it
// when it goes from the spec.
func TestWhatIsEmptiedIsTakenBack(t *testing.T) {
	for _, s := range settings {
		if s.has == nil {
			continue // a test of its own
		}
		t.Run(s.path, func(t *testing.T) {
			elsewhere := mirrorMap(map[string]string{"registries.conf": strings.ReplaceAll(registries, "mirror.example", "elsewhere.example")})
			elsewhere.Namespace = "elsewhere"
			w := newWorld(t, pullSecret(goodSecret), infraEnv(), mirrorMap(map[string]string{"registries.conf": registries, "ca-bundle.crt": certificate}), elsewhere,
				nmstate("m0", "52:54:00:00:00:01", ofEdge), nmstate("m1", "52:54:00:00:00:02", ofCore, func(c *agentv1.NMStateConfig) { c.Labels["site"] = "core" }))
			w.r.hub = &imaged{Hub: w.hub, urls: service.ImageURLs{ISO: "http://images.example/1.iso"}}
			_, env := w.pass()
			empty := env.Spec
			w.Expect(json.Unmarshal([]byte(s.spec), &env.Spec)).To(Succeed())
			w.Expect(w.kube.Update(t.Context(), env)).To(Succeed())
			_, env = w.pass()
			w.Expect(w.of(env)).To(s.has)
			w.Expect(imageCreated(env).Reason).To(Equal(agentv1.ReasonImageCreated))

			env.Spec = empty
			w.Expect(w.kube.Update(t.Context(), env)).To(Succeed())
			_, env = w.pass()
			w.Expect(w.of(env)).To(s.gone)
		})
	}
}

// TestMirrorsThatCannotBeUsedAreSaid: without its mirrors a host of a site could pull
// nothing, so it gets no image.
func TestMirrorsThatCannotBeUsedAreSaid(t *testing.T) {
	for name, tc := range map[string]struct {
		data map[string]string
		says string
	}{
		"no ConfigMap":       {nil, "ConfigMap site/mirrors of spec.mirrorRegistryRef does not exist: create it, or correct the reference"},
		"no key":             {map[string]string{"ca-bundle.crt": certificate}, "has no key registries.conf: add it"},
		"no registries.conf": {map[string]string{"registries.conf": "[[registry"}, "key registries.conf: toml: line 1"},
		"no certificate":     {map[string]string{"registries.conf": registries, "ca-bundle.crt": "text"}, "key ca-bundle.crt: want certificates in PEM"},
		"a key in the place one": {
			map[string]string{"registries.conf": registries, "ca-bundle.crt": "-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n"},
			"key ca-bundle.crt: want certificates in PEM",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pullSecret(goodSecret), infraEnv(func(e *agentv1.InfraEnv) {
				e.Spec.MirrorRegistryRef = &agentv1.NamespacedReference{Namespace: "site", Name: "mirrors"}
			}))
			files := mirrorMap(tc.data)
			if tc.data != nil {
				w.Expect(w.kube.Create(t.Context(), files)).To(Succeed())
			}
			_, env := w.pass()
			w.Expect(imageCreated(env)).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", agentv1.ReasonImageCreationError), HaveField("Message", ContainSubstring(tc.says))))
			w.Expect(w.r.envsOfMirrors(t.Context(), files)).To(ConsistOf(HaveField("NamespacedName", key)), "the ConfigMap wakes it")

			if tc.data == nil {
				w.Expect(w.kube.Create(t.Context(), files)).To(Succeed())
			}
			files.Data = map[string]string{"registries.conf": registries}
			w.Expect(w.kube.Update(t.Context(), files)).To(Succeed())
			_, env = w.pass()
			w.Expect(imageCreated(env).Reason).To(Equal(agentv1.ReasonImageCreated))
			w.Expect(w.of(env).Registries).To(Equal(registries))
		})
	}
}
