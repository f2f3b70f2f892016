package manifests

import (
	"fmt"
	"slices"
	"strings"
)

// Nodes are the files that describe hosts which join a running cluster, as absolute paths
// below the root.
type Nodes struct {
	// Root is put before every name; empty is the root of the file system.
	Root string
	// NodesConfig describes the hosts; PullSecret is the JSON of the registries' credentials.
	NodesConfig, PullSecret string
	// Cluster is the running cluster's name.
	Cluster string
	// ReleaseImage is what the cluster runs, a full image reference; empty for a cluster
	// without a release.
	ReleaseImage string
}

// NodesConfig is nodes-config.yaml: the hosts that join.
type NodesConfig struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	CPUArchitecture      string      `json:"cpuArchitecture"`
	SSHKey               string      `json:"sshKey"`
	AdditionalNTPSources []string    `json:"additionalNTPSources"`
	BootArtifactsBaseURL string      `json:"bootArtifactsBaseURL"`
	Proxy                *Proxy      `json:"proxy"`
	Hosts                []AgentHost `json:"hosts"`

	RendezvousIP Ignored `json:"rendezvousIP" refuse:"each host that joins runs the hub for itself; take it away"`
	MinimalISO   Ignored `json:"minimalISO" refuse:"ask for a minimal ISO by --format minimal-iso"`
}

// Joining is what such files describe.
type Joining struct {
	// Set has the infra-env, the networks and the folders of hosts.
	*Set

	Nodes NodesConfig
}

// nodesReader reads them.
type nodesReader struct {
	*reader

	files  Nodes
	config NodesConfig
	at     *place
}

// ReadNodes reads and checks the files. The error is an [*Error] with everything that is
// wrong; the warnings are those of a lenient reader.
func ReadNodes(files Nodes, o Options) (*Joining, []Problem, error) {
	r := &reader{report: &report{lenient: o.Lenient}, root: files.Root, set: &Set{}}
	n := &nodesReader{reader: r, files: files}
	if d := r.single(files.NodesConfig, false); d != nil {
		decode(d.place, d.node, &n.config)
		if n.at = d.place; d.isObject() {
			n.check()
		}
	}
	n.credentials()
	if o.More != nil {
		o.More(n.draft())
	}
	warnings, err := r.result()
	if err != nil {
		return nil, warnings, err
	}
	n.convert()
	return &Joining{Set: r.set, Nodes: n.config}, warnings, nil
}

// credentials reads the pull secret; no message quotes it.
func (n *nodesReader) credentials() {
	raw := n.read(n.files.PullSecret, false)
	if raw != nil && !isPullSecret(string(raw)) {
		n.add(Problem{File: n.files.PullSecret, Text: `is no pull secret: write JSON with a member "auths", such as {"auths": {}}`})
	}
	n.set.PullSecret = strings.TrimSpace(string(raw))
}

func (n *nodesReader) check() {
	at, in := n.at, &n.config
	at.oneOf("apiVersion", in.APIVersion, "v1", "v1beta1", "v1alpha1")
	at.oneOf("cpuArchitecture", in.CPUArchitecture, "amd64", "arm64", "ppc64le", "s390x", "x86_64", "aarch64")
	if len(in.Hosts) == 0 {
		at.missing("hosts", "a list with interfaces (name, macAddress) of each host that joins")
	}
	checkProxy(at, "proxy", in.Proxy)
	n.checkHosts(at, in.Hosts)
	for i := range in.Hosts {
		if role := in.Hosts[i].Role; slices.Contains(roles, role) && role != "worker" {
			at.wrong(fmt.Sprintf("hosts[%d].role", i), "is %s: hosts join a running cluster as workers; write worker, or take it away", role)
		}
	}
}

// convert makes what a host that joins has of manifests.
func (n *nodesReader) convert() {
	env := n.infraEnv()
	n.set.describe(env, n.config.Hosts)
	n.set.InfraEnv = env
	if n.files.ReleaseImage != "" {
		n.set.ClusterImageSet = imageSet(n.files.Cluster, n.files.ReleaseImage)
	}
}

// infraEnv is that of the hosts, without their networks.
func (n *nodesReader) infraEnv() *InfraEnv {
	name := n.files.Cluster
	env := &InfraEnv{Head: Head{APIVersion: "agent-install.openshift.io/v1beta1", Kind: "InfraEnv", Metadata: Meta{Name: name, Namespace: name}}}
	env.Spec.PullSecretRef = &Ref{Name: pullSecretName}
	env.Spec.SSHAuthorizedKey, env.Spec.AdditionalNTPSources = n.config.SSHKey, n.config.AdditionalNTPSources
	env.Spec.CPUArchitecture = n.config.CPUArchitecture
	if ours, is := architectures[n.config.CPUArchitecture]; is {
		env.Spec.CPUArchitecture = ours
	}
	env.Spec.Proxy = n.config.Proxy
	return env
}

// draft is what the reader has so far.
func (n *nodesReader) draft() *Draft {
	out := n.reader.draft()
	if out.NodesAt = (Document{n.at}); n.at != nil {
		out.Nodes = &n.config
		out.Whole = &Set{InfraEnv: n.infraEnv(), PullSecret: n.set.PullSecret}
	}
	return out
}
