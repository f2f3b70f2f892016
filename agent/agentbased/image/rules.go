package image

import (
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/client"
	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/hub/wire"
)

// Rules tell what the hub would refuse. They are the hub's own: whoever makes images brings them,
// since programs of hosts know nothing of it but its wire types. A nil one refuses nothing.
type Rules func(asked client.Asked, hosts []wire.HostUpdateParams) []Refused

// Refused is a setting that the hub would not take.
type Refused struct {
	// Object is where a Kubernetes object has it, "AgentClusterInstall spec.proxy.noProxy"; of
	// what none has, the name of the hub's API.
	Object string
	// Text is what follows the name: ` "x": want …`, or ": want …".
	Text string
	// Host is the number of the host that it is about, where Object is an Agent's.
	Host int
}

// HubSettings tells which settings of hub.env the hub would not take. Like the rules they are
// the hub's own; nil takes all.
type HubSettings func(values map[string]string) []BadSetting

// BadSetting is one that the hub would not take.
type BadSetting struct {
	// Text says what is wrong, and what to write instead.
	Text string
	// Unused tells that the hub would only not act upon it.
	Unused bool
}

// takes tells what the hub would not take of its settings: it would not start on the rendezvous
// host, where nobody can change them any more.
func (r *reading) takes() {
	if r.o.HubSettings == nil {
		return
	}
	for _, x := range r.o.HubSettings(r.plan.hub) {
		if x.Unused && r.o.Lenient {
			r.warnings = append(r.warnings, manifests.Problem{File: hubEnvFile, Text: x.Text})
			continue
		}
		r.add(hubEnvFile, "%s", x.Text)
	}
}

// fencingFile has credentials of BMCs, by which hosts fence one another.
const fencingFile = hostFolder + "/fencing-credentials.yaml"

// operatorsFile has the operators of a site.
const operatorsFile = "IRONFLOW_HUB_OPERATORS_FILE"

// refused tells what the hub would refuse of all that its client asks for. What has been told of
// a field is not told once more.
func (r *reading) refused(d *manifests.Draft) {
	if len(d.Set.Fencing) > 0 {
		r.add(fencingFile, "is not acted upon: the hub makes no clusters with fencing; take it away")
	}
	if d.Whole == nil || r.o.Rules == nil {
		return
	}
	asked, err := client.AskedBy(d.Whole)
	if err != nil {
		return // of a text that is no JSON, which has been told
	}
	if asked.InfraEnv != nil {
		asked.InfraEnv.StaticNetworkConfig = nil // translated for the live system, which told more
	}
	if asked.Cluster != nil && (r.plan.hub[operatorsFile] != "" || r.plan.Format == ConfigImage) {
		asked.Cluster.OlmOperators = nil // which there are is up to that hub
	}
	var hosts []wire.HostUpdateParams
	for i := range r.hosts {
		h := wire.HostUpdateParams{}
		if name := r.hosts[i].Hostname; name != "" {
			h.HostName = &name
		}
		hosts = append(hosts, h)
	}
	for _, x := range r.o.Rules(asked, hosts) {
		r.tell(d, x)
	}
}

// tell puts a refusal where a person has written it.
func (r *reading) tell(d *manifests.Draft, x Refused) {
	kind, path, _ := strings.Cut(x.Object, " ")
	text := strings.TrimPrefix(x.Text, " ")
	if after, found := strings.CutPrefix(text, ": "); found {
		text = "cannot be used: " + after
	}
	at, where := d.ClusterInstallAt, objectPath(path)
	switch kind {
	case "AgentClusterInstall":
	case "ClusterDeployment":
		at = d.DeploymentAt
	case "ClusterImageSet":
		at = d.ImageSetAt
	case "InfraEnv":
		at = d.InfraEnvAt
	case "Agent":
		at, where = r.hosts[x.Host].at, strings.TrimSuffix(r.hosts[x.Host].path, ".networkConfig")+".hostname"
		if d.Agent == nil && d.Nodes == nil {
			r.add(hostFolder, "the name of host %s %s", r.hosts[x.Host].Name, text)
			return
		}
	case "olm_operators":
		r.add(ztpFolder+"/operators.yaml", "cannot be installed: %s", x.Object+x.Text)
		return
	default: // of what the client or the image itself has made
		return
	}
	if d.Install != nil && kind != "Agent" {
		if at, where = d.InstallAt, inConfig(kind, where); kind == "InfraEnv" && where == "additionalNTPSources" {
			at = d.AgentAt
		}
	}
	if d.Nodes != nil && kind != "Agent" {
		if at, where = d.NodesAt, inConfig(kind, where); where == "pullSecret" {
			r.add(pullSecretFile, "%s", text)
			return
		}
	}
	if !at.Told(where) {
		at.Wrong(where, "%s", text)
	}
}

// objectPath is a path as the reader of manifests has it: an annotation is in braces elsewhere.
func objectPath(path string) string {
	before, name, found := strings.Cut(path, "{")
	if !found {
		return path
	}
	return fmt.Sprintf("%s[%q]", before, strings.TrimSuffix(name, "}"))
}

// inConfig is where install-config.yaml has what a manifest has; agent-config.yaml has the time
// sources. Empty is the file as a whole.
func inConfig(kind, path string) string {
	for _, one := range [][3]string{
		{"ClusterDeployment", "spec.clusterName", "metadata.name"},
		{"ClusterDeployment", "spec.baseDomain", "baseDomain"},
		{"ClusterDeployment", "spec.pullSecretRef", "pullSecret"},
		{"AgentClusterInstall", "spec.apiVIP", "platform.baremetal.apiVIP"},
		{"AgentClusterInstall", "spec.ingressVIP", "platform.baremetal.ingressVIP"},
		{"AgentClusterInstall", "spec.sshPublicKey", "sshKey"},
		{"AgentClusterInstall", "spec.networking", "networking"},
		{"AgentClusterInstall", "spec.proxy", "proxy"},
		{"InfraEnv", "spec.sshAuthorizedKey", "sshKey"},
		{"InfraEnv", "spec.proxy", "proxy"},
		{"InfraEnv", "spec.additionalTrustBundle", "additionalTrustBundle"},
		{"InfraEnv", "spec.additionalNTPSources", "additionalNTPSources"},
		{"InfraEnv", "spec.pullSecretRef", "pullSecret"},
	} {
		if after, found := strings.CutPrefix(path, one[1]); found && kind == one[0] {
			return one[2] + after
		}
	}
	return ""
}
