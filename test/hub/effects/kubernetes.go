package effects

// The tests that show what the source kubernetes makes of settings.
const (
	byRole      = "hub/sources/kubernetes.TestHostsByRole"
	lacking     = "hub/sources/kubernetes.TestLacks"
	joinsOwn    = "hub/rest.TestAHostJoinsAPlainClusterThatRuns"
	timeServers = "hub/sources/kubernetes.TestTimeServersOfTheInstalledSystem"
	byToken     = "hosts that join do so by kubeadm, with a token of their own"
)

// Kubernetes are the settings that do something else in a cluster of the Ignition source
// kubernetes than in other clusters without a release.
var Kubernetes = []Setting{
	{Cluster, "additional_ntp_source", Acts, "", "also time servers of the installed system", timeServers},
	{Cluster, "api_vip_dns_name", Stores, "", byToken, joinsOwn},
	{Cluster, "api_vips", Acts, "", "the control plane carries them by keepalived or kube-vip; the first one is the API's address", byRole},
	{Cluster, "cluster_network_cidr", Acts, "", oldName + "cluster_networks", byRole},
	{Cluster, "cluster_network_host_prefix", Acts, "", oldName + "cluster_networks", byRole},
	{Cluster, "cluster_networks", Acts, "", "kubeadm's network of pods, and a node's share of it", byRole},
	{Cluster, "hyperthreading", Refuses, "", "no program of a plain Kubernetes switches it off; `all` is taken", lacking},
	{Cluster, "ignition_endpoint", Stores, "", byToken, joinsOwn},
	{Cluster, "load_balancer", Acts, "", "`user-managed`: no host carries `api_vips`, which are those of the load balancer", "hub/sources/kubernetes.TestTheAddressOfALoadBalancerIsItsOwn"},
	{Cluster, "network_type", Refuses, "", "those of OpenShift; with all others, the manifests have to bring the network", lacking},
	{Cluster, "ntp_sources", Acts, "", "also time servers of the installed system", timeServers},
	{Cluster, "ocp_release_image", Refuses, "", "it has no release", "hub/rest.TestAPlainKubernetesHasNoRelease"},
	{Cluster, "openshift_version", Refuses, "", "it has no release", "hub/rest.TestAPlainKubernetesHasNoRelease"},
	{Cluster, "pull_secret", Acts, "", "the kubelet pulls with it", byRole},
	{Cluster, "service_network_cidr", Acts, "", oldName + "service_networks", byRole},
	{Cluster, "service_networks", Acts, "", "kubeadm's network of services", byRole},
	{Cluster, "vip_dhcp_allocation", Refuses, "", "no program of a plain Kubernetes leases addresses", lacking},

	{Host, "ignition_endpoint_http_headers", Stores, "", byToken, joinsOwn},
	{Host, "ignition_endpoint_token", Stores, "", byToken, joinsOwn},
	{Host, "machine_config_pool_name", Stores, "", "there are no pools", joinsOwn},
}
