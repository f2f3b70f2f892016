package kubernetes_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestLacks: each thing that cannot be made is said by name before anything is touched,
// and what is said is what stands between the order and its files.
func TestLacks(t *testing.T) {
	sum := "sha256:" + strings.Repeat("0", 64)
	program := func(p sources.Program) func(*sources.Order) {
		return func(o *sources.Order) { o.Kubernetes.Programs = []sources.Program{p} }
	}
	for name, tc := range map[string]struct {
		change func(*sources.Order)
		want   string
	}{
		"no settings":                      {func(o *sources.Order) { o.Kubernetes = nil }, "settings of a plain Kubernetes"},
		"no version":                       {func(o *sources.Order) { o.Kubernetes.Version = "" }, `version "": write a release of v1.35 to v1.37`},
		"a version of the past":            {func(o *sources.Order) { o.Kubernetes.Version = "v1.34.9" }, `"v1.34.9": write a release of v1.35 to v1.37`},
		"a version of the future":          {func(o *sources.Order) { o.Kubernetes.Version = "v1.38.0" }, "v1.35 to v1.37"},
		"a version without v":              {func(o *sources.Order) { o.Kubernetes.Version = "1.37.1" }, "with its v"},
		"a version that is none":           {func(o *sources.Order) { o.Kubernetes.Version = "v1.37.1; reboot" }, "v1.35 to v1.37"},
		"two masters":                      {func(o *sources.Order) { o.Hosts = o.Hosts[1:] }, "2 hosts of the control plane"},
		"no masters":                       {func(o *sources.Order) { o.Hosts = o.Hosts[3:] }, "no host of the control plane"},
		"an arbiter":                       {func(o *sources.Order) { o.Hosts[3].Role = wire.HostRoleArbiter }, "host worker-0 with the role arbiter"},
		"two that initialise":              {func(o *sources.Order) { o.Hosts[1].Bootstrap = true }, "2 hosts that start the control plane"},
		"a worker that initialises":        {func(o *sources.Order) { o.Hosts[0].Bootstrap, o.Hosts[3].Bootstrap = false, true }, "host worker-0 starts the control plane as worker"},
		"no endpoint and no VIP":           {func(o *sources.Order) { o.Cluster.APIVIPs = nil }, "neither an endpoint nor an API address"},
		"one host without an address":      {func(o *sources.Order) { *o = *alone(); o.Hosts[0].Addresses = nil }, "neither an endpoint nor an API address"},
		"an endpoint that is none":         {func(o *sources.Order) { o.Kubernetes.Endpoint = "https://api.example/" }, "the endpoint"},
		"a worker called as the API":       {func(o *sources.Order) { o.Kubernetes.Endpoint = "Worker-0:6443" }, "host worker-0 has the name or the address of the cluster's API"},
		"a worker at the API's place":      {func(o *sources.Order) { o.Hosts[3].Addresses = append(o.Hosts[3].Addresses, "192.0.2.250") }, "host worker-0 has the name or the address"},
		"a worker in the balancer's place": {func(o *sources.Order) { o.Kubernetes.Endpoint = o.Hosts[3].Addresses[0] }, "host worker-0 has the name or the address"},
		"a worker called as a service":     {func(o *sources.Order) { o.Hosts[3].Name = "kubernetes" }, "host kubernetes has the name or the address"},
		"a port that is none":              {func(o *sources.Order) { o.Kubernetes.Endpoint = "api.example:70000" }, "the endpoint"},
		"a VIP that is none":               {func(o *sources.Order) { o.Cluster.APIVIPs[0].IP = "x" }, `API address "x"`},
		"two VIPs by kube-vip":             {func(o *sources.Order) { dual(o); o.Kubernetes.VIPImage = "r.example/k:v1" }, "two API addresses with kube-vip"},
		"kube-vip without a VIP":           {func(o *sources.Order) { *o = *alone(); o.Kubernetes.VIPImage = "r.example/k:v1" }, "vip_image without an API address"},
		"kube-vip beside a balancer": {func(o *sources.Order) {
			o.Cluster.LoadBalancer, o.Kubernetes.VIPImage = &wire.LoadBalancer{Type: wire.LoadBalancerTypeUserManaged}, "r.example/k:v1"
		}, "vip_image beside a load balancer"},
		"a VIP of another family":     {func(o *sources.Order) { o.Cluster.APIVIPs[0].IP = "2001:db8::1" }, "host master-0 has no IPv6 address"},
		"a leased VIP":                {func(o *sources.Order) { o.Cluster.VIPDHCPAllocation = new(true) }, "vip_dhcp_allocation"},
		"an image of no registry":     {func(o *sources.Order) { o.Kubernetes.VIPImage = "kube-vip/kube-vip:v1.0.0" }, `image of kube-vip "kube-vip/kube-vip:v1.0.0"`},
		"an image without a tag":      {func(o *sources.Order) { o.Kubernetes.VIPImage = "r.example/kube-vip" }, "image of kube-vip"},
		"a repository of no registry": {func(o *sources.Order) { o.Kubernetes.ImageRepository = "kubernetes" }, "image repository"},
		"no service network":          {func(o *sources.Order) { o.Cluster.ServiceNetworks = nil }, "service networks"},
		"no cluster network":          {func(o *sources.Order) { o.Cluster.ClusterNetworks = nil }, "cluster networks"},
		"a network that is none":      {func(o *sources.Order) { o.Cluster.ServiceNetworks[0].CIDR = "x" }, `service network "x"`},
		"two networks of a family": {func(o *sources.Order) {
			c := &o.Cluster
			c.ServiceNetworks = append(c.ServiceNetworks, wire.ServiceNetwork{CIDR: "172.31.0.0/16"})
		}, "service networks 172.30.0.0/16,172.31.0.0/16"},
		"families that differ":         {func(o *sources.Order) { o.Cluster.ServiceNetworks[0].CIDR = "fd02::/112" }, "of other families"},
		"too many services":            {func(o *sources.Order) { o.Cluster.ServiceNetworks[0].CIDR = "10.0.0.0/8" }, "service network 10.0.0.0/8: use at most /12"},
		"shares larger than the whole": {func(o *sources.Order) { o.Cluster.ClusterNetworks[0].HostPrefix = 8 }, "shares of /8"},
		"shares that are too many":     {func(o *sources.Order) { o.Cluster.ClusterNetworks[0].HostPrefix = 31 }, "use a host_prefix of 14 to 30"},
		"one family of a dual stack":   {func(o *sources.Order) { dual(o); o.Hosts[3].Addresses = o.Hosts[3].Addresses[:1] }, "host worker-0 has no address of each family"},
		"a program without a checksum": {program(sources.Program{URL: "https://a/b.raw", Kind: "sysext"}), "program 1: it has no checksum"},
		"a checksum that is none":      {program(sources.Program{URL: "https://a/b.raw", Kind: "sysext", Checksum: "md5:00"}), "program 1: its checksum cannot be read"},
		"a program of no kind":         {program(sources.Program{URL: "https://a/b.raw", Checksum: sum}), "program 1: its kind"},
		"a program of no URL":          {program(sources.Program{URL: "/b.raw", Checksum: sum, Kind: "sysext"}), "program 1: its URL"},
		"a program behind a password":  {program(sources.Program{URL: "https://u:hunter2@a/b.raw", Checksum: sum, Kind: "sysext"}), "program 1: its URL has a user name or password"},
		"a program with two lines":     {program(sources.Program{URL: "https://a/b.raw\nx", Checksum: sum, Kind: "sysext"}), "program 1: its URL"},
		"a program of no name":         {program(sources.Program{URL: "https://a/", Checksum: sum, Kind: "sysext", Name: "../a"}), "program 1: it has no usable name"},
		"two extensions of a name": {func(o *sources.Order) {
			p := sources.Program{URL: "https://a/b.raw", Checksum: sum, Kind: "sysext"}
			o.Kubernetes.Programs = []sources.Program{p, p}
		}, "program 2: a second extension named b"},
		"all checks of kubeadm": {func(o *sources.Order) { o.Kubernetes.IgnorePreflight = []string{"All"} }, `ignore_preflight "All": name each check`},
		"a check that is none":  {func(o *sources.Order) { o.Kubernetes.IgnorePreflight = []string{"Mem,NumCPU"} }, `ignore_preflight "Mem,NumCPU"`},
		"a socket that is none": {func(o *sources.Order) { o.Kubernetes.CRISocket = "tcp://1" }, "container runtime's socket"},
		"mirrors with CRI-O":    {func(o *sources.Order) { full(o); o.Kubernetes.CRISocket = "unix:///run/crio/crio.sock" }, "mirrors with crio.service"},
		"a mirror without URLs": {func(o *sources.Order) { o.Kubernetes.Mirrors = []sources.Mirror{{Registry: "docker.io"}} }, "mirror 1: no URL"},
		"a mirror of a path": {func(o *sources.Order) {
			o.Kubernetes.Mirrors = []sources.Mirror{{Registry: "../x", URLs: []string{"https://a"}}}
		}, "mirror 1: the registry"},
		"a mirror whose ca is none": {func(o *sources.Order) {
			o.Kubernetes.Mirrors = []sources.Mirror{{Registry: "docker.io", URLs: []string{"https://a"}, CA: "x"}}
		}, "mirror 1: its ca"},
		"a patch of a manifest":         {func(o *sources.Order) { o.Manifests = []sources.Manifest{{Name: "a.yaml.patch_1"}} }, `manifest "a.yaml.patch_1"`},
		"a manifest elsewhere":          {func(o *sources.Order) { o.Manifests = []sources.Manifest{{Name: "../a.yaml"}} }, `manifest "../a.yaml"`},
		"a proxy with two lines":        {func(o *sources.Order) { o.Cluster.HTTPProxy = "http://a\nX=1" }, "http_proxy"},
		"a time server with an option":  {func(o *sources.Order) { o.Cluster.AdditionalNTPSource = "a;b" }, `time server "a;b"`},
		"overrides of install-config":   {func(o *sources.Order) { o.Cluster.InstallConfigOverrides = "{}" }, "overrides of the install-config"},
		"a network of OpenShift":        {func(o *sources.Order) { o.Cluster.NetworkType = new("OVNKubernetes") }, "network type OVNKubernetes"},
		"hyperthreading switched off":   {func(o *sources.Order) { o.Cluster.Hyperthreading = "none" }, "hyperthreading none"},
		"a name that is none in DNS":    {func(o *sources.Order) { o.Hosts[3].Name = "a_b" }, `host "a_b"`},
		"two hosts of a name":           {func(o *sources.Order) { o.Hosts[3].Name = "MASTER-0" }, "two hosts named master-0"},
		"a label with another argument": {func(o *sources.Order) { o.Hosts[3].Labels = map[string]string{"a": "b --x"} }, "label \"a=b --x\" of host worker-0"},
		"a host that joins beside": {func(o *sources.Order) {
			o.Earlier, o.Hosts[3].Joins = &sources.Made{Secrets: map[string][]byte{"a": nil}}, true
		}, "3 hosts of a new cluster beside"},
		"a cluster of another source": {func(o *sources.Order) { *o = *joining(wire.HostRoleWorker, nil) }, "the authorities of the cluster that runs"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := changed(order(3, 1), tc.change)
			lacks := kubernetes.Source{}.Lacks(t.Context(), o)
			said := make([]string, len(lacks))
			for i, one := range lacks {
				said[i] = one.String()
				g.Expect(one.What).NotTo(BeEmpty())
				g.Expect(one.Next).NotTo(BeEmpty())
			}
			g.Expect(said).To(ContainElement(ContainSubstring(tc.want)))
			g.Expect(strings.Join(said, "")).NotTo(ContainSubstring("hunter2"))
			_, err := kubernetes.Source{}.Make(t.Context(), o)
			g.Expect(err).To(BeAssignableToTypeOf(sources.Lacking{}))
		})
	}
}

func TestNothingIsLacking(t *testing.T) {
	made := mustMake(t, order(3, 1))
	for name, o := range map[string]*sources.Order{
		"three hosts and a worker": order(3, 1),
		"everything set":           changed(order(3, 1), full),
		"dual stack":               changed(order(3, 1), dual),
		"IPv6 alone":               changed(order(1, 0), onlyIPv6),
		"one host":                 alone(),
		"an address as endpoint":   changed(alone(), func(o *sources.Order) { o.Kubernetes.Endpoint = "[2001:db8::1]:443" }),
		"a host on day 2":          joining(wire.HostRoleMaster, made),
		"the oldest version":       changed(order(3, 1), func(o *sources.Order) { o.Kubernetes.Version = "v1.35.0" }),
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(kubernetes.Source{}.Lacks(t.Context(), o)).To(BeEmpty())
		})
	}
}
