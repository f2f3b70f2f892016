package manifests

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/imagename"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/api/usernetwork"
)

// The sources of Ignition that need no release.
const (
	sourceKubernetes = "kubernetes"
	sourceFiles      = "files"
)

// source is what makes the hosts' Ignition: empty for the release's own.
func (a *AgentClusterInstall) source() string {
	if s := a.Metadata.Annotations[names.IgnitionSource]; s == sourceKubernetes || s == sourceFiles {
		return s
	}
	return ""
}

// VIPs are the virtual addresses of the API and of ingress, from either form.
func (a *AgentClusterInstall) VIPs() (api, ingress []string) {
	either := func(list []string, single string) []string {
		if len(list) == 0 && single != "" {
			return []string{single}
		}
		return list
	}
	return either(a.Spec.APIVIPs, a.Spec.APIVIP), either(a.Spec.IngressVIPs, a.Spec.IngressVIP)
}

// Hosts is how many hosts the installation waits for.
func (r Requirements) Hosts() int { return r.ControlPlaneAgents + r.ArbiterAgents + r.WorkerAgents }

// check looks at what was read, each object by itself and then together.
func (r *reader) check() {
	if r.cluster != nil {
		r.checkDeployment(r.set.ClusterDeployment)
	}
	if r.install != nil {
		r.checkInstall(r.set.AgentClusterInstall)
	}
	if r.images != nil {
		release := r.set.ClusterImageSet.Spec.ReleaseImage
		if release == "" {
			r.images.missing("spec.releaseImage", "the release to install, such as registry.example/ocp-release:4.19.3-x86_64")
		} else if err := imagename.Full(release); err != nil {
			r.images.wrong("spec.releaseImage", "cannot be used: %v", err)
		}
	}
	if r.env != nil {
		r.checkEnv(r.set.InfraEnv)
	}
	r.checkTogether()
}

var clusterNameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,52}[a-z0-9])?$`)

// domainForm is a name in DNS.
var domainForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

func (r *reader) checkDeployment(c *ClusterDeployment) {
	at := r.cluster
	switch name := c.Spec.ClusterName; {
	case name == "":
		at.missing("spec.clusterName", "the cluster's name, such as edge")
	case !clusterNameForm.MatchString(name):
		at.wrong("spec.clusterName", "is %.80q: write at most 54 lower-case letters, digits and dashes", name)
	}
	kubernetes := r.set.AgentClusterInstall != nil && r.set.AgentClusterInstall.source() != ""
	switch domain := c.Spec.BaseDomain; {
	case domain == "" && !kubernetes:
		at.missing("spec.baseDomain", "the DNS domain that the cluster's name is put below, such as lab.example")
	case domain != "" && (!domainForm.MatchString(domain) || len(domain) > 253):
		at.wrong("spec.baseDomain", "is %.80q: write a DNS domain, such as lab.example", domain)
	}
	if c.Spec.Installed {
		at.wrong("spec.installed", "is true: take it away, this installs the cluster; hosts are added to one that runs by importCluster")
	}
}

// paths of the two addresses, and of the two forms of each.
const (
	apiVIPs, apiVIP         = "spec.apiVIPs", "spec.apiVIP"
	ingressVIPs, ingressVIP = "spec.ingressVIPs", "spec.ingressVIP"
)

func (r *reader) checkInstall(a *AgentClusterInstall) {
	at, s := r.install, &a.Spec
	r.checkRequirements(s.ProvisionRequirements)
	checkNetworking(at, "spec.networking", &s.Networking)
	checkVIPs(at, apiVIP, s.APIVIP, apiVIPs, s.APIVIPs)
	checkVIPs(at, ingressVIP, s.IngressVIP, ingressVIPs, s.IngressVIPs)
	if s.LoadBalancer == nil || s.LoadBalancer.Type != "UserManaged" {
		checkCarried(at, s.Networking.MachineNetwork, apiVIP, s.APIVIP, apiVIPs, s.APIVIPs)
		checkCarried(at, s.Networking.MachineNetwork, ingressVIP, s.IngressVIP, ingressVIPs, s.IngressVIPs)
	}
	r.checkPlatform(a)
	checkPool(at, "spec.controlPlane", "master", s.ControlPlane)
	checkPool(at, "spec.arbiter", "arbiter", s.Arbiter)
	for i := range s.Compute {
		checkPool(at, fmt.Sprintf("spec.compute[%d]", i), "worker", &s.Compute[i])
	}
	if e := s.DiskEncryption; e != nil {
		at.oneOf("spec.diskEncryption.enableOn", text(e.EnableOn), "none", "all", "masters", "arbiters", "workers", "masters,arbiters", "masters,workers", "arbiters,workers", "masters,arbiters,workers")
		at.oneOf("spec.diskEncryption.mode", text(e.Mode), "tpmv2", "tang")
	}
	checkProxy(at, "spec.proxy", s.Proxy)
	if s.HoldInstallation {
		at.wrong("spec.holdInstallation", "is true: take it away, an agent-based installation begins by itself")
	}
	if s.ImageSetRef == nil && a.source() == "" {
		at.missing("spec.imageSetRef", "name: NAME, the ClusterImageSet with the release to install")
	}
	r.checkAnnotations(a)
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// oneOf tells of a value that is none of the wanted ones; empty is left to the hub.
func (p *place) oneOf(path, value string, want ...string) {
	if value != "" && !slices.Contains(want, value) {
		p.wrong(path, "is %.80q: write one of %s", value, strings.Join(want, ", "))
	}
}

func (r *reader) checkRequirements(q Requirements) {
	const path = "spec.provisionRequirements"
	at := r.install
	switch n := q.ControlPlaneAgents; {
	case n == 0 && at.lines[path+".controlPlaneAgents"] == 0:
		at.missing(path+".controlPlaneAgents", "how many hosts make the control plane: 1, or 3 to 5; 2 with an arbiter")
	case (n < 1 || n > 5) && !at.bad[path+".controlPlaneAgents"]:
		at.wrong(path+".controlPlaneAgents", "is %d: write 1, or 3 to 5; 2 with an arbiter", n)
	case n == 1 && q.ArbiterAgents > 0:
		at.wrong(path+".arbiterAgents", "is %d beside a control plane of one host: take it away", q.ArbiterAgents)
	}
	for name, n := range map[string]int{"arbiterAgents": q.ArbiterAgents, "workerAgents": q.WorkerAgents} {
		if n < 0 {
			at.wrong(path+"."+name, "is %d: write 0 or more", n)
		}
	}
}

func checkNetworking(at *place, base string, n *Networking) {
	for i, c := range n.ClusterNetwork {
		path := fmt.Sprintf("%s.clusterNetwork[%d]", base, i)
		prefix, good := at.network(path+".cidr", c.CIDR)
		if longest := prefix.Addr().BitLen(); good && c.HostPrefix != 0 && (c.HostPrefix < prefix.Bits() || c.HostPrefix > longest) {
			at.wrong(path+".hostPrefix", "is %d: write %d to %d, the share of one host in %s", c.HostPrefix, prefix.Bits(), longest, prefix)
		}
	}
	for i, m := range n.MachineNetwork {
		at.network(fmt.Sprintf("%s.machineNetwork[%d].cidr", base, i), m.CIDR)
	}
	for i, s := range n.ServiceNetwork {
		at.network(fmt.Sprintf("%s.serviceNetwork[%d]", base, i), s)
	}
	at.oneOf(base+".networkType", n.NetworkType, "OpenShiftSDN", "OVNKubernetes", "CiscoACI", "Cilium", "Calico", "None")
}

// network tells of what is no network.
func (p *place) network(path, text string) (netip.Prefix, bool) {
	prefix, err := netip.ParsePrefix(text)
	switch {
	case text == "":
		p.missing(path, "a network, such as 192.0.2.0/24")
		return prefix, false
	case err != nil:
		p.wrong(path, "is %.60q: write a network, such as 192.0.2.0/24", text)
	case prefix != prefix.Masked():
		p.wrong(path, "is %s: write the network's own address, %s", prefix, prefix.Masked())
	}
	return prefix, err == nil
}

func checkVIPs(at *place, single, one, list string, all []string) {
	if one != "" && len(all) > 0 && all[0] != one {
		at.wrong(single, "is %.60s, and %s begins with %.60s: keep %s alone", one, list, all[0], list)
	}
	if one != "" {
		at.address(single, one)
	}
	families := map[bool]string{}
	for i, text := range all {
		path := fmt.Sprintf("%s[%d]", list, i)
		address, good := at.address(path, text)
		if !good {
			continue
		}
		if other, twice := families[address.Is4()]; twice {
			at.wrong(path, "is %s, of the same family as %s: write at most one IPv4 and one IPv6 address", text, other)
		}
		families[address.Is4()] = text
	}
}

// checkCarried wants virtual addresses in the machine networks, where hosts carry them.
func checkCarried(at *place, networks []MachineNetwork, single, one, list string, all []string) {
	var machines []netip.Prefix
	var words []string
	for _, n := range networks {
		prefix, err := netip.ParsePrefix(n.CIDR)
		if err != nil {
			return // that is told
		}
		machines, words = append(machines, prefix), append(words, n.CIDR)
	}
	inside := func(path, text string) {
		address, err := netip.ParseAddr(text)
		if err == nil && len(machines) > 0 && !slices.ContainsFunc(machines, func(p netip.Prefix) bool { return p.Contains(address) }) {
			at.wrong(path, "is %s, which is in no machine network (%s): write an address of one, or add its network", address, strings.Join(words, ", "))
		}
	}
	for i, text := range all {
		inside(fmt.Sprintf("%s[%d]", list, i), text)
	}
	if len(all) == 0 {
		inside(single, one)
	}
}

func (p *place) address(path, text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(text)
	if err != nil {
		p.wrong(path, "is %.60q: write an IP address without a prefix length", text)
	}
	return address, err == nil
}

// platforms are the names of platforms.
var platforms = []string{"BareMetal", "None", "VSphere", "Nutanix", "External"}

func (r *reader) checkPlatform(a *AgentClusterInstall) {
	at, s := r.install, &a.Spec
	at.oneOf("spec.platformType", s.PlatformType, platforms...)
	if s.External != nil && s.PlatformType != "External" {
		at.wrong("spec.external", "is of spec.platformType External, which is %q: take one of them away", s.PlatformType)
	}
	if s.External != nil {
		at.oneOf("spec.external.cloudControllerManager", s.External.CloudControllerManager, "External")
	}
	if s.LoadBalancer != nil {
		at.oneOf("spec.loadBalancer.type", s.LoadBalancer.Type, "ClusterManaged", "UserManaged")
	}
	api, ingress := a.VIPs()
	single, managed := s.ProvisionRequirements.Hosts() == 1, s.Networking.UserManagedNetworking
	const umn = "spec.networking.userManagedNetworking"
	switch with := usernetwork.Refused(s.PlatformType, single, managed); {
	case with != "":
		at.wrong(umn, "is %t, which does not go with %s: take one of them away", *managed, with)
	case usernetwork.Users(s.PlatformType, managed) && len(api)+len(ingress) > 0 && a.source() == "":
		field, is := umn, "true"
		if managed == nil {
			field, is = "spec.platformType", s.PlatformType
		}
		at.wrong(field, "is %s beside virtual addresses (%s, %s), which nobody would keep: take one of them away", is, apiVIPs, ingressVIPs)
	case s.PlatformType == "BareMetal" && !single && !usernetwork.Users(s.PlatformType, managed):
		if len(api) == 0 {
			at.missing(apiVIPs, "the virtual address of the API in the machine network; platform BareMetal needs it")
		}
		if len(ingress) == 0 {
			at.missing(ingressVIPs, "the virtual address of ingress in the machine network; platform BareMetal needs it")
		}
	}
	if len(api) > 0 && len(ingress) > 0 && api[0] == ingress[0] && (s.LoadBalancer == nil || s.LoadBalancer.Type != "UserManaged") {
		field := ingressVIP
		if len(s.IngressVIPs) > 0 {
			field = ingressVIPs
		}
		at.wrong(field, "is the address of the API, too (%.60s): write another one, or have loadBalancer.type UserManaged", api[0])
	}
}

func checkPool(at *place, path, name string, p *MachinePool) {
	if p == nil {
		return
	}
	if p.Name == "" {
		at.missing(path+".name", name)
	} else if p.Name != name {
		at.wrong(path+".name", "is %.40q: write %s, there is one pool of these machines", p.Name, name)
	}
	at.oneOf(path+".hyperthreading", p.Hyperthreading, "Enabled", "Disabled")
}

func checkProxy(at *place, path string, p *Proxy) {
	if p == nil {
		return
	}
	for name, value := range map[string]string{"httpProxy": p.HTTPProxy, "httpsProxy": p.HTTPSProxy} {
		u, err := url.Parse(value)
		if value != "" && (err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https") {
			at.wrong(path+"."+name, "is no URL: write one such as http://proxy.example:3128") // it may hold a password
		}
	}
}

// acted are the annotations that somebody acts upon, of those whose prefixes are the protocol's and ours.
var acted = []string{names.InstallConfigOverrides, names.IgnitionSource, names.KubernetesVersion, names.KubernetesSettings}

func annotation(name string) string { return join("metadata.annotations", name) }

func (r *reader) checkAnnotations(a *AgentClusterInstall) {
	at, said := r.install, a.Metadata.Annotations
	for name := range said {
		ours := strings.HasPrefix(name, "agent-install.openshift.io/") || strings.HasPrefix(name, "ironflow.io/")
		if ours && !slices.Contains(acted, name) {
			at.unused(annotation(name), "is not acted upon: take it away; annotations that are: %s", strings.Join(acted, ", "))
		}
	}
	for _, name := range []string{names.InstallConfigOverrides, names.KubernetesSettings} {
		var object map[string]any
		if text, is := said[name]; is && (json.Unmarshal([]byte(text), &object) != nil || object == nil) {
			at.wrong(annotation(name), "is no JSON object: write one, in quotes") // it may hold a password
		}
	}
	at.oneOf(annotation(names.IgnitionSource), said[names.IgnitionSource], "openshift-install", sourceKubernetes, sourceFiles)
	for _, name := range []string{names.KubernetesVersion, names.KubernetesSettings} {
		if _, is := said[name]; is && a.source() != sourceKubernetes {
			at.wrong(annotation(name), "is of source kubernetes: write %s: kubernetes too, or take it away", names.IgnitionSource)
		}
	}
}

// checkTogether looks for objects that name others than those that are there.
func (r *reader) checkTogether() {
	deployment, install := r.set.ClusterDeployment, r.set.AgentClusterInstall
	named := func(at *place, path, name string, other *place, is string) {
		if at != nil && other != nil && name != "" && is != "" && name != is {
			at.wrong(path, "is %.80q, and %s has %.80q: write the same", name, other.file, is)
		}
	}
	if install != nil && deployment != nil {
		if install.Spec.ClusterDeploymentRef.Name == "" {
			r.install.missing("spec.clusterDeploymentRef.name", "the name of the ClusterDeployment, "+deployment.Metadata.Name)
		}
		named(r.install, "spec.clusterDeploymentRef.name", install.Spec.ClusterDeploymentRef.Name, r.cluster, deployment.Metadata.Name)
		if ref := deployment.Spec.ClusterInstallRef; ref != nil {
			named(r.cluster, "spec.clusterInstallRef.name", ref.Name, r.install, install.Metadata.Name)
		}
	}
	if install != nil && install.Spec.ImageSetRef != nil && r.set.ClusterImageSet != nil {
		named(r.install, "spec.imageSetRef.name", install.Spec.ImageSetRef.Name, r.images, r.set.ClusterImageSet.Metadata.Name)
	}
	if env := r.set.InfraEnv; env != nil && deployment != nil && env.Spec.ClusterRef != nil {
		named(r.env, "spec.clusterRef.name", env.Spec.ClusterRef.Name, r.cluster, deployment.Metadata.Name)
	}
}
