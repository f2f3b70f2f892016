package effects

// The tests that show most effects.
const (
	judged    = "hub/rest.TestClusterValidations"
	rendered  = "hub/installconfig.TestRender"
	joins     = "hub/rest.TestWhereAHostThatJoinsGetsItsIgnition"
	ordered   = "hub/rest.TestWhatAHostIsInstalledWith"
	imaged    = "controllers/image.TestAnInfraEnvsOwnImage"
	oldName   = "the former name of "
	unread    = "; a cluster without a release has its own way to set up its network"
	inConfig  = "written to install-config.yaml"
	timeAsked = "the hosts are asked to check that they reach these time servers"
)

// Settings are all that clients can write.
var Settings = []Setting{
	{Cluster, "additional_ntp_source", Acts, "", timeAsked, "hub/instructions.TestArguments"},
	{Cluster, "api_vip_dns_name", Acts, "", "the name from which hosts that join get their Ignition", joins},
	{Cluster, "api_vips", Acts, Stores, "checked, and " + inConfig + unread, judged},
	{Cluster, "base_dns_domain", Acts, "", "part of the cluster's names in DNS; " + inConfig, rendered},
	{Cluster, "cluster_network_cidr", Acts, Stores, oldName + "cluster_networks", "hub/rest.TestSettingsOfAClusterThatMeanNothing"},
	{Cluster, "cluster_network_host_prefix", Acts, Stores, oldName + "cluster_networks", "hub/rest.TestSettingsOfAClusterThatMeanNothing"},
	{Cluster, "cluster_networks", Acts, Stores, "checked, and " + inConfig + unread, rendered},
	{Cluster, "control_plane_count", Acts, "", "how many masters the installation waits for", "hub/rest.TestTwoMastersAloneAreNoQuorum"},
	{Cluster, "cpu_architecture", Acts, "", inConfig + "; hosts of another architecture cannot be bound", rendered},
	{Cluster, "disk_encryption", Acts, "", "the hosts with these roles have their root file system on LUKS, unlocked by their TPM or by Tang servers; refused if that is not possible", "hub/rest.TestEncryptionThatIsAskedForIsDone"},
	{Cluster, "high_availability_mode", Acts, "", oldName + "control_plane_count", "hub/rest.TestASingleNodeByItsOldName"},
	{Cluster, "http_proxy", Acts, "", "proxy of the installer; " + inConfig, "hub/instructions.TestInstallOrder"},
	{Cluster, "https_proxy", Acts, "", "proxy of the installer; " + inConfig, "hub/instructions.TestInstallOrder"},
	{Cluster, "hyperthreading", Acts, Stores, inConfig, rendered},
	{Cluster, "ignition_endpoint", Acts, "", "where hosts that join get their Ignition", joins},
	{Cluster, "ignition_source", Acts, "", "the source of the Ignition of the cluster's hosts", "hub/rest.TestTheSourceOfACluster"},
	{Cluster, "ingress_vips", Acts, Stores, "checked, and " + inConfig + unread, judged},
	{Cluster, "kubernetes", Acts, "", "settings of a plain Kubernetes; refused with another source", "hub/rest.TestSettingsOfAPlainKubernetesReachItsHosts"},
	{Cluster, "load_balancer", Acts, Stores, "whether users have their own load balancer; " + inConfig, rendered},
	{Cluster, "machine_network_cidr", Acts, "", oldName + "machine_networks", "hub/rest.TestSettingsOfAClusterThatMeanNothing"},
	{Cluster, "machine_networks", Acts, "", "the installed system gets addresses on the network cards in these networks", ordered},
	{Cluster, "name", Acts, "", "part of the cluster's names in DNS; " + inConfig, rendered},
	{Cluster, "network_type", Acts, Stores, inConfig + "; network types that the release does not contain need manifests" + unread, "hub/rest.TestManifestsOfAForeignNetworkCount"},
	{Cluster, "no_proxy", Acts, "", "what the installer reaches without a proxy; " + inConfig, "hub/instructions.TestInstallOrder"},
	{Cluster, "ntp_sources", Acts, "", timeAsked, "hub/instructions.TestArguments"},
	{Cluster, "ocp_release_image", Acts, Stores, "the release image that the hosts are asked to pull", "hub/rest.TestAClusterHasTheImageOfItsRelease"},
	{Cluster, "olm_operators", Acts, Refuses, "manifests subscribe to them, and their requirements for hosts and cluster are checked; refused with another source than openshift-install", "hub/rest.TestOperatorsOfAnInstallation"},
	{Cluster, "openshift_version", Acts, "", "the requirements for hosts and cluster", judged},
	{Cluster, "operator_bundles", Acts, Refuses, "manifests subscribe to them, and their requirements for hosts and cluster are checked; refused with another source than openshift-install", "hub/rest.TestOperatorsOfAnInstallation"},
	{Cluster, "platform", Acts, Stores, "checked, and " + inConfig, judged},
	{Cluster, "pull_secret", Acts, Stores, "checked, and " + inConfig, rendered},
	{Cluster, "schedulable_masters", Acts, "", "a manifest for the scheduler, or, in a plain Kubernetes, no taint; with role files, these decide", "hub/rest.TestMastersThatTakeWorkloadsAreAManifest"},
	{Cluster, "service_network_cidr", Acts, Stores, oldName + "service_networks", "hub/rest.TestSettingsOfAClusterThatMeanNothing"},
	{Cluster, "service_networks", Acts, Stores, "checked, and " + inConfig + unread, rendered},
	{Cluster, "ssh_public_key", Acts, "", "SSH key of the user core", "hub/sources/files.TestMake"},
	{Cluster, "tags", Stores, "", "information for whoever made the cluster", "hub/rest.TestWhatIsOnlyStored"},
	{Cluster, "user_managed_networking", Acts, Stores, "the cluster needs no virtual addresses, but its names have to resolve", "hub/rest.TestEveryValidationPasses"},
	{Cluster, "vip_dhcp_allocation", Acts, Stores, "the hosts ask a DHCP server for the virtual addresses", "hub/rest.TestAddressesOfADHCPServer"},

	{Host, "disks_selected_config", Acts, "", "the installation disk", "hub/service.TestChosenDisk"},
	{Host, "disks_skip_formatting", Acts, "", "these disks are not wiped", ordered},
	{Host, "fencing_credentials", Refuses, "", "the hub makes no clusters with fencing", joins},
	{Host, "host_name", Acts, "", "the host name of the installed system", "hub/ignition.TestFinish"},
	{Host, "host_role", Acts, "", "which Ignition the host gets", "hub/rest.TestTwoMastersWithAnArbiter"},
	{Host, "ignition_endpoint_http_headers", Acts, "", "headers of the request by which a host that joins gets its Ignition", joins},
	{Host, "ignition_endpoint_token", Acts, "", "token of the request by which a host that joins gets its Ignition", joins},
	{Host, "machine_config_pool_name", Acts, "", "the pool of a host that joins; no effect before the cluster is installed", joins},
	{Host, "node_labels", Acts, "", "labels of the node, set by the program inside the cluster and, in a plain Kubernetes, also by the kubelet", "cluster/nodes.TestLabelsOfHostsThatOthersTellOf"},

	{InfraEnv, "additional_ntp_sources", Acts, "", timeAsked, "hub/instructions.TestArguments"},
	{InfraEnv, "additional_trust_bundle", Acts, "", "CAs that the live system trusts", "imagecustomization/ignition.TestGolden"},
	{InfraEnv, "cluster_id", Acts, "", "the cluster that its hosts are bound to", "hub/rest.TestLifeOverHTTP"},
	{InfraEnv, "cpu_architecture", Acts, "", "architecture of the live image", "hub/rest.TestBootFiles"},
	{InfraEnv, "ignition_config_override", Acts, "", "merged into the Ignition config of the live image", "controllers/image.TestInfraEnvSettingsReachTheImage"},
	{InfraEnv, "image_type", Acts, "", "kind of live image: full-iso or minimal-iso; disconnected-iso is refused", "hub/rest.TestBootFiles"},
	{InfraEnv, "kernel_arguments", Acts, "", "kernel arguments of the live image", imaged},
	{InfraEnv, "name", Acts, "", "used in events", "hub/rest.TestLifeOverHTTP"},
	{InfraEnv, "network_discovery_delay_seconds", Acts, "", "how long a live system waits for its network cards", "controllers/image.TestAnInfraEnvsNetworks"},
	{InfraEnv, "ntp_sources", Acts, "", "time servers of the live system", imaged},
	{InfraEnv, "openshift_version", Acts, "", "the base image of the live image", "controllers/image.TestTheVersionOfAnInfraEnvPicksTheBase"},
	{InfraEnv, "proxy", Acts, "", "proxy of the live system", imaged},
	{InfraEnv, "pull_secret", Acts, "", "pull secret of the live system", imaged},
	{InfraEnv, "rendezvous_ip", Refuses, "", "only for disconnected images, which the hub does not make", "hub/rest.TestOtherKindsOfClusters"},
	{InfraEnv, "ssh_authorized_key", Acts, "", "SSH keys of the live system", imaged},
	{InfraEnv, "static_network_config", Acts, "", "the static network of each host", "controllers/image.TestAnInfraEnvsNetworks"},
}
