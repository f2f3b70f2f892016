package validations

import (
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// Clusters that a check applies to.
var (
	anyCluster = Condition[ClusterInput]{"of any kind", func(ClusterInput) bool { return true }}
	notYet     = Condition[ClusterInput]{"with a release that is not installed yet", func(in ClusterInput) bool { return in.Release() && !in.DayTwo() }}
	ownNetwork = Condition[ClusterInput]{"with a release that manages its own network and is not installed yet", func(in ClusterInput) bool { return in.needsVIPs() }}
)

// ClusterRows is the table of checks of a cluster.
var ClusterRows = slices.Concat(clusterNetworkRows, clusterAddressRows, clusterHostRows, clusterConfigurationRows, clusterOperatorRows())

var clusterNetworkRows = []ClusterRow{
	{
		ID: wire.ClusterValidationIDMachineCIDRDefined, Category: network, Input: true, When: ownNetwork, check: machineNetworksSet,
		Checks: "`machine_networks` is set, or follows from the virtual addresses", Do: "set it, or set the virtual addresses and register the hosts",
	},
	{
		ID: wire.ClusterValidationIDClusterCIDRDefined, Category: network, Input: true, When: notYet, check: clusterNetworksSet,
		Checks: "`cluster_networks` is set", Do: "set it, for instance to 10.128.0.0/14 with prefix 23",
	},
	{
		ID: wire.ClusterValidationIDServiceCIDRDefined, Category: network, Input: true, When: notYet, check: serviceNetworksSet,
		Checks: "`service_networks` is set", Do: "set it, for instance to 172.30.0.0/16",
	},
	{
		ID: wire.ClusterValidationIDMachineCIDREqualsToCalculatedCIDR, Category: network, When: ownNetwork, check: machineNetworkFits,
		Checks: "the machine networks are those of the hosts that hold the API addresses", Do: "correct `machine_networks`, the addresses or the prefix lengths on the hosts",
	},
	{
		ID: wire.ClusterValidationIDNoCidrsOverlapping, Category: network, When: notYet, check: networksApart,
		Checks: "no two networks of the cluster overlap", Do: "choose other cluster or service networks",
	},
	{
		ID: wire.ClusterValidationIDNetworkPrefixValid, Category: network, When: notYet, check: prefixesValid,
		Checks: "`host_prefix` leaves room for every host and at least 128 addresses on each (IPv6: 64)", Do: "correct `host_prefix` of the cluster network",
	},
	{
		ID: wire.ClusterValidationIDNetworksSameAddressFamilies, Category: network, When: notYet, check: familiesAlike,
		Checks: "machine, cluster and service networks have the same address families", Do: "add or remove the network of the other family",
	},
	{
		ID: wire.ClusterValidationIDNetworkTypeValid, Category: network, When: notYet, check: networkTypeValid,
		Checks: "the release has the network type; OpenShiftSDN ends with 4.14 and has neither IPv6 nor single nodes", Do: "use OVNKubernetes",
	},
}

var clusterAddressRows = []ClusterRow{
	{
		ID: wire.ClusterValidationIDAPIVIPsDefined, Category: network, Input: true, When: ownNetwork, Essential: true, check: apiVIPsSet,
		Checks: "`api_vips` is set", Do: "set an unused address of the machine network",
	},
	{
		ID: wire.ClusterValidationIDAPIVIPsValid, Category: network, When: ownNetwork, check: apiVIPsValid,
		Checks: "each is in a machine network, is not its broadcast address, is no ingress address, and nobody has it", Do: "use another address, or switch off what has it",
	},
	{
		ID: wire.ClusterValidationIDIngressVIPsDefined, Category: network, Input: true, When: ownNetwork, Essential: true, check: ingressVIPsSet,
		Checks: "`ingress_vips` is set", Do: "set an unused address of the machine network",
	},
	{
		ID: wire.ClusterValidationIDIngressVIPsValid, Category: network, When: ownNetwork, check: ingressVIPsValid,
		Checks: "as for the API addresses", Do: "use another address, or switch off what has it",
	},
	{
		ID: wire.ClusterValidationIDDNSDomainDefined, Category: network, Input: true, When: notYet, check: domainSet,
		Checks: "`base_dns_domain` is set", Do: "set it",
	},
	{
		ID: wire.ClusterValidationIDNTPServerConfigured, Category: network, When: notYet, check: clocksAgree,
		Checks: "the hosts' clocks differ by at most 4 minutes", Do: "give the cluster or the infra-env an NTP source that the hosts reach",
	},
	{
		ID: wire.ClusterValidationIDCustomManifestsRequirementsSatisfied, Category: network, When: notYet, check: manifestsThere,
		Checks: "what comes with manifests of its own (a foreign network type, an external cloud controller) has some", Do: "add the manifests",
	},
}

var clusterHostRows = []ClusterRow{
	{
		ID: wire.ClusterValidationIDSufficientMastersCount, Category: hostsData, When: anyCluster, Essential: true, check: enoughMasters,
		Checks: "the hosts that the cluster waits for are there, with the wanted number of masters and arbiters; those of a release have a quorum: one alone, two with an arbiter, or three and more", Do: "add hosts, or change their roles or control_plane_count",
	},
	{
		ID: wire.ClusterValidationIDAllHostsAreReadyToInstall, Category: hostsData, When: anyCluster, Essential: true, check: hostsReady,
		Checks: "every host is known", Do: "see the validations of the hosts that are not",
	},
}

var clusterConfigurationRows = []ClusterRow{
	{
		ID: wire.ClusterValidationIDPullSecretSet, Category: configuration, Input: true, When: notYet, Essential: true, check: pullSecretSet,
		Checks: "`pull_secret` is set", Do: "set it",
	},
	{
		ID: wire.ClusterValidationIDPlatformRequirementsSatisfied, Category: configuration, When: notYet, check: platformComplete,
		Checks: "platform and network management fit: none and external need the user's network, bare metal its own; external has a name", Do: "change the platform or `user_managed_networking`",
	},
}
