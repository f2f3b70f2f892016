package admission

import "strings"

// leaf is a member of an AgentClusterInstall's spec with the CEL that reads it. An absent one reads as an
// empty one, or as the schema's default: a client that leaves empty members out, as those written in Go do when they
// take a finalizer off, has changed nothing.
type leaf struct{ path, read string }

func texts(path string) leaf     { return leaf{path, str(path)} }
func numbers(path string) leaf   { return leaf{path, value(path, "0")} }
func flags(path string) leaf     { return leaf{path, value(path, "false")} }
func lists(path string) leaf     { return leaf{path, list(path)} }
func asked(path string) leaf     { return leaf{path, value(path, "null")} }
func items(path, e string) leaf  { return leaf{path, list(path) + ".map(e, " + e + ")"} }
func usual(path, d string) leaf  { return leaf{path, usually(str(path), d)} }
func usually(v, d string) string { return "(" + v + ` == "" ? "` + d + `" : ` + v + ")" }

// Members of an AgentClusterInstall's spec by when they may change. The hub's table of a cluster's settings
// says the same (hub/clusters); for all of changeLater see its takesMore.
var (
	// changeAlways are the member that controllers write, and those that do not touch what is installed.
	changeAlways = []string{"spec.clusterMetadata", "spec.ignitionEndpoint", "spec.holdInstallation"}
	// changeLater are those of hosts that join a cluster which is installed.
	changeLater = []leaf{
		numbers("spec.provisionRequirements.controlPlaneAgents"), numbers("spec.provisionRequirements.workerAgents"),
		numbers("spec.provisionRequirements.arbiterAgents"), texts("spec.sshPublicKey"), texts("spec.proxy.httpProxy"), texts("spec.proxy.httpsProxy"),
		texts("spec.proxy.noProxy"), lists("spec.ntpSources"),
	}
	// changeBefore are what the cluster is made of.
	changeBefore = []leaf{
		texts("spec.clusterDeploymentRef.name"), texts("spec.imageSetRef.name"), texts("spec.manifestsConfigMapRef.name"),
		items("spec.manifestsConfigMapRefs", `e.?name.orValue("")`), items("spec.networking.machineNetwork", `e.?cidr.orValue("")`),
		items("spec.networking.clusterNetwork", `e.?cidr.orValue("") + " " + string(e.?hostPrefix.orValue(0))`), lists("spec.networking.serviceNetwork"),
		texts("spec.networking.networkType"), asked("spec.networking.userManagedNetworking"), texts("spec.controlPlane.name"),
		usual("spec.controlPlane.hyperthreading", "Enabled"), texts("spec.arbiter.name"), usual("spec.arbiter.hyperthreading", "Enabled"),
		items("spec.compute", `e.?name.orValue("") + " " + `+usually(`e.?hyperthreading.orValue("")`, "Enabled")),
		texts("spec.apiVIP"), lists("spec.apiVIPs"), texts("spec.ingressVIP"), lists("spec.ingressVIPs"),
		usual("spec.diskEncryption.enableOn", "none"), texts("spec.diskEncryption.mode"), texts("spec.diskEncryption.tangServers"),
		texts("spec.platformType"), texts("spec.external.cloudControllerManager"), usual("spec.external.platformName", "Unknown"),
		flags("spec.mastersSchedulable"), texts("spec.mirrorRegistryRef.name"), texts("spec.mirrorRegistryRef.namespace"),
		usual("spec.loadBalancer.type", "ClusterManaged"),
	}
)

// unchanged asks that members are as they were.
func unchanged(members []leaf) string {
	var all []string
	for _, m := range members {
		all = append(all, about("object", m.read)+" == "+about("oldObject", m.read))
	}
	return "(" + strings.Join(all, " && ") + ")"
}

// changed names the members that are not as they were.
func changed(members []leaf) string {
	var all []string
	for _, m := range members {
		all = append(all, about("object", m.read)+" == "+about("oldObject", m.read)+` ? "" : "`+m.path+`"`)
	}
	return "[" + strings.Join(all, ", ") + `].filter(p, p != "").join(", ")`
}
