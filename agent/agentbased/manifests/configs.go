package manifests

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/imagename"
)

// Configs are the two files that people write by hand, as absolute paths below the root.
type Configs struct {
	// Root is put before every name; empty is the root of the file system.
	Root string
	// InstallConfig and AgentConfig are the files' names.
	InstallConfig, AgentConfig string
	// ExtraManifests is a folder that need not be there.
	ExtraManifests string
	// ReleaseImage is the release to install, which neither file names.
	ReleaseImage string
}

// InstallConfig is install-config.yaml as far as an agent-based installation acts upon it.
type InstallConfig struct {
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	BaseDomain            string        `json:"baseDomain"`
	PullSecret            string        `json:"pullSecret"`
	SSHKey                string        `json:"sshKey"`
	AdditionalTrustBundle string        `json:"additionalTrustBundle"`
	Networking            Networking    `json:"networking"`
	ControlPlane          *configPool   `json:"controlPlane"`
	Arbiter               *configPool   `json:"arbiter"`
	Compute               []configPool  `json:"compute"`
	Platform              configuration `json:"platform"`
	Proxy                 *Proxy        `json:"proxy"`

	// What follows goes into the overrides of the install-config that the hub renders.
	FIPS              *bool  `json:"fips"`
	Capabilities      Free   `json:"capabilities"`
	CPUPartitioning   string `json:"cpuPartitioningMode"`
	TrustBundlePolicy string `json:"additionalTrustBundlePolicy"`
	DigestSources     Free   `json:"imageDigestSources"`
	ContentSources    Free   `json:"imageContentSources"`
	FeatureSet        string `json:"featureSet"`
	FeatureGates      Free   `json:"featureGates"`

	Publish           Ignored `json:"publish" refuse:"it is of installations in a cloud; take it away"`
	CredentialsMode   Ignored `json:"credentialsMode" refuse:"it is of installations in a cloud; take it away"`
	ControlPlaneExtra Ignored `json:"bootstrapInPlace" refuse:"the disk of a single node is chosen by rootDeviceHints in agent-config.yaml"`
}

// configPool is about the machines of one role.
type configPool struct {
	Name           string  `json:"name"`
	Replicas       *int    `json:"replicas"`
	Hyperthreading string  `json:"hyperthreading"`
	Architecture   string  `json:"architecture"`
	Platform       Ignored `json:"platform"`
	Fencing        Ignored `json:"fencing" refuse:"the hub makes no clusters with fencing; take it away"`
}

// configuration is the platform; one of them is given.
type configuration struct {
	None      *struct{}        `json:"none"`
	BareMetal *configBareMetal `json:"baremetal"`
	External  *External        `json:"external"`
	VSphere   Ignored          `json:"vsphere" refuse:"write the manifests (AgentClusterInstall with platformType VSphere) instead"`
	Nutanix   Ignored          `json:"nutanix" refuse:"write the manifests (AgentClusterInstall with platformType Nutanix) instead"`
}

type configBareMetal struct {
	APIVIP              string        `json:"apiVIP"`
	APIVIPs             []string      `json:"apiVIPs"`
	IngressVIP          string        `json:"ingressVIP"`
	IngressVIPs         []string      `json:"ingressVIPs"`
	LoadBalancer        *LoadBalancer `json:"loadBalancer"`
	ProvisioningNetwork string        `json:"provisioningNetwork"`
	Hosts               Ignored       `json:"hosts" refuse:"describe hosts in agent-config.yaml"`
}

// AgentConfig is agent-config.yaml: what is wanted of single hosts.
type AgentConfig struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name      string `json:"name"`
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	RendezvousIP         string      `json:"rendezvousIP"`
	AdditionalNTPSources []string    `json:"additionalNTPSources"`
	BootArtifactsBaseURL string      `json:"bootArtifactsBaseURL"`
	MinimalISO           bool        `json:"minimalISO"`
	Hosts                []AgentHost `json:"hosts"`
}

// AgentHost is one of agent-config.yaml.
type AgentHost struct {
	Hostname        string           `json:"hostname"`
	Role            string           `json:"role"`
	RootDeviceHints *RootDeviceHints `json:"rootDeviceHints"`
	Interfaces      []Card           `json:"interfaces"`
	NetworkConfig   Free             `json:"networkConfig"`
}

// Installation is what the two files describe.
type Installation struct {
	// Set are the same manifests as a person would have written.
	*Set

	// Agent is agent-config.yaml, which has what no manifest holds: the address of the
	// rendezvous host, the names of hosts, and the kind of the image.
	Agent AgentConfig
}

// ReadConfigs reads and checks both files. The error is an [*Error] with everything that is
// wrong; the warnings are those of a lenient reader.
func ReadConfigs(files Configs, o Options) (*Installation, []Problem, error) {
	r := &reader{report: &report{lenient: o.Lenient}, root: files.Root, set: &Set{}}
	c := &configReader{reader: r, files: files}
	if d := r.single(files.InstallConfig, false); d != nil {
		decode(d.place, d.node, &c.install)
		if c.installAt = d.place; d.isObject() {
			c.checkInstall()
		}
	}
	if d := r.single(files.AgentConfig, false); d != nil {
		decode(d.place, d.node, &c.agent)
		if c.agentAt = d.place; d.isObject() {
			c.checkAgent()
		}
	}
	if err := imagename.Full(files.ReleaseImage); files.ReleaseImage != "" && err != nil {
		r.add(Problem{File: files.InstallConfig, Text: fmt.Sprintf("cannot be installed: the release image: %v", err)})
	}
	r.extra(files.ExtraManifests)
	whole, failure := c.convert()
	if o.More != nil {
		d := c.draft()
		if failure == nil && c.installAt != nil && c.agentAt != nil {
			d.Whole = whole
		}
		o.More(d)
	}
	warnings, err := r.result()
	if err != nil {
		return nil, warnings, err
	}
	if failure != nil {
		return nil, warnings, failure
	}
	return &Installation{Set: whole, Agent: c.agent}, warnings, nil
}

// configReader reads the two files.
type configReader struct {
	*reader

	files              Configs
	install            InstallConfig
	agent              AgentConfig
	installAt, agentAt *place
}

func (c *configReader) checkInstall() {
	at, in := c.installAt, &c.install
	at.required("apiVersion", in.APIVersion, "v1")
	at.oneOf("apiVersion", in.APIVersion, "v1")
	at.required("metadata.name", in.Metadata.Name, "the cluster's name, such as edge")
	if name := in.Metadata.Name; name != "" && !clusterNameForm.MatchString(name) {
		at.wrong("metadata.name", "is %.80q: write at most 54 lower-case letters, digits and dashes", name)
	}
	at.required("baseDomain", in.BaseDomain, "the DNS domain that the cluster's name is put below, such as lab.example")
	if domain := in.BaseDomain; domain != "" && (!domainForm.MatchString(domain) || len(domain) > 253) {
		at.wrong("baseDomain", "is %.80q: write a DNS domain, such as lab.example", domain)
	}
	at.required("pullSecret", in.PullSecret, `the JSON {"auths": …} of the registries' credentials`)
	if in.PullSecret != "" && !isPullSecret(in.PullSecret) {
		at.wrong("pullSecret", `is no pull secret: write JSON with a member "auths", such as {"auths": {}}`)
	}
	checkNetworking(at, "networking", &in.Networking)
	checkProxy(at, "proxy", in.Proxy)
	at.oneOf("cpuPartitioningMode", in.CPUPartitioning, "None", "AllNodes")
	at.oneOf("additionalTrustBundlePolicy", in.TrustBundlePolicy, "Proxyonly", "Always")
	c.checkPools()
	c.checkPlatform()
}

// required tells of a text that is not there; one of the wrong type has been told.
func (p *place) required(path, value, write string) {
	if value == "" {
		p.missing(path, write)
	}
}

func (c *configReader) checkPools() {
	at := c.installAt
	pool := func(path, name string, p *configPool, least, most int) {
		at.required(path+".name", p.Name, name)
		if p.Name != "" && p.Name != name {
			at.wrong(path+".name", "is %.40q: write %s, there is one pool of these machines", p.Name, name)
		}
		at.oneOf(path+".hyperthreading", p.Hyperthreading, "Enabled", "Disabled")
		at.oneOf(path+".architecture", p.Architecture, "amd64", "arm64", "ppc64le", "s390x")
		switch {
		case p.Replicas == nil:
			at.missing(path+".replicas", "how many hosts there are of them")
		case p.Replicas != nil && (*p.Replicas < least || *p.Replicas > most):
			at.wrong(path+".replicas", "is %d: write %d to %d", *p.Replicas, least, most)
		}
	}
	const most = 1000
	if c.install.ControlPlane == nil {
		at.missing("controlPlane", "name: master and replicas, the number of hosts that make the control plane")
	} else {
		pool("controlPlane", "master", c.install.ControlPlane, 1, 5)
	}
	if c.install.Arbiter != nil {
		pool("arbiter", "arbiter", c.install.Arbiter, 0, 1)
	}
	if len(c.install.Compute) == 0 {
		at.missing("compute", "a list with name: worker and replicas, which may be 0")
	}
	for i := range c.install.Compute {
		if i > 0 {
			at.wrong(fmt.Sprintf("compute[%d]", i), "is one too many: there is one pool of these machines")
		}
		pool(fmt.Sprintf("compute[%d]", i), "worker", &c.install.Compute[i], 0, most)
	}
}

func (c *configReader) checkPlatform() {
	at, p := c.installAt, &c.install.Platform
	given := 0
	for _, name := range []string{"none", "baremetal", "external", "vsphere", "nutanix"} {
		if at.lines["platform."+name] > 0 {
			given++
		}
	}
	switch {
	case given == 0:
		at.missing("platform", "one of none: {}, baremetal with apiVIPs and ingressVIPs, or external")
	case given > 1:
		at.wrong("platform", "has %d platforms: keep one", given)
	}
	if at.lines["platform.none"] > 0 && p.None == nil { // written without its braces
		p.None = &struct{}{}
	}
	if at.lines["platform.baremetal"] > 0 && p.BareMetal == nil {
		p.BareMetal = &configBareMetal{}
	}
	if at.lines["platform.external"] > 0 && p.External == nil {
		p.External = &External{}
	}
	if p.External != nil {
		at.oneOf("platform.external.cloudControllerManager", p.External.CloudControllerManager, "External")
	}
	b := p.BareMetal
	if b == nil {
		return
	}
	const path = "platform.baremetal"
	checkVIPs(at, path+".apiVIP", b.APIVIP, path+".apiVIPs", b.APIVIPs)
	checkVIPs(at, path+".ingressVIP", b.IngressVIP, path+".ingressVIPs", b.IngressVIPs)
	if b.LoadBalancer == nil || b.LoadBalancer.Type != "UserManaged" {
		checkCarried(at, c.install.Networking.MachineNetwork, path+".apiVIP", b.APIVIP, path+".apiVIPs", b.APIVIPs)
		checkCarried(at, c.install.Networking.MachineNetwork, path+".ingressVIP", b.IngressVIP, path+".ingressVIPs", b.IngressVIPs)
	}
	if b.APIVIP == "" && len(b.APIVIPs) == 0 {
		at.missing(path+".apiVIPs", "the virtual address of the API in the machine network")
	}
	if b.IngressVIP == "" && len(b.IngressVIPs) == 0 {
		at.missing(path+".ingressVIPs", "the virtual address of ingress in the machine network")
	}
	at.oneOf(path+".provisioningNetwork", b.ProvisioningNetwork, "Disabled")
	if b.LoadBalancer != nil {
		at.oneOf(path+".loadBalancer.type", b.LoadBalancer.Type, "OpenShiftManagedDefault", "UserManaged")
	}
}

func (c *configReader) checkAgent() {
	at, in := c.agentAt, &c.agent
	at.required("apiVersion", in.APIVersion, "v1beta1")
	at.oneOf("apiVersion", in.APIVersion, "v1beta1", "v1alpha1")
	at.required("kind", in.Kind, "AgentConfig")
	at.oneOf("kind", in.Kind, "AgentConfig")
	if c.install.Metadata.Name != "" && in.Metadata.Name != "" && in.Metadata.Name != c.install.Metadata.Name {
		at.wrong("metadata.name", "is %.80q, and %s has %.80q: write the same", in.Metadata.Name, c.files.InstallConfig, c.install.Metadata.Name)
	}
	c.checkCounts(c.checkHosts(at, in.Hosts))
	c.checkRendezvous()
}

// checkHosts checks the hosts of a file that people write, and counts them by role.
func (r *reader) checkHosts(at *place, hosts []AgentHost) (count map[string]int) {
	owners, named := map[string]string{}, map[string]int{}
	count = map[string]int{}
	for i := range hosts {
		h, path := &hosts[i], fmt.Sprintf("hosts[%d]", i)
		before := len(r.problems)
		cards := checkCards(at, path+".interfaces", h.Interfaces, owners, path)
		if !h.NetworkConfig.IsZero() && len(r.problems) == before {
			checkNMState(at, path+".networkConfig", h.NetworkConfig, cards)
		}
		at.oneOf(path+".role", h.Role, roles...)
		if h.RootDeviceHints != nil {
			checkHints(at, path+".rootDeviceHints", h.RootDeviceHints)
		}
		if h.Hostname != "" && (!domainForm.MatchString(h.Hostname) || h.Hostname == "localhost") {
			at.wrong(path+".hostname", "is %.80q: write lower-case letters, digits, dots and dashes", h.Hostname)
		}
		if other, twice := named[h.Hostname]; twice && h.Hostname != "" {
			at.wrong(path+".hostname", "is %.80q, as of hosts[%d]: write names that differ", h.Hostname, other)
		}
		named[h.Hostname] = i
		count[h.Role]++
	}
	return count
}

// checkCounts compares the hosts that are described with those that are asked for.
func (c *configReader) checkCounts(count map[string]int) {
	if c.installAt == nil {
		return
	}
	want := c.wanted()
	if want.Hosts() == 0 { // that has been told
		return
	}
	asked := map[string]int{"master": want.ControlPlaneAgents, "arbiter": want.ArbiterAgents, "worker": want.WorkerAgents}
	for _, role := range roles {
		if n := asked[role]; count[role] > n {
			c.agentAt.wrong("hosts", "has %d of role %s, and %s asks for %d: change one of them", count[role], role, c.files.InstallConfig, n)
		}
	}
	if all := len(c.agent.Hosts); all > want.Hosts() {
		c.agentAt.wrong("hosts", "has %d hosts, and %s asks for %d: change one of them", all, c.files.InstallConfig, want.Hosts())
	}
}

// wanted is how many hosts install-config.yaml asks for.
func (c *configReader) wanted() Requirements {
	replicas := func(p *configPool) int {
		if p == nil || p.Replicas == nil {
			return 0
		}
		return *p.Replicas
	}
	out := Requirements{ControlPlaneAgents: replicas(c.install.ControlPlane), ArbiterAgents: replicas(c.install.Arbiter)}
	if len(c.install.Compute) > 0 {
		out.WorkerAgents = replicas(&c.install.Compute[0])
	}
	return out
}

func (c *configReader) checkRendezvous() {
	at, text := c.agentAt, c.agent.RendezvousIP
	if text == "" { // who makes the image takes another one
		return
	}
	address, good := at.address("rendezvousIP", text)
	if !good || len(c.install.Networking.MachineNetwork) == 0 {
		return
	}
	var known []string
	inside := slices.ContainsFunc(c.install.Networking.MachineNetwork, func(m MachineNetwork) bool {
		known = append(known, m.CIDR)
		prefix, err := parsePrefix(m.CIDR)
		return err != nil || prefix.Contains(address)
	})
	if !inside {
		at.wrong("rendezvousIP", "is %s, which is in no machine network of %s (%s): write one that is", text, c.files.InstallConfig, strings.Join(known, ", "))
	}
	for _, vips := range c.vips() {
		if slices.Contains(vips, text) {
			at.wrong("rendezvousIP", "is %s, a virtual address of the cluster: write the host's own", text)
		}
	}
}

// vips are the virtual addresses of API and ingress.
func (c *configReader) vips() [][]string {
	b := c.install.Platform.BareMetal
	if b == nil {
		return nil
	}
	return [][]string{append(slices.Clone(b.APIVIPs), b.APIVIP), append(slices.Clone(b.IngressVIPs), b.IngressVIP)}
}
