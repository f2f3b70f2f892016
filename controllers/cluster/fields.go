package cluster

import (
	"maps"
	"slices"
	"strings"

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
	// path is in the object, with [] for the items of a list. It stands for all below it.
	path string
	// member is the one of service.ClusterSpec that it becomes.
	member string
	// refused says what to do instead; SpecSynced says that, and where, with asked.
	refused string
	// asked tells that a refused field is set; nil where only some of its values are
	// refused, which is checked when it is read.
	asked func(*hiveextv1.AgentClusterInstall) bool
	// unread says who reads it instead.
	unread string
}

// fields are all settings of the three kinds: their spec, and what is said beside it.
var fields = []field{
	{kind: kindInstall, path: "spec.imageSetRef", member: "ReleaseImage, Version, Release"},
	{kind: kindInstall, path: "spec.clusterDeploymentRef", member: "ID"},
	{kind: kindInstall, path: "spec.clusterMetadata", unread: "written by the controller, once there are credentials"},
	{kind: kindInstall, path: "spec.manifestsConfigMapRef", member: "Manifests"},
	{kind: kindInstall, path: "spec.manifestsConfigMapRefs", member: "Manifests"},
	{kind: kindInstall, path: "spec.networking.machineNetwork", member: "MachineNetworks"},
	{kind: kindInstall, path: "spec.networking.clusterNetwork", member: "ClusterNetworks"},
	{kind: kindInstall, path: "spec.networking.serviceNetwork", member: "ServiceNetworks"},
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
	{kind: kindInstall, path: "spec.apiVIPs", member: "APIVIPs"},
	{kind: kindInstall, path: "spec.ingressVIP", member: "IngressVIPs"},
	{kind: kindInstall, path: "spec.ingressVIPs", member: "IngressVIPs"},
	{kind: kindInstall, path: "spec.holdInstallation", member: "Hold"},
	{kind: kindInstall, path: "spec.ignitionEndpoint", member: "IgnitionEndpoint"},
	{kind: kindInstall, path: "spec.diskEncryption", member: "DiskEncryption"},
	{kind: kindInstall, path: "spec.proxy.httpProxy", member: "HTTPProxy"},
	{kind: kindInstall, path: "spec.proxy.httpsProxy", member: "HTTPSProxy"},
	{kind: kindInstall, path: "spec.proxy.noProxy", member: "NoProxy"},
	{kind: kindInstall, path: "spec.platformType", member: "Platform"},
	{kind: kindInstall, path: "spec.external", member: "Platform"},
	{kind: kindInstall, path: "spec.mastersSchedulable", member: "SchedulableMasters"},
	{
		kind: kindInstall, path: "spec.mirrorRegistryRef",
		refused: "the hub does not read mirrors of a cluster; give them as imageDigestSources and additionalTrustBundle by the annotation " + names.InstallConfigOverrides,
		asked:   func(a *hiveextv1.AgentClusterInstall) bool { return a.Spec.MirrorRegistryRef != nil },
	},
	{kind: kindInstall, path: "spec.loadBalancer", member: "LoadBalancer"},
	{kind: kindInstall, path: "spec.ntpSources", member: "NTPSources"},
	{kind: kindInstall, path: annotation(names.InstallConfigOverrides), member: "InstallConfigOverrides"},
	{kind: kindInstall, path: annotation(names.IgnoredClusterValidations), member: "IgnoredClusterValidations"},
	{kind: kindInstall, path: annotation(names.IgnoredHostValidations), member: "IgnoredHostValidations"},
	{kind: kindInstall, path: annotation(names.IgnitionSource), member: "Source"},
	{kind: kindInstall, path: annotation(names.IgnitionFiles), member: "Files"},
	{kind: kindInstall, path: annotation(names.ClusterState), member: "Was, Arrived"},
	{kind: kindInstall, path: annotation(names.KubernetesVersion), member: "Kubernetes"},
	{kind: kindInstall, path: annotation(names.KubernetesSettings), member: "Kubernetes"},
	{
		kind: kindInstall, path: annotation(names.AgentInstallPrefix + "*"),
		refused: "the hub knows no such annotation; take it away, or see docs/cluster-fields.md for those that it knows",
		asked:   func(a *hiveextv1.AgentClusterInstall) bool { return len(unknownAnnotations(a)) > 0 },
	},
	{kind: kindInstall, path: "metadata.labels{" + names.ClusterConsumerLabel + "}", member: "Tags"},

	{kind: kindDeployment, path: "spec.clusterName", member: "Name"},
	{kind: kindDeployment, path: "spec.baseDomain", member: "BaseDomain"},
	{kind: kindDeployment, path: "spec.platform", unread: "required by the kind; hosts are bound by their Agents, not by a selector"},
	{kind: kindDeployment, path: "spec.pullSecretRef", member: "PullSecret"},
	{kind: kindDeployment, path: "spec.clusterInstallRef", unread: "Hive; the AgentClusterInstall names its ClusterDeployment"},
	{kind: kindDeployment, path: "spec.clusterMetadata", unread: "the controller takes the name of the kubeconfig's Secret from it; the rest is Hive's"},
	{kind: kindDeployment, path: "spec.installed", member: "Was"},
	{kind: kindDeployment, path: "spec.preserveOnDelete", unread: "the controller itself, when the object is deleted"},
	{kind: kindDeployment, path: annotation(names.HiveReconcilePause), member: "Hold"},

	{kind: kindImageSet, path: "spec.releaseImage", member: "ReleaseImage, Version, Release"},
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
