package effects

// The tests that show most effects.
const (
	judged    = "hub/rest.TestClusterValidations"
	rendered  = "hub/installconfig.TestRender"
	joins     = "hub/rest.TestWhereAHostThatJoinsGetsItsIgnition"
	ordered   = "hub/rest.TestWhatAHostIsInstalledWith"
	imaged    = "controllers/image.TestAnInfraEnvsOwnImage"
	oldName   = "the old name of "
	unread    = "; a cluster without a release brings its own network"
	inConfig  = "in install-config.yaml"
	timeAsked = "time servers that the hosts are asked to reach"
)

// Settings are all that clients can write.
var Settings = []Setting{
	{Cluster, "additional_ntp_source", Acts, "", timeAsked, "hub/instructions.TestArguments"},
	{Cluster, "api_vip_dns_name", Acts, "", "where hosts that join get their Ignition", joins},
	{Cluster, "api_vips", Acts, Stores, "checked, and " + inConfig + unread, judged},
	{Cluster, "base_dns_domain", Acts, "", "the cluster's names in DNS, and " + inConfig, rendered},
	{Cluster, "cluster_network_cidr", Acts, Stores, oldName + "cluster_networks", "hub/rest.TestSettingsOfAClusterThatMeanNothing"},
	{Cluster, "cluster_network_host_prefix", Acts, Stores, oldName + "cluster_networks", "hub/rest.TestSettingsOfAClusterThatMeanNothing"},
	{Cluster, "cluster_networks", Acts, Stores, "checked, and " + inConfig + unread, rendered},
	{Cluster, "control_plane_count", Acts, "", "how many masters are waited for", "hub/rest.TestTwoMastersAloneAreNoQuorum"},
	{Cluster, "cpu_architecture", Acts, "", inConfig + "; hosts of another one cannot be bound", rendered},
	{Cluster, "disk_encryption", Acts, "", "the root of the hosts whose role is asked for is on LUKS, by their TPM or Tang servers; refused where that cannot be done", "hub/rest.TestEncryptionThatIsAskedForIsDone"},
	{Cluster, "high_availability_mode", Acts, "", oldName + "control_plane_count", "hub/rest.TestASingleNodeByItsOldName"},
	{Cluster, "http_proxy", Acts, "", "of the installer, and " + inConfig, "hub/instructions.TestInstallOrder"},
	{Cluster, "https_proxy", Acts, "", "of the installer, and " + inConfig, "hub/instructions.TestInstallOrder"},
	{Cluster, "hyperthreading", Acts, Stores, inConfig, rendered},
	{Cluster, "ignition_endpoint", Acts, "", "where hosts that join get their Ignition", joins},
	{Cluster, "ignition_source", Acts, "", "who makes the Ignition of the cluster's hosts", "hub/rest.TestTheSourceOfACluster"},
	{Cluster, "ingress_vips", Acts, Stores, "checked, and " + inConfig + unread, judged},
	{Cluster, "kubernetes", Acts, "", "of a plain Kubernetes; refused beside another source", "hub/rest.TestSettingsOfAPlainKubernetesReachItsHosts"},
	{Cluster, "load_balancer", Acts, Stores, "a user's own, " + inConfig, rendered},
	{Cluster, "machine_network_cidr", Acts, "", oldName + "machine_networks", "hub/rest.TestSettingsOfAClusterThatMeanNothing"},
	{Cluster, "machine_networks", Acts, "", "the cards that the installed system asks for an address", ordered},
	{Cluster, "name", Acts, "", "the cluster's names in DNS, and " + inConfig, rendered},
	{Cluster, "network_type", Acts, Stores, inConfig + "; foreign ones need manifests" + unread, "hub/rest.TestManifestsOfAForeignNetworkCount"},
	{Cluster, "no_proxy", Acts, "", "of the installer, and " + inConfig, "hub/instructions.TestInstallOrder"},
	{Cluster, "ntp_sources", Acts, "", timeAsked, "hub/instructions.TestArguments"},
	{Cluster, "ocp_release_image", Acts, Stores, "the release that hosts are asked to pull", "hub/rest.TestAClusterHasTheImageOfItsRelease"},
	{Cluster, "olm_operators", Acts, Refuses, "manifests subscribe to them, and hosts and cluster have what they need; refused with another source than openshift-install", "hub/rest.TestOperatorsOfAnInstallation"},
	{Cluster, "openshift_version", Acts, "", "what hosts and cluster need", judged},
	{Cluster, "operator_bundles", Acts, Refuses, "manifests subscribe to them, and hosts and cluster have what they need; refused with another source than openshift-install", "hub/rest.TestOperatorsOfAnInstallation"},
	{Cluster, "platform", Acts, Stores, "checked, and " + inConfig, judged},
	{Cluster, "pull_secret", Acts, Stores, "checked, and " + inConfig, rendered},
	{Cluster, "schedulable_masters", Acts, "", "a manifest of the scheduler, or no taint of a plain Kubernetes; with role files, those say it", "hub/rest.TestMastersThatTakeWorkloadsAreAManifest"},
	{Cluster, "service_network_cidr", Acts, Stores, oldName + "service_networks", "hub/rest.TestSettingsOfAClusterThatMeanNothing"},
	{Cluster, "service_networks", Acts, Stores, "checked, and " + inConfig + unread, rendered},
	{Cluster, "ssh_public_key", Acts, "", "of user core", "hub/sources/files.TestMake"},
	{Cluster, "tags", Stores, "", "for whoever made the cluster", "hub/rest.TestWhatIsOnlyStored"},
	{Cluster, "user_managed_networking", Acts, Stores, "no virtual addresses are asked for; names have to resolve", "hub/rest.TestEveryValidationPasses"},
	{Cluster, "vip_dhcp_allocation", Acts, Stores, "hosts ask a DHCP server for the virtual addresses", "hub/rest.TestAddressesOfADHCPServer"},

	{Host, "disks_selected_config", Acts, "", "the disk that is installed to", "hub/service.TestChosenDisk"},
	{Host, "disks_skip_formatting", Acts, "", "these disks are not wiped", ordered},
	{Host, "fencing_credentials", Refuses, "", "this hub makes no clusters with fencing", joins},
	{Host, "host_name", Acts, "", "the installed system's name", "hub/ignition.TestFinish"},
	{Host, "host_role", Acts, "", "which Ignition it gets", "hub/rest.TestTwoMastersWithAnArbiter"},
	{Host, "ignition_endpoint_http_headers", Acts, "", "sent where a host that joins gets its Ignition", joins},
	{Host, "ignition_endpoint_token", Acts, "", "sent where a host that joins gets its Ignition", joins},
	{Host, "machine_config_pool_name", Acts, "", "the pool of a host that joins; of no use before the cluster is installed", joins},
	{Host, "node_labels", Acts, "", "the program inside the cluster labels the node; the kubelet of a plain Kubernetes, too", "cluster/nodes.TestLabelsOfHostsThatOthersTellOf"},

	{InfraEnv, "additional_ntp_sources", Acts, "", timeAsked, "hub/instructions.TestArguments"},
	{InfraEnv, "additional_trust_bundle", Acts, "", "authorities of the live system", "imagecustomization/ignition.TestGolden"},
	{InfraEnv, "cluster_id", Acts, "", "the cluster of its hosts", "hub/rest.TestLifeOverHTTP"},
	{InfraEnv, "cpu_architecture", Acts, "", "of the live image", "hub/rest.TestBootFiles"},
	{InfraEnv, "ignition_config_override", Acts, "", "merged into the live image's Ignition", "controllers/image.TestInfraEnvSettingsReachTheImage"},
	{InfraEnv, "image_type", Acts, "", "full-iso or minimal-iso; disconnected-iso is refused", "hub/rest.TestBootFiles"},
	{InfraEnv, "kernel_arguments", Acts, "", "of the live image", imaged},
	{InfraEnv, "name", Acts, "", "in events", "hub/rest.TestLifeOverHTTP"},
	{InfraEnv, "network_discovery_delay_seconds", Acts, "", "how long a live system waits for its cards", "controllers/image.TestAnInfraEnvsNetworks"},
	{InfraEnv, "ntp_sources", Acts, "", "time servers of the live system", imaged},
	{InfraEnv, "openshift_version", Acts, "", "the live image's base", "controllers/image.TestTheVersionOfAnInfraEnvPicksTheBase"},
	{InfraEnv, "proxy", Acts, "", "of the live system", imaged},
	{InfraEnv, "pull_secret", Acts, "", "of the live system", imaged},
	{InfraEnv, "rendezvous_ip", Refuses, "", "it is for disconnected images, which this hub does not serve", "hub/rest.TestOtherKindsOfClusters"},
	{InfraEnv, "ssh_authorized_key", Acts, "", "of the live system", imaged},
	{InfraEnv, "static_network_config", Acts, "", "the network of each host", "controllers/image.TestAnInfraEnvsNetworks"},
}
