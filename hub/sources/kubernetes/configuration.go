package kubernetes

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/kubeadm"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
	"github.com/ironflow/ironflow/hub/wire"
)

// volumePlugins is a folder that can be written where /usr cannot.
const volumePlugins = "/var/lib/kubelet/volumeplugins"

// repeated are kubeadm's checks for what an attempt that was interrupted leaves behind.
var (
	repeatedJoin         = []string{"Port-10250", "FileAvailable--etc-kubernetes-pki-ca.crt"}
	repeatedControlPlane = []string{
		"Port-6443", "Port-10250", "Port-10257", "Port-10259", "Port-2379", "Port-2380", "DirAvailable--var-lib-etcd",
		"FileAvailable--etc-kubernetes-manifests-kube-apiserver.yaml", "FileAvailable--etc-kubernetes-manifests-kube-controller-manager.yaml",
		"FileAvailable--etc-kubernetes-manifests-kube-scheduler.yaml", "FileAvailable--etc-kubernetes-manifests-etcd.yaml",
	}
)

// timeouts are long enough for images to be pulled from a slow registry: with a pull secret,
// that begins only when the kubelet runs. An attempt that is given up begins with its
// certificates again, so that patience costs less than haste. The first call to the API is
// made as soon as the kubelet is started, before anything waits for the control plane: it
// has as much time. A host that joins waits for somebody who approves its request.
var timeouts = &kubeadm.Timeouts{
	ControlPlaneComponentHealthCheck: "30m0s", KubeletHealthCheck: "15m0s", KubernetesAPICall: "30m0s", TLSBootstrap: "20m0s", Discovery: "10m0s",
}

// configuration is kubeadm's for the host.
func (p *plan) configuration(h *sources.Host) ([]byte, error) {
	if p.initialises(h) {
		return kubeadm.InitFile(p.init(h), p.cluster(), kubeadm.Kubelet{ServerTLSBootstrap: true, VolumePluginDir: volumePlugins})
	}
	join := kubeadm.Join{
		Discovery: kubeadm.Discovery{BootstrapToken: kubeadm.TokenDiscovery{
			Token: p.token.Text, APIServerEndpoint: p.endpoint, CACertHashes: []string{p.authorities.Hash()},
		}},
		NodeRegistration: p.node(h), Timeouts: timeouts,
	}
	if h.Role == wire.HostRoleMaster {
		join.ControlPlane = &kubeadm.ControlPlane{LocalAPIEndpoint: p.local(h)}
	}
	return kubeadm.JoinFile(join)
}

// initialises tells that the host starts the control plane.
func (p *plan) initialises(h *sources.Host) bool {
	return p.first >= 0 && p.order.Hosts[p.first].ID == h.ID
}

func (p *plan) init(h *sources.Host) kubeadm.Init {
	return kubeadm.Init{
		BootstrapTokens: []kubeadm.Bootstrap{{
			Token: p.token.Text, Description: "hosts of the installation, made by Ironflow", TTL: token.Life.String(),
			Usages: []string{"signing", "authentication"}, Groups: []string{token.Group},
		}},
		LocalAPIEndpoint: p.local(h), NodeRegistration: p.node(h), Timeouts: timeouts,
	}
}

// local is where the host's API server listens: at the address of the cluster's first family.
func (p *plan) local(h *sources.Host) *kubeadm.APIEndpoint {
	local := &kubeadm.APIEndpoint{BindPort: apiPort}
	if all := p.networks.nodeAddresses(h); len(all) > 0 {
		local.AdvertiseAddress = all[0].String()
	}
	return local
}

// node is how the host registers.
func (p *plan) node(h *sources.Host) kubeadm.Node {
	node := kubeadm.Node{Name: nodeName(h), CRISocket: socket(p.order), IgnorePreflight: repeatedJoin}
	if all := p.networks.nodeAddresses(h); len(all) > 0 {
		node.KubeletExtraArgs = append(node.KubeletExtraArgs, kubeadm.Arg{Name: "node-ip", Value: addresses(all)})
	}
	if labels := ownLabels(h.Labels); labels != "" {
		node.KubeletExtraArgs = append(node.KubeletExtraArgs, kubeadm.Arg{Name: "node-labels", Value: labels})
	}
	if h.Role == wire.HostRoleMaster {
		node.IgnorePreflight = repeatedControlPlane
		if schedulable(p.order) {
			node.Taints = new([]kubeadm.Taint{})
		}
	}
	node.IgnorePreflight = append(slices.Clone(node.IgnorePreflight), p.order.Kubernetes.IgnorePreflight...)
	if p.order.PullSecret != "" {
		// kubeadm pulls without credentials; the kubelet has them.
		node.ImagePullPolicy = "Never"
	}
	return node
}

// nodeName is the host's name as Kubernetes takes names.
func nodeName(h *sources.Host) string { return strings.ToLower(h.Name) }

// addresses joins addresses as Kubernetes writes them.
func addresses(all []netip.Addr) string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = one.String()
	}
	return strings.Join(out, ",")
}

// patientLeader is for a control plane of one host: there is nobody to hand a lease over to,
// and a program that has not renewed its own within 10 s, for a disk or a processor that has
// too much to do, ends and begins again. Hosts that join later find the same: one that fails
// is replaced after a minute then, not after 15 s.
var patientLeader = []kubeadm.Arg{
	{Name: "leader-elect-lease-duration", Value: "60s"}, {Name: "leader-elect-renew-deadline", Value: "40s"}, {Name: "leader-elect-retry-period", Value: "5s"},
}

// cluster is what holds for all hosts.
func (p *plan) cluster() kubeadm.Cluster {
	c := kubeadm.Cluster{
		ClusterName: p.order.Cluster.Name, KubernetesVersion: p.order.Kubernetes.Version, ControlPlaneEndpoint: p.endpoint,
		ImageRepository: p.order.Kubernetes.ImageRepository, EncryptionAlgorithm: "ECDSA-P256",
		Networking: kubeadm.Networking{ServiceSubnet: text(p.networks.services), PodSubnet: text(p.networks.pods)},
		APIServer:  kubeadm.APIServer{CertSANs: p.certSANs()},
	}
	if masters(p.order) == 1 {
		c.ControllerManager.ExtraArgs = slices.Clone(patientLeader)
		c.Scheduler.ExtraArgs = slices.Clone(patientLeader)
	}
	for _, six := range p.networks.families() {
		if size := p.networks.hostPrefix[six]; size != 0 {
			c.ControllerManager.ExtraArgs = append(c.ControllerManager.ExtraArgs, kubeadm.Arg{Name: p.maskArg(six), Value: strconv.FormatInt(size, 10)})
		}
	}
	if minor(p.order.Kubernetes.Version) < 36 {
		// kubeadm 1.35 mounts this folder, by default one below /usr.
		c.ControllerManager.ExtraArgs = append(c.ControllerManager.ExtraArgs, kubeadm.Arg{Name: "flex-volume-plugin-dir", Value: volumePlugins})
	}
	return c
}

// maskArg is the argument with the size of a node's share of the pod network.
func (p *plan) maskArg(six bool) string {
	switch {
	case len(p.networks.pods) == 1:
		return "node-cidr-mask-size"
	case six:
		return "node-cidr-mask-size-ipv6"
	default:
		return "node-cidr-mask-size-ipv4"
	}
}

// certSANs are the names and addresses by which clients may know the API, besides those
// that kubeadm adds itself.
func (p *plan) certSANs() []string {
	host, _ := splitEndpoint(p.endpoint)
	all := []string{host}
	for _, one := range p.vips {
		all = append(all, one.String())
	}
	if c := p.order.Cluster; c.BaseDNSDomain != "" {
		all = append(all, "api."+c.Name+"."+c.BaseDNSDomain)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ownLabels are those that a kubelet may give its own node, as its argument. The rest,
// such as those of roles, is for an administrator: ironflow-cluster sets them.
func ownLabels(labels map[string]string) string {
	var all []string
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		if mayLabelItself(key) {
			all = append(all, key+"="+labels[key])
		}
	}
	return strings.Join(all, ",")
}

// mayLabelItself is the rule of the admission plugin NodeRestriction.
func mayLabelItself(key string) bool {
	domain, _, prefixed := strings.Cut(key, "/")
	below := func(parents ...string) bool {
		return slices.ContainsFunc(parents, func(p string) bool { return domain == p || strings.HasSuffix(domain, "."+p) })
	}
	switch {
	case !prefixed, below("kubelet.kubernetes.io", "node.kubernetes.io"):
		return !below("node-restriction.kubernetes.io")
	case below("kubernetes.io", "k8s.io"):
		return key == "topology.kubernetes.io/zone" || key == "topology.kubernetes.io/region"
	default:
		return true
	}
}
