package cluster

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/hub/clusters"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/releases/registry"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/crdpaths"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the table of docs/cluster-fields.md")

// besideSpec are what the contract has users say beside the spec.
var besideSpec = []string{
	"AgentClusterInstall " + annotation("agent-install.openshift.io/install-config-overrides"),
	"AgentClusterInstall " + annotation("agent-install.openshift.io/ignored-cluster-validations"),
	"AgentClusterInstall " + annotation("agent-install.openshift.io/ignored-host-validations"),
	"AgentClusterInstall metadata.labels{agentclusterinstalls.agent-install.openshift.io/consumer}",
	"ClusterDeployment " + annotation("hive.openshift.io/reconcile-pause"),
	"ClusterDeployment metadata.labels{agentClusterRef}",
}

// TestEveryFieldHasItsRow: nothing that a user can write is forgotten, and the table names
// nothing that is not there.
func TestEveryFieldHasItsRow(t *testing.T) {
	g := NewWithT(t)
	rows := map[string][]string{}
	for _, f := range fields {
		if strings.HasPrefix(f.path, "spec.") {
			rows[f.kind] = append(rows[f.kind], f.path)
		}
	}
	for _, kind := range []string{kindInstall, kindDeployment, kindImageSet} {
		crdpaths.Leaves(t, kind, rows[kind])
	}
	for _, path := range besideSpec {
		g.Expect(slices.ContainsFunc(fields, func(f field) bool { return f.kind+" "+f.path == path })).To(BeTrue(), path)
	}
	for _, f := range fields {
		said := 0
		for _, text := range []string{f.member, f.refused, f.unread} {
			if text != "" {
				said++
			}
		}
		g.Expect(said).To(Equal(1), "%s %s: it is mapped, refused or not read", f.kind, f.path)
		if f.asked == nil {
			g.Expect(f.refused).To(BeEmpty(), "%s %s: nothing refuses it", f.kind, f.path)
		}
	}
	for _, name := range knownAnnotations {
		g.Expect(slices.ContainsFunc(fields, func(f field) bool { return f.path == annotation(name) })).To(BeTrue(), name)
	}
	for _, member := range reflect.VisibleFields(reflect.TypeFor[service.ClusterSpec]()) {
		g.Expect(pathsOf(member.Name)).NotTo(BeEmpty(), "nothing can ask for %s", member.Name)
	}
}

// objects are what a cluster is described by.
type objects struct {
	aci *hiveextv1.AgentClusterInstall
	cd  *hivev1.ClusterDeployment
	set *hivev1.ClusterImageSet
}

func spec(text string) func(objects) error {
	return func(o objects) error { return json.Unmarshal([]byte(text), &o.aci.Spec) }
}

func deploymentSpec(text string) func(objects) error {
	return func(o objects) error { return json.Unmarshal([]byte(text), &o.cd.Spec) }
}

// annotated takes names and values in turn.
func annotated(pairs ...string) func(objects) error {
	return func(o objects) error {
		for i := 0; i < len(pairs); i += 2 {
			metav1.SetMetaDataAnnotation(&o.aci.ObjectMeta, pairs[i], pairs[i+1])
		}
		return nil
	}
}

// certificate is one that no program trusts for anything.
const certificate = `-----BEGIN CERTIFICATE-----
MIIBNDCB56ADAgECAhRNFw1bMXcGYfvdsg+bb8OMv7k46TAFBgMrZXAwDzENMAsG
A1UEAwwEc2l0ZTAgFw0yNjExMjgyMjE2NTNaGA8yMTI2MTEwNDIyMTY1M1owDzEN
MAsGA1UEAwwEc2l0ZTAqMAUGAytlcAMhALR1QpkpjrIdZWbXZDML6J2uOrmjd9VF
aUVJsOakVds7o1MwUTAdBgNVHQ4EFgQUOnGWFFPO7nsbimlZWObWjOlcjTAwHwYD
VR0jBBgwFoAUOnGWFFPO7nsbimlZWObWjOlcjTAwDwYDVR0TAQH/BAUwAwEB/zAF
BgMrZXADQQBQm/1tSjQE4NJF5zHl9KLK64+wmXV8yfmZUac0832dyDqAd7oHCCbr
i/80HfJwD6rGu98xVyMl2NhOEuIE8IcA
-----END CERTIFICATE-----
`

const (
	pools  = `{"controlPlane":{"name":"master","hyperthreading":"Disabled"},"arbiter":{"name":"arbiter","hyperthreading":"Disabled"},"compute":[{"name":"worker","hyperthreading":"Disabled"}]}`
	oldMap = `{"manifestsConfigMapRef":{"name":"files"}}`
	// endpoint is one whose authority is in a ConfigMap of another namespace.
	endpoint = `{"ignitionEndpoint":{"url":"https://api.prod.example:22623/config","caCertificateReference":{"name":"ca","namespace":"far"}}}`
)

// tang encrypts every disk with the key of a server that has this thumbprint.
func tang(thumbprint string) func(objects) error {
	return spec(`{"diskEncryption":{"enableOn":"all","mode":"tang","tangServers":"[{\"url\":\"http://tang.example\",\"thumbprint\":\"` + thumbprint + `\"}]"}}`)
}

// selected takes hosts by a selector of their Agents.
func selected(selector string) func(objects) error {
	return deploymentSpec(`{"platform":{"agentBareMetal":{"agentSelector":` + selector + `}}}`)
}

// installRef names what the cluster is installed by.
func installRef(group, kind, name string) func(objects) error {
	return deploymentSpec(`{"clusterInstallRef":{"group":"` + group + `","kind":"` + kind + `","name":"` + name + `","version":"v1beta1"}}`)
}

// examples set each setting to something that is not its default.
var examples = map[string]func(objects) error{
	"AgentClusterInstall spec.imageSetRef.name":                                           spec(`{"imageSetRef":{"name":"v4.20"}}`),
	"AgentClusterInstall spec.clusterDeploymentRef.name":                                  spec(`{"clusterDeploymentRef":{"name":"other"}}`),
	"AgentClusterInstall spec.manifestsConfigMapRef.name":                                 spec(oldMap),
	"AgentClusterInstall spec.manifestsConfigMapRefs[].name":                              spec(`{"manifestsConfigMapRefs":[{"name":"files"}]}`),
	"AgentClusterInstall spec.networking.machineNetwork[].cidr":                           spec(`{"networking":{"machineNetwork":[{"cidr":"192.0.2.0/24"}]}}`),
	"AgentClusterInstall spec.networking.clusterNetwork[].cidr":                           spec(`{"networking":{"clusterNetwork":[{"cidr":"10.0.0.0/14"}]}}`),
	"AgentClusterInstall spec.networking.serviceNetwork[]":                                spec(`{"networking":{"serviceNetwork":["172.31.0.0/16"]}}`),
	"AgentClusterInstall spec.networking.networkType":                                     spec(`{"networking":{"networkType":"Cilium"}}`),
	"AgentClusterInstall spec.networking.userManagedNetworking":                           spec(`{"networking":{"userManagedNetworking":true}}`),
	"AgentClusterInstall spec.sshPublicKey":                                               spec(`{"sshPublicKey":"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"}`),
	"AgentClusterInstall spec.provisionRequirements.controlPlaneAgents":                   spec(`{"provisionRequirements":{"controlPlaneAgents":3}}`),
	"AgentClusterInstall spec.provisionRequirements.arbiterAgents":                        spec(`{"provisionRequirements":{"controlPlaneAgents":2,"arbiterAgents":1}}`),
	"AgentClusterInstall spec.provisionRequirements.workerAgents":                         spec(`{"provisionRequirements":{"controlPlaneAgents":1,"workerAgents":2}}`),
	"AgentClusterInstall spec.controlPlane.name":                                          spec(pools),
	"AgentClusterInstall spec.controlPlane.hyperthreading":                                spec(`{"controlPlane":{"name":"master","hyperthreading":"Disabled"}}`),
	"AgentClusterInstall spec.arbiter.name":                                               spec(pools),
	"AgentClusterInstall spec.arbiter.hyperthreading":                                     spec(`{"arbiter":{"name":"arbiter","hyperthreading":"Disabled"}}`),
	"AgentClusterInstall spec.compute[].name":                                             spec(pools),
	"AgentClusterInstall spec.compute[].hyperthreading":                                   spec(`{"compute":[{"name":"worker","hyperthreading":"Disabled"}]}`),
	"AgentClusterInstall spec.apiVIP":                                                     spec(`{"apiVIP":"192.0.2.100"}`),
	"AgentClusterInstall spec.apiVIPs[]":                                                  spec(`{"apiVIP":"192.0.2.100","apiVIPs":["192.0.2.100","2001:db8::100"]}`),
	"AgentClusterInstall spec.ingressVIP":                                                 spec(`{"ingressVIP":"192.0.2.101"}`),
	"AgentClusterInstall spec.ingressVIPs[]":                                              spec(`{"ingressVIPs":["192.0.2.101"]}`),
	"AgentClusterInstall spec.holdInstallation":                                           spec(`{"holdInstallation":true}`),
	"AgentClusterInstall spec.ignitionEndpoint.url":                                       spec(`{"ignitionEndpoint":{"url":"https://api.prod.example:22623/config"}}`),
	"AgentClusterInstall spec.diskEncryption.enableOn":                                    spec(`{"diskEncryption":{"enableOn":"all","mode":"tpmv2"}}`),
	"AgentClusterInstall spec.proxy.httpProxy":                                            spec(`{"proxy":{"httpProxy":"http://proxy.example:3128"}}`),
	"AgentClusterInstall spec.proxy.httpsProxy":                                           spec(`{"proxy":{"httpsProxy":"http://proxy.example:3128"}}`),
	"AgentClusterInstall spec.proxy.noProxy":                                              spec(`{"proxy":{"noProxy":".example"}}`),
	"AgentClusterInstall spec.platformType":                                               spec(`{"platformType":"External"}`),
	"AgentClusterInstall spec.external.platformName":                                      spec(`{"platformType":"External","external":{"platformName":"oci"}}`),
	"AgentClusterInstall spec.mastersSchedulable":                                         spec(`{"mastersSchedulable":true}`),
	"AgentClusterInstall spec.mirrorRegistryRef.name":                                     spec(`{"mirrorRegistryRef":{"name":"mirrors","namespace":"site"}}`),
	"AgentClusterInstall spec.mirrorRegistryRef.namespace":                                spec(`{"mirrorRegistryRef":{"namespace":"site"}}`),
	"AgentClusterInstall spec.networking.clusterNetwork[].hostPrefix":                     spec(`{"networking":{"clusterNetwork":[{"cidr":"10.0.0.0/14","hostPrefix":24}]}}`),
	"AgentClusterInstall spec.ignitionEndpoint.caCertificateReference.name":               spec(endpoint),
	"AgentClusterInstall spec.ignitionEndpoint.caCertificateReference.namespace":          spec(endpoint),
	"AgentClusterInstall spec.diskEncryption.mode":                                        tang("x"),
	"AgentClusterInstall spec.diskEncryption.tangServers":                                 tang("y"),
	"AgentClusterInstall spec.external.cloudControllerManager":                            spec(`{"platformType":"External","external":{"platformName":"oci","cloudControllerManager":"External"}}`),
	"AgentClusterInstall spec.clusterMetadata.metadataJSONSecretRef.name":                 spec(`{"clusterMetadata":{"metadataJSONSecretRef":{"name":"m"}}}`),
	"AgentClusterInstall spec.clusterMetadata.platform.aws.hostedZoneRole":                spec(`{"clusterMetadata":{"platform":{"aws":{"hostedZoneRole":"r"}}}}`),
	"AgentClusterInstall spec.clusterMetadata.platform.azure.resourceGroupName":           spec(`{"clusterMetadata":{"platform":{"azure":{"resourceGroupName":"r"}}}}`),
	"AgentClusterInstall spec.clusterMetadata.platform.gcp.networkProjectID":              spec(`{"clusterMetadata":{"platform":{"gcp":{"networkProjectID":"r"}}}}`),
	"ClusterDeployment spec.platform.agentBareMetal.agentSelector.matchLabels{}":          selected(`{"matchLabels":{"a":"b"}}`),
	"ClusterDeployment spec.platform.agentBareMetal.agentSelector.matchExpressions[].key": selected(`{"matchExpressions":[{"key":"a","operator":"Exists"}]}`),
	"ClusterDeployment spec.clusterInstallRef.group":                                      installRef("other.example", "AgentClusterInstall", "install"),
	"ClusterDeployment spec.clusterInstallRef.kind":                                       installRef("extensions.hive.openshift.io", "Other", "install"),
	"ClusterDeployment spec.clusterInstallRef.name":                                       installRef("extensions.hive.openshift.io", "AgentClusterInstall", "other"),
	"ClusterDeployment spec.clusterMetadata.clusterID":                                    deploymentSpec(`{"clusterMetadata":{"clusterID":"x"}}`),
	"ClusterDeployment spec.clusterMetadata.infraID":                                      deploymentSpec(`{"clusterMetadata":{"infraID":"x"}}`),
	"AgentClusterInstall spec.loadBalancer.type":                                          spec(`{"loadBalancer":{"type":"UserManaged"}}`),
	"AgentClusterInstall spec.ntpSources[]":                                               spec(`{"ntpSources":["192.0.2.1","192.0.2.2"]}`),
	"AgentClusterInstall " + annotation("ironflow.io/ignition-source"):                    annotated("ironflow.io/ignition-source", "files"),
	"AgentClusterInstall " + annotation("ironflow.io/ignition-files"):                     annotated("ironflow.io/ignition-files", "ConfigMap/roles"),
	"AgentClusterInstall " + annotation("ironflow.io/kubernetes-version"):                 annotated("ironflow.io/ignition-source", "kubernetes", "ironflow.io/kubernetes-version", "v1.37.1"),
	"AgentClusterInstall " + annotation("ironflow.io/kubernetes"): annotated(
		"ironflow.io/ignition-source", "kubernetes", "ironflow.io/kubernetes", `{"endpoint":"api.example"}`,
	),
	"AgentClusterInstall " + annotation("agent-install.openshift.io/*"):                           annotated("agent-install.openshift.io/levitate", "true"),
	"AgentClusterInstall " + annotation("agent-install.openshift.io/install-config-overrides"):    annotated("agent-install.openshift.io/install-config-overrides", `{"fips":true}`),
	"AgentClusterInstall " + annotation("agent-install.openshift.io/ignored-cluster-validations"): annotated("agent-install.openshift.io/ignored-cluster-validations", "all"),
	"AgentClusterInstall " + annotation("agent-install.openshift.io/ignored-host-validations"):    annotated("agent-install.openshift.io/ignored-host-validations", "all"),
	"AgentClusterInstall metadata.labels{agentclusterinstalls.agent-install.openshift.io/consumer}": func(o objects) error {
		o.aci.Labels = map[string]string{"agentclusterinstalls.agent-install.openshift.io/consumer": "console"}
		return nil
	},
	"ClusterDeployment spec.clusterName":                                    deploymentSpec(`{"clusterName":"edge"}`),
	"ClusterDeployment spec.baseDomain":                                     deploymentSpec(`{"baseDomain":"edge.example"}`),
	"ClusterDeployment spec.pullSecretRef.name":                             deploymentSpec(`{"pullSecretRef":{"name":"pull"}}`),
	"AgentClusterInstall metadata.annotations{ironflow.io/cluster-state}":   annotated("ironflow.io/cluster-state", "error"),
	"AgentClusterInstall " + annotation("ironflow.io/revoke-cluster-token"): annotated("ironflow.io/revoke-cluster-token", "2026-03-01T12:00:00Z"),
	"ClusterDeployment spec.installed":                                      deploymentSpec(`{"installed":true}`),
	"ClusterDeployment " + annotation("hive.openshift.io/reconcile-pause"): func(o objects) error {
		o.cd.Annotations = map[string]string{"hive.openshift.io/reconcile-pause": "true"}
		return nil
	},
	"ClusterImageSet spec.releaseImage": func(o objects) error {
		o.set.Spec.ReleaseImage, o.aci.Spec.ImageSetRef = "registry.example/release:4.21.0-multi", &hiveextv1.ClusterImageSetReference{Name: o.set.Name}
		return nil
	},
}

// beyond names for a setting that is part of a member another setting of it, whose example has all but the first.
var beyond = map[string]string{
	"AgentClusterInstall spec.networking.clusterNetwork[].hostPrefix":            "AgentClusterInstall spec.networking.clusterNetwork[].cidr",
	"AgentClusterInstall spec.ignitionEndpoint.caCertificateReference.name":      "AgentClusterInstall spec.ignitionEndpoint.url",
	"AgentClusterInstall spec.ignitionEndpoint.caCertificateReference.namespace": "AgentClusterInstall spec.ignitionEndpoint.url",
	"AgentClusterInstall spec.diskEncryption.mode":                               "AgentClusterInstall spec.diskEncryption.enableOn",
	"AgentClusterInstall spec.diskEncryption.tangServers":                        "AgentClusterInstall spec.diskEncryption.mode",
	"AgentClusterInstall spec.external.cloudControllerManager":                   "AgentClusterInstall spec.external.platformName",
	"AgentClusterInstall spec.external.platformName":                             "AgentClusterInstall spec.platformType",
}

// listening notes what the hub is asked for.
type listening struct {
	Hub
	asked *service.ClusterSpec
}

func (l listening) EnsureCluster(ctx context.Context, s service.ClusterSpec) (wire.Cluster, error) {
	*l.asked = s
	return l.Hub.EnsureCluster(ctx, s)
}

// asTagged is a registry whose releases are what their tags say.
type asTagged struct{}

func (asTagged) Release(_ context.Context, image, _ string) (registry.Release, error) {
	return registry.Release{Digest: "sha256:aa", Version: image[strings.LastIndex(image, ":")+1:], Architectures: []string{"x86_64"}}, nil
}

// plainKubernetes is a hub that has that source as well.
var plainKubernetes = testhub.Options{Sources: map[sources.Name]sources.Source{sources.Kubernetes: kubernetes.Source{}}}

// plainObjects describe a cluster with as few words as there can be.
func plainObjects() objects {
	plain := objects{install(), deployment(), &hivev1.ClusterImageSet{ObjectMeta: metav1.ObjectMeta{Name: "v4.20"}}}
	plain.set.Spec.ReleaseImage = "registry.example/release:4.20.1"
	return plain
}

// referredTo are what the examples name.
func referredTo() []client.Object {
	site := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "site", Name: name} }
	return []client.Object{
		deployment(func(cd *hivev1.ClusterDeployment) { cd.Name = "other" }),
		&corev1.ConfigMap{ObjectMeta: site("files"), Data: map[string]string{"a.yaml": "kind: A\n"}},
		&corev1.ConfigMap{ObjectMeta: site("roles"), Data: map[string]string{"worker.ign": "{}"}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "far", Name: "ca"}, Data: map[string][]byte{corev1.TLSCertKey: []byte(certificate)}},
		&corev1.Secret{ObjectMeta: site("pull"), Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}},
	}
}

// TestEverySettingOfTheSpecReachesTheHub, or SpecSynced says by its name that it does not.
func TestEverySettingOfTheSpecReachesTheHub(t *testing.T) {
	plain := plainObjects()
	play := func(t *testing.T, change func(objects) error) (*world, *service.ClusterSpec, hiveextv1.Condition) {
		o := objects{plain.aci.DeepCopy(), plain.cd.DeepCopy(), plain.set.DeepCopy()}
		NewWithT(t).Expect(change(o)).To(Succeed())
		w := newWorldOf(t, plainKubernetes, append(referredTo(), o.aci, o.cd, o.set)...)
		asked := &service.ClusterSpec{}
		w.r.hub, w.r.releases = listening{w.hub, asked}, &lookup.Finder{Reader: asTagged{}, Mode: lookup.Always}
		return w, asked, condition(w.read(), "SpecSynced")
	}
	_, before, synced := play(t, func(objects) error { return nil })
	NewWithT(t).Expect(synced).To(And(HaveField("Status", corev1.ConditionTrue), HaveField("Message", "the hub has what the spec says")))
	for _, f := range fields {
		t.Run(f.kind+" "+f.path, func(t *testing.T) {
			g := NewWithT(t)
			if f.unread != "" && f.asked == nil {
				return // others act on it, see the table
			}
			change, there := examples[f.kind+" "+f.path]
			g.Expect(there).To(BeTrue(), "the test has no example")
			_, asked, synced := play(t, change)
			named := ContainSubstring(f.kind + " " + strings.TrimSuffix(f.path, "*}"))
			if f.refused != "" {
				g.Expect(asked.ID).To(BeEmpty(), "the hub was not asked")
				g.Expect(synced).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "InputError"), HaveField("Message", And(named, ContainSubstring(f.refused)))))
				return
			}
			g.Expect(synced.Status).To(Equal(corev1.ConditionTrue), synced.Message)
			if f.unread != "" {
				g.Expect(synced.Message).To(And(named, ContainSubstring(f.unread)), "it is said that nobody acts on it")
				g.Expect(asked).To(Equal(before))
				return
			}
			before := before
			if less, part := beyond[f.kind+" "+f.path]; part {
				_, before, _ = play(t, examples[less])
			}
			for member := range strings.SplitSeq(f.member, ", ") {
				value := func(s *service.ClusterSpec) any { return reflect.ValueOf(*s).FieldByName(member).Interface() }
				g.Expect(value(asked)).NotTo(Equal(value(before)), member)
			}
		})
	}
}

// TestSettingsThatAreWrongAreNamed.
func TestSettingsThatAreWrongAreNamed(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(objects) error
		says   string
	}{
		"two forms":         {spec(`{"apiVIP":"192.0.2.1","apiVIPs":["192.0.2.2"]}`), "take spec.apiVIP away"},
		"a pool of its own": {spec(`{"compute":[{"name":"gpu"}]}`), `spec.compute[0].name "gpu"`},
		"external of none":  {spec(`{"external":{}}`), "spec.external is of spec.platformType External"},
		"a single host":     {spec(`{"networking":{"userManagedNetworking":false}}`), "AgentClusterInstall spec.networking.userManagedNetworking: false does not go with a single node"},
		"no platform's own": {
			spec(`{"platformType":"None","networking":{"userManagedNetworking":false}}`),
			"AgentClusterInstall spec.networking.userManagedNetworking: false does not go with platform none",
		},
		"an unknown source":  {annotated("ironflow.io/ignition-source", "magic"), `Ignition source "magic"`},
		"another source":     {annotated("ironflow.io/kubernetes-version", "v1.37.1"), "set ironflow.io/ignition-source to kubernetes"},
		"no JSON":            {annotated("ironflow.io/ignition-source", "kubernetes", "ironflow.io/kubernetes", "{"), "annotation ironflow.io/kubernetes: want a JSON object"},
		"an unknown setting": {annotated("ironflow.io/ignition-source", "kubernetes", "ironflow.io/kubernetes", `{"pods":1}`), `unknown field "pods"`},
		"overrides":          {annotated("agent-install.openshift.io/install-config-overrides", "no"), "install-config-overrides}: want a JSON object"},
		"an unknown check":   {annotated("agent-install.openshift.io/ignored-host-validations", "luck"), `no host validation "luck"`},
		"a map without name": {spec(`{"manifestsConfigMapRefs":[{"name":"a"},{"name":""}]}`), "spec.manifestsConfigMapRefs[1].name is empty"},
		"half a reference":   {spec(`{"ignitionEndpoint":{"caCertificateReference":{"name":"ca"}}}`), "spec.ignitionEndpoint.caCertificateReference: want the name and the namespace"},
		"no address":         {spec(`{"apiVIPs":["here"]}`), `AgentClusterInstall spec.apiVIPs[0] "here": want an IP address`},
		"no key":             {spec(`{"sshPublicKey":"me"}`), "AgentClusterInstall spec.sshPublicKey: line 1 is no public key"},
		"six masters":        {spec(`{"provisionRequirements":{"controlPlaneAgents":6}}`), "AgentClusterInstall spec.provisionRequirements.controlPlaneAgents: 6: want 1 to 5"},
		"a proxy of no kind": {spec(`{"proxy":{"httpProxy":"proxy.example"}}`), "AgentClusterInstall spec.proxy.httpProxy: want a URL"},
		"another's network":  {spec(`{"networking":{"machineNetwork":[{"cidr":"192.0.2.7/24"}]}}`), `AgentClusterInstall spec.networking.machineNetwork[0] "192.0.2.7/24": want the network's own address`},
		"one host's network": {spec(`{"networking":{"machineNetwork":[{"cidr":"192.0.2.7/32"}]}}`), `AgentClusterInstall spec.networking.machineNetwork[0] "192.0.2.7/32": has less than 2 addresses`},
		"a tag of no words": {func(o objects) error {
			o.aci.Labels = map[string]string{"agentclusterinstalls.agent-install.openshift.io/consumer": "fleet-1"}
			return nil
		}, `AgentClusterInstall metadata.labels{agentclusterinstalls.agent-install.openshift.io/consumer} "fleet-1": want words`},
		"no domain": {func(o objects) error {
			o.cd.Spec.BaseDomain = "example.c"
			return nil
		}, `ClusterDeployment spec.baseDomain "example.c"`},
		"a release by digest": {func(o objects) error {
			o.set.Spec.ReleaseImage = "registry.example/release@sha256:aa"
			return spec(`{"imageSetRef":{"name":"v4.20"}}`)(o)
		}, "--hub-releases-file"},
		"a pause that is none": {func(o objects) error {
			o.cd.Annotations = map[string]string{"hive.openshift.io/reconcile-pause": "maybe"}
			return nil
		}, "want true or false"},
	} {
		t.Run(name, func(t *testing.T) {
			o := objects{install(), deployment(), &hivev1.ClusterImageSet{ObjectMeta: metav1.ObjectMeta{Name: "v4.20"}}}
			NewWithT(t).Expect(tc.change(o)).To(Succeed())
			w := newWorld(t, o.aci, o.cd, o.set)
			w.Expect(condition(w.pass(), "SpecSynced")).To(And(
				HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "InputError"), HaveField("Message", ContainSubstring(tc.says))))
		})
	}
}

// TestWhatIsReferredToWakes: release, manifests, pull secret, certificate and credentials are looked at when they change.
func TestWhatIsReferredToWakes(t *testing.T) {
	cd := deployment(func(cd *hivev1.ClusterDeployment) { cd.Spec.PullSecretRef = &corev1.LocalObjectReference{Name: "pull"} })
	w := newWorld(t, cd, install(func(a *hiveextv1.AgentClusterInstall) {
		NewWithT(t).Expect(json.Unmarshal([]byte(`{"imageSetRef":{"name":"v4"},"manifestsConfigMapRefs":[{"name":"files"}],
			"ignitionEndpoint":{"caCertificateReference":{"namespace":"ca","name":"endpoint"}},
			"clusterMetadata":{"adminKubeconfigSecretRef":{"name":"prod-admin-kubeconfig"}}}`), &a.Spec)).To(Succeed())
	}))
	named := func(o client.Object, namespace, name string) client.Object {
		o.SetNamespace(namespace)
		o.SetName(name)
		return o
	}
	woken := HaveExactElements(HaveField("NamespacedName", key))
	w.Expect(w.r.installsOfImageSet(t.Context(), named(&hivev1.ClusterImageSet{}, "", "v4"))).To(woken)
	w.Expect(w.r.installsOfConfigMap(t.Context(), named(&corev1.ConfigMap{}, "site", "files"))).To(woken)
	w.Expect(w.r.installsOfConfigMap(t.Context(), named(&corev1.ConfigMap{}, "elsewhere", "files"))).To(BeEmpty())
	for _, secret := range []string{"site/pull", "ca/endpoint", "site/prod-admin-kubeconfig"} {
		namespace, name, _ := strings.Cut(secret, "/")
		w.Expect(w.r.installsOfSecret(t.Context(), named(&corev1.Secret{}, namespace, name))).To(woken, secret)
	}
	w.Expect(w.r.installsOfSecret(t.Context(), named(&corev1.Secret{}, "site", "endpoint"))).To(BeEmpty())
}

// TestDocs keeps the table of the documentation equal to the code's.
func TestDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString("| kind | setting | becomes | can change |\n|---|---|---|---|\n")
	for _, f := range fields {
		switch {
		case f.refused != "":
			fmt.Fprintf(&b, "| %s | `%s` | refused: %s | |\n", f.kind, f.path, f.refused)
		case f.unread != "":
			fmt.Fprintf(&b, "| %s | `%s` | not given to the hub: %s | |\n", f.kind, f.path, f.unread)
		default:
			first, _, _ := strings.Cut(f.member, ", ")
			fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", f.kind, f.path, f.member, clusters.ChangesUntil(first))
		}
	}
	pages.Generated{Root: "../..", Page: "cluster-fields.md", Package: "./controllers/cluster", Update: *update}.Hold(t, "settings", b.String())
}
