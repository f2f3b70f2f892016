package kubernetes

import (
	"fmt"
	"net/netip"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
	"github.com/ironflow/ironflow/hub/wire"
)

// oldest and newest are the minor versions of Kubernetes 1 that can be made.
const (
	oldest = 35
	newest = 37
)

// found collects lacks.
type found []sources.Lack

func (f *found) add(what, next string) { *f = append(*f, sources.Lack{What: what, Next: next}) }

// lacks is everything that is missing from an order.
func lacks(o *sources.Order) []sources.Lack {
	var f found
	if o.Kubernetes == nil {
		f.add("the settings of a plain Kubernetes", "set at least its version")
		return f
	}
	for _, check := range []func(*sources.Order, *found){
		lackVersion,     // a version that kubeadm's configuration is known for
		lackUnsupported, // settings that nobody acts upon here
		lackNetworks,    // networks that Kubernetes takes
		lackAddresses,   // VIPs that can be carried
		lackEndpoint,    // a way to the API
		lackPrograms,    // programs whose content is known
		lackImages,      // images whose registry is known
		lackChecks,      // checks of kubeadm by their names
		lackFiles,       // manifests, proxy, time servers, mirrors that can be written to files
		lackControlPlane,
		lackHosts,
		lackPlaces,  // no host in the place of the API
		lackEarlier, // what hosts need that join a cluster that runs
	} {
		check(o, &f)
	}
	return f
}

var release = regexp.MustCompile(`^v1\.(0|[1-9][0-9]{0,3})\.(0|[1-9][0-9]{0,3})$`)

// minor is a version's second number, -1 when it cannot be read.
func minor(version string) int {
	parts := release.FindStringSubmatch(version)
	if parts == nil {
		return -1
	}
	n, _ := strconv.Atoi(parts[1])
	return n
}

func lackVersion(o *sources.Order, f *found) {
	if n := minor(o.Kubernetes.Version); n < oldest || n > newest {
		f.add(fmt.Sprintf("Kubernetes version %q", o.Kubernetes.Version),
			fmt.Sprintf("write a release of v1.%d to v1.%d with its v, such as v1.%d.1", oldest, newest, newest))
	}
}

// openShiftNetworks are network types that OpenShift's own operator installs.
var openShiftNetworks = []string{wire.ClusterNetworkTypeOpenShiftSDN, wire.ClusterNetworkTypeOVNKubernetes}

func lackUnsupported(o *sources.Order, f *found) {
	c := &o.Cluster
	for _, one := range []struct {
		set        bool
		what, next string
	}{
		{c.InstallConfigOverrides != "", "overrides of the install-config", "remove them: a plain Kubernetes has no install-config"},
		{yes(c.VIPDHCPAllocation), "vip_dhcp_allocation", "set api_vips: no program of a plain Kubernetes leases addresses"},
		{c.Hyperthreading != "" && c.Hyperthreading != wire.ClusterHyperthreadingAll, "hyperthreading " + c.Hyperthreading, "write all, or switch it off in the machines' BIOS settings"},
		{slices.Contains(openShiftNetworks, wire.Value(c.NetworkType)), "network type " + wire.Value(c.NetworkType), "write None, Calico or Cilium and add the network's manifests: only OpenShift brings its own"},
		{len(c.OperatorBundles) > 0, "operator bundles", "remove them, or add what they install as manifests"},
	} {
		if one.set {
			f.add(one.what, one.next)
		}
	}
}

// lackPrograms says which program is not known well enough to be installed unseen.
func lackPrograms(o *sources.Order, f *found) {
	names := map[string]bool{}
	for i, one := range o.Kubernetes.Programs {
		where := fmt.Sprintf("program %d", i+1)
		if what, next := programProblem(one); what != "" {
			f.add(where+": "+what, next)
			continue
		}
		if one.Kind == kindSysext && names[nameOf(one)] {
			f.add(where+": a second extension named "+nameOf(one), "set its name to what its release file ends with")
		}
		names[nameOf(one)] = names[nameOf(one)] || one.Kind == kindSysext
	}
	if s := o.Kubernetes.CRISocket; s != "" && (!strings.HasPrefix(s, "unix:///") || !plain(s)) {
		f.add("the container runtime's socket "+strconv.Quote(s), "write unix:///run/containerd/containerd.sock or unix:///run/crio/crio.sock")
	}
}

var (
	// reference is HOST/PATH with a tag or digest; the host has a dot or a port, or is localhost.
	reference  = regexp.MustCompile(`^([a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+(:[0-9]+)?|[a-zA-Z0-9-]+:[0-9]+|localhost|\[[0-9a-fA-F:]+\](:[0-9]+)?)(/[a-z0-9._-]+)+(:[A-Za-z0-9_][A-Za-z0-9._-]*|@sha256:[0-9a-f]{64}|:[A-Za-z0-9_][A-Za-z0-9._-]*@sha256:[0-9a-f]{64})$`)
	repository = regexp.MustCompile(`^([a-zA-Z0-9-]+(\.[a-zA-Z0-9-]+)+(:[0-9]+)?|[a-zA-Z0-9-]+:[0-9]+|localhost|\[[0-9a-fA-F:]+\](:[0-9]+)?)(/[a-z0-9._-]+)*$`)
	registry   = regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9.-]*(:[0-9]+)?$`)
)

// lackImages wants the registry of each image to be named: nobody knows who answers for
// a name that leaves it out.
func lackImages(o *sources.Order, f *found) {
	k := o.Kubernetes
	if k.VIPImage != "" && !reference.MatchString(k.VIPImage) {
		f.add("the image of kube-vip "+strconv.Quote(k.VIPImage), "write its registry, path, and tag or digest, such as registry.example/kube-vip/kube-vip:v1.0.0")
	}
	if k.ImageRepository != "" && !repository.MatchString(k.ImageRepository) {
		f.add("the image repository "+strconv.Quote(k.ImageRepository), "write registry and path without a tag, such as registry.example/kubernetes")
	}
	for i, m := range k.Mirrors {
		where := fmt.Sprintf("mirror %d", i+1)
		if !registry.MatchString(m.Registry) {
			f.add(where+": the registry "+strconv.Quote(m.Registry), "write HOST or HOST:PORT as images name it")
		}
		if len(m.URLs) == 0 {
			f.add(where+": no URL", "write where the images of "+m.Registry+" are")
		}
		for _, one := range m.URLs {
			if !plainURL(one) {
				f.add(where+": a URL that is none of http or https", "write https://HOST and a path where it has one")
			}
		}
		if m.CA != "" && !authorities.PEM(m.CA) {
			f.add(where+": its ca has no certificate in PEM", "write the certificate authority of the mirror")
		}
	}
	if len(k.Mirrors) > 0 && runtime(o) != "containerd.service" {
		f.add("mirrors with "+runtime(o), "remove them here and configure the runtime in the installed image: mirrors are written for containerd")
	}
}

// checkName is how kubeadm names a check, such as FileContent--proc-sys-net-ipv4-ip_forward.
var checkName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func lackChecks(o *sources.Order, f *found) {
	for _, one := range o.Kubernetes.IgnorePreflight {
		if !checkName.MatchString(one) || strings.EqualFold(one, "all") {
			f.add("ignore_preflight "+strconv.Quote(one), "name each check of kubeadm whose error is to be ignored, such as Mem, NumCPU or SystemVerification")
		}
	}
}

var (
	manifestName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*\.(yaml|yml|json)$`)
	timeServer   = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.:-]*[A-Za-z0-9])?$`)
)

func lackFiles(o *sources.Order, f *found) {
	for _, m := range o.Manifests {
		if m.Name != path.Base(m.Name) || !manifestName.MatchString(m.Name) {
			f.add("manifest "+strconv.Quote(m.Name), "name it *.yaml, *.yml or *.json: patches of files that an installer writes cannot be applied to a plain Kubernetes")
		}
	}
	for _, one := range []struct{ name, value string }{{"http_proxy", o.Cluster.HTTPProxy}, {"https_proxy", o.Cluster.HTTPSProxy}} {
		if one.value != "" && !plainURL(one.value) {
			f.add(one.name+" cannot be written to an environment file", "write http://HOST:PORT, with other characters than letters, digits and -._~ in a password escaped by %")
		}
	}
	if !plain(o.Cluster.NoProxy) {
		f.add("no_proxy "+strconv.Quote(o.Cluster.NoProxy), "write names, addresses and networks, separated by commas alone")
	}
	for _, one := range ntpServers(o) {
		if !timeServer.MatchString(one) {
			f.add("time server "+strconv.Quote(one), "write a name or an address")
		}
	}
}

// lackControlPlane wants one set of hosts that can decide.
func lackControlPlane(o *sources.Order, f *found) {
	if joins(o) {
		return
	}
	switch count := masters(o); {
	case count == 0:
		f.add("no host of the control plane", "give one or three hosts the role master")
	case count%2 == 0:
		f.add(fmt.Sprintf("%d hosts of the control plane", count), "use an odd count: with an even one, the loss of half of them stops etcd, so that one more host makes nothing safer")
	}
	chosen := 0
	for _, h := range o.Hosts {
		if h.Bootstrap {
			chosen++
		}
		if h.Bootstrap && h.Role != wire.HostRoleMaster {
			f.add("host "+h.Name+" starts the control plane as "+string(h.Role), "let a host with the role master do it")
		}
	}
	if chosen > 1 {
		f.add(fmt.Sprintf("%d hosts that start the control plane", chosen), "let one of them do it")
	}
}

func lackEarlier(o *sources.Order, f *found) {
	fresh := 0
	for _, h := range o.Hosts {
		if !h.Joins {
			fresh++
		}
	}
	if !joins(o) {
		return
	}
	if fresh > 0 {
		f.add(fmt.Sprintf("%d hosts of a new cluster beside hosts that join one that runs", fresh), "order them apart")
	}
	if o.Earlier == nil || len(o.Earlier.Secrets) == 0 {
		f.add("the authorities of the cluster that runs", "let the hosts join by the source "+string(sources.Pointer)+", or install the cluster by this source first")
	}
}

// lackAddresses wants VIPs that a host can carry.
func lackAddresses(o *sources.Order, f *found) {
	all, unreadable := vips(&o.Cluster)
	for _, one := range unreadable {
		f.add(one, "write an IPv4 or IPv6 address")
	}
	n, _ := networksOf(&o.Cluster)
	if len(all) > 1 && o.Kubernetes.VIPImage != "" {
		f.add("two API addresses with kube-vip", "keep one of api_vips, or leave vip_image empty for keepalived of the installed image")
	}
	if len(all) == 0 && o.Kubernetes.VIPImage != "" {
		f.add("vip_image without an API address", "set api_vips, or remove vip_image")
	}
	if balanced(o) {
		if len(all) > 0 && o.Kubernetes.VIPImage != "" {
			f.add("vip_image beside a load balancer of the site", "remove vip_image, or the load_balancer if hosts are to carry the API's address")
		}
		return // no host carries them
	}
	for _, h := range o.Hosts {
		if h.Role != wire.HostRoleMaster {
			continue
		}
		own := n.nodeAddresses(&h)
		for _, v := range all {
			if !hasFamily(own, v.Is6()) {
				f.add(fmt.Sprintf("host %s has no IPv%d address in the machine networks, and is to carry the API address %s", h.Name, family(v), v), "check its network, or use another API address")
			}
		}
	}
}

// hasFamily tells that one of the addresses is IPv6, or is not.
func hasFamily(all []netip.Addr, six bool) bool {
	for _, one := range all {
		if one.Is6() == six {
			return true
		}
	}
	return false
}
