package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

// Kinds of the table.
const (
	kindInstall    = "AgentClusterInstall"
	kindDeployment = "ClusterDeployment"
	kindImageSet   = "ClusterImageSet"
)

// field is a setting that users can write, and what becomes of it: exactly one of
// member, refused and unread is set.
type field struct {
	kind string
	// path is in the object, with [] for the items of a list and {} for the values of a map. It stands for one value.
	path string
	// member is the one of service.ClusterSpec that it becomes.
	member string
	// refused says what to do instead; SpecSynced says that, and where, with asked.
	refused string
	// unread says who reads it instead. With asked nobody does, and SpecSynced names it.
	unread string
	// asked tells that a field that is refused or unread asks for something; nil where others act on it, and
	// where only some of its values are refused, which is checked when it is read.
	asked func(*wish) bool
}

// fields are all settings of the three kinds: their spec, and what is said beside it.
var fields = slices.Concat(installFields, deploymentFields, []field{
	{kind: kindImageSet, path: "spec.releaseImage", member: "ReleaseImage, Version, Release"},
})

const (
	ownMetadata = "written by the controller, once there are credentials"
	noMirrors   = "the hub does not read mirrors of a cluster; give them as imageDigestSources and additionalTrustBundle by the annotation " + names.InstallConfigOverrides
	noPlatform  = "of a platform that hosts with agents are not on"
)

var installFields = []field{
	{kind: kindInstall, path: "spec.imageSetRef.name", member: "ReleaseImage, Version, Release"},
	{kind: kindInstall, path: "spec.clusterDeploymentRef.name", member: "ID"},
	{kind: kindInstall, path: "spec.clusterMetadata.clusterID", unread: ownMetadata},
	{kind: kindInstall, path: "spec.clusterMetadata.infraID", unread: ownMetadata},
	{kind: kindInstall, path: "spec.clusterMetadata.adminKubeconfigSecretRef.name", unread: ownMetadata},
	{kind: kindInstall, path: "spec.clusterMetadata.adminPasswordSecretRef.name", unread: ownMetadata},
	metadataField("metadataJSONSecretRef.name", "the hub removes no cluster by it", func(m *hiveextv1.ClusterMetadata) bool { return m.MetadataJSONSecretRef != nil }),
	metadataField("platform.aws.hostedZoneRole", noPlatform, func(m *hiveextv1.ClusterMetadata) bool { return m.Platform != nil && m.Platform.AWS != nil }),
	metadataField("platform.azure.resourceGroupName", noPlatform, func(m *hiveextv1.ClusterMetadata) bool { return m.Platform != nil && m.Platform.Azure != nil }),
	metadataField("platform.gcp.networkProjectID", noPlatform, func(m *hiveextv1.ClusterMetadata) bool { return m.Platform != nil && m.Platform.GCP != nil }),
	{kind: kindInstall, path: "spec.manifestsConfigMapRef.name", member: "Manifests"},
	{kind: kindInstall, path: "spec.manifestsConfigMapRefs[].name", member: "Manifests"},
	{kind: kindInstall, path: "spec.networking.machineNetwork[].cidr", member: "MachineNetworks"},
	{kind: kindInstall, path: "spec.networking.clusterNetwork[].cidr", member: "ClusterNetworks"},
	{kind: kindInstall, path: "spec.networking.clusterNetwork[].hostPrefix", member: "ClusterNetworks"},
	{kind: kindInstall, path: "spec.networking.serviceNetwork[]", member: "ServiceNetworks"},
	{kind: kindInstall, path: "spec.networking.networkType", member: "NetworkType"},
	{kind: kindInstall, path: "spec.networking.userManagedNetworking", member: "UserManagedNetworking"},
	{kind: kindInstall, path: "spec.sshPublicKey", member: "SSHKey"},
	{kind: kindInstall, path: "spec.provisionRequirements.controlPlaneAgents", member: "Masters"},
	{kind: kindInstall, path: "spec.provisionRequirements.arbiterAgents", member: "Arbiters"},
	{kind: kindInstall, path: "spec.provisionRequirements.workerAgents", member: "Workers"},
	{kind: kindInstall, path: "spec.controlPlane.name", member: "Hyperthreading"},
	{kind: kindInstall, path: "spec.controlPlane.hyperthreading", member: "Hyperthreading"},
	{kind: kindInstall, path: "spec.arbiter.name", member: "Hyperthreading"},
	{kind: kindInstall, path: "spec.arbiter.hyperthreading", member: "Hyperthreading"},
	{kind: kindInstall, path: "spec.compute[].name", member: "Hyperthreading"},
	{kind: kindInstall, path: "spec.compute[].hyperthreading", member: "Hyperthreading"},
	{kind: kindInstall, path: "spec.apiVIP", member: "APIVIPs"},
	{kind: kindInstall, path: "spec.apiVIPs[]", member: "APIVIPs"},
	{kind: kindInstall, path: "spec.ingressVIP", member: "IngressVIPs"},
	{kind: kindInstall, path: "spec.ingressVIPs[]", member: "IngressVIPs"},
	{kind: kindInstall, path: "spec.holdInstallation", member: "Hold"},
	{kind: kindInstall, path: "spec.ignitionEndpoint.url", member: "IgnitionEndpoint"},
	{kind: kindInstall, path: "spec.ignitionEndpoint.caCertificateReference.name", member: "IgnitionEndpoint"},
	{kind: kindInstall, path: "spec.ignitionEndpoint.caCertificateReference.namespace", member: "IgnitionEndpoint"},
	{kind: kindInstall, path: "spec.diskEncryption.enableOn", member: "DiskEncryption"},
	{kind: kindInstall, path: "spec.diskEncryption.mode", member: "DiskEncryption"},
	{kind: kindInstall, path: "spec.diskEncryption.tangServers", member: "DiskEncryption"},
	{kind: kindInstall, path: "spec.proxy.httpProxy", member: "HTTPProxy"},
	{kind: kindInstall, path: "spec.proxy.httpsProxy", member: "HTTPSProxy"},
	{kind: kindInstall, path: "spec.proxy.noProxy", member: "NoProxy"},
	{kind: kindInstall, path: "spec.platformType", member: "Platform"},
	{kind: kindInstall, path: "spec.external.platformName", member: "Platform"},
	{kind: kindInstall, path: "spec.external.cloudControllerManager", member: "Platform"},
	{kind: kindInstall, path: "spec.mastersSchedulable", member: "SchedulableMasters"},
	mirrorsField("name", func(r *hiveextv1.MirrorRegistryReference) bool { return r.Name != "" }),
	mirrorsField("namespace", func(r *hiveextv1.MirrorRegistryReference) bool { return r.Namespace != "" }),
	{kind: kindInstall, path: "spec.loadBalancer.type", member: "LoadBalancer"},
	{kind: kindInstall, path: "spec.ntpSources[]", member: "NTPSources"},
	{kind: kindInstall, path: annotation(names.InstallConfigOverrides), member: "InstallConfigOverrides"},
	{kind: kindInstall, path: annotation(names.IgnoredClusterValidations), member: "IgnoredClusterValidations"},
	{kind: kindInstall, path: annotation(names.IgnoredHostValidations), member: "IgnoredHostValidations"},
	{kind: kindInstall, path: annotation(names.IgnitionSource), member: "Source"},
	{kind: kindInstall, path: annotation(names.IgnitionFiles), member: "Files"},
	{kind: kindInstall, path: annotation(names.RevokeCluster), member: "Revoke"},
	{kind: kindInstall, path: annotation(names.ClusterState), member: "Was, Arrived"},
	{kind: kindInstall, path: annotation(names.KubernetesVersion), member: "Kubernetes"},
	{kind: kindInstall, path: annotation(names.KubernetesSettings), member: "Kubernetes"},
	{
		kind: kindInstall, path: annotation(names.AgentInstallPrefix + "*"),
		refused: "the hub knows no such annotation; take it away, or see docs/cluster-fields.md for those that it knows",
		asked:   func(w *wish) bool { return len(unknownAnnotations(w.aci)) > 0 },
	},
	{kind: kindInstall, path: "metadata.labels{" + names.ClusterConsumerLabel + "}", member: "Tags"},
}

func mirrorsField(member string, set func(*hiveextv1.MirrorRegistryReference) bool) field {
	return field{
		kind: kindInstall, path: "spec.mirrorRegistryRef." + member, refused: noMirrors,
		asked: func(w *wish) bool { return w.aci.Spec.MirrorRegistryRef != nil && set(w.aci.Spec.MirrorRegistryRef) },
	}
}

// metadataField is one of the cluster's identity that nobody reads.
func metadataField(member, why string, set func(*hiveextv1.ClusterMetadata) bool) field {
	return field{
		kind: kindInstall, path: "spec.clusterMetadata." + member, unread: why,
		asked: func(w *wish) bool { return w.aci.Spec.ClusterMetadata != nil && set(w.aci.Spec.ClusterMetadata) },
	}
}

const (
	noSelector   = "hosts are bound by their Agents, not by a selector"
	selectorPath = "spec.platform.agentBareMetal.agentSelector."
	notThisOne   = "it names another object than the AgentClusterInstall that names this ClusterDeployment; correct one of them"
)

var deploymentFields = []field{
	{kind: kindDeployment, path: "spec.clusterName", member: "Name"},
	{kind: kindDeployment, path: "spec.baseDomain", member: "BaseDomain"},
	{kind: kindDeployment, path: selectorPath + "matchLabels{}", unread: noSelector, asked: func(w *wish) bool { return len(w.selector().MatchLabels) > 0 }},
	{kind: kindDeployment, path: selectorPath + "matchExpressions[].key", unread: noSelector, asked: func(w *wish) bool { return len(w.selector().MatchExpressions) > 0 }},
	{kind: kindDeployment, path: selectorPath + "matchExpressions[].operator", unread: noSelector},
	{kind: kindDeployment, path: selectorPath + "matchExpressions[].values[]", unread: noSelector},
	{kind: kindDeployment, path: "spec.pullSecretRef.name", member: "PullSecret"},
	installRefField("group", func(r *hivev1.ClusterInstallReference, _ string) bool { return r.Group == hiveextv1.GroupVersion.Group }),
	installRefField("kind", func(r *hivev1.ClusterInstallReference, _ string) bool { return r.Kind == kindInstall }),
	installRefField("name", func(r *hivev1.ClusterInstallReference, name string) bool { return r.Name == name }),
	{kind: kindDeployment, path: "spec.clusterInstallRef.version", unread: "Hive; the hub reads the version that it is given"},
	{kind: kindDeployment, path: "spec.clusterMetadata.adminKubeconfigSecretRef.name", unread: "the controllers, for the name of the kubeconfig's Secret"},
	identityField("clusterID", func(m *hivev1.ClusterMetadata) string { return m.ClusterID }, func(m *hiveextv1.ClusterMetadata) string { return m.ClusterID }),
	identityField("infraID", func(m *hivev1.ClusterMetadata) string { return m.InfraID }, func(m *hiveextv1.ClusterMetadata) string { return m.InfraID }),
	{kind: kindDeployment, path: "spec.installed", member: "Was, Imported"},
	{kind: kindDeployment, path: "spec.preserveOnDelete", unread: "the controller itself, when the object is deleted"},
	{kind: kindDeployment, path: annotation(names.HiveReconcilePause), member: "Hold"},
	{
		kind: kindDeployment, path: "metadata.labels{" + names.HostedCluster + "}",
		unread: "who drains its Nodes: whatever its value, the cluster's API is asked at `https://kube-apiserver.NAMESPACE.svc:6443`, with the namespace of the ClusterDeployment",
	},
}

// installRefField is one that has to be this object's, where the reference is given.
func installRefField(member string, fits func(r *hivev1.ClusterInstallReference, name string) bool) field {
	return field{
		kind: kindDeployment, path: "spec.clusterInstallRef." + member, refused: notThisOne,
		asked: func(w *wish) bool {
			ref := w.cd.Spec.ClusterInstallRef
			return ref != nil && !fits(ref, w.aci.Name)
		},
	}
}

// identityField is one that Hive copies from the AgentClusterInstall: another value is somebody's wish.
func identityField(member string, have func(*hivev1.ClusterMetadata) string, ours func(*hiveextv1.ClusterMetadata) string) field {
	return field{
		kind: kindDeployment, path: "spec.clusterMetadata." + member, unread: "Hive, which has it from the AgentClusterInstall; another value changes nothing",
		asked: func(w *wish) bool {
			theirs, own := w.cd.Spec.ClusterMetadata, w.aci.Spec.ClusterMetadata
			return theirs != nil && have(theirs) != "" && (own == nil || have(theirs) != ours(own))
		},
	}
}

// selector is the one of hosts that Hive knows; empty where there is none.
func (w *wish) selector() metav1.LabelSelector {
	if p := w.cd.Spec.Platform.AgentBareMetal; p != nil {
		return p.AgentSelector
	}
	return metav1.LabelSelector{}
}

// ignored names the settings that ask for something, and that nobody acts on.
func (w *wish) ignored() []string {
	var paths []string
	for _, f := range fields {
		if f.unread != "" && f.asked != nil && f.asked(w) {
			paths = append(paths, fmt.Sprintf("%s %s (%s)", f.kind, f.path, f.unread))
		}
	}
	return paths
}

func annotation(name string) string { return "metadata.annotations{" + name + "}" }

// pathsOf names the settings that become a member of the hub's spec.
func pathsOf(member string) []string {
	var paths []string
	for _, f := range fields {
		for m := range strings.SplitSeq(f.member, ", ") {
			if m == member {
				paths = append(paths, f.kind+" "+f.path)
			}
		}
	}
	return paths
}

// knownAnnotations are those that begin as the hub's do, and have a row.
var knownAnnotations = []string{names.InstallConfigOverrides, names.IgnoredClusterValidations, names.IgnoredHostValidations}

// unknownAnnotations are those that speak to the hub, and that it does not know; sorted.
func unknownAnnotations(aci *hiveextv1.AgentClusterInstall) []string {
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(aci.Annotations)) {
		if strings.HasPrefix(name, names.AgentInstallPrefix) && !slices.Contains(knownAnnotations, name) {
			unknown = append(unknown, name)
		}
	}
	return unknown
}
