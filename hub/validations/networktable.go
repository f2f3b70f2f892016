package validations

import "github.com/ironflow/ironflow/hub/wire"

var networkRows = []HostRow{
	{
		ID: wire.HostValidationIDMachineCIDRDefined, Category: network, Group: Network, When: withRelease, Essential: true, check: hostNetworkDefined,
		Checks: "the cluster has a machine network, or its network is the user's", Do: "give the cluster `machine_networks`, or the virtual addresses that it follows from",
	},
	{
		ID: wire.HostValidationIDBelongsToMachineCIDR, Category: network, Group: Other, When: dayOne, NeedsInventory: true, check: inMachineNetworks,
		Checks: "the host has an address in every machine network", Do: "give the host such an address, or correct the cluster's `machine_networks`",
	},
	{
		ID: wire.HostValidationIDNoIscsiNICBelongsToMachineCIDR, Category: network, Group: Other, When: dayOne, NeedsInventory: true, check: iscsiApart,
		Checks: "the iSCSI disk that is installed to is not reached over a machine network", Do: "use a network of its own for iSCSI, or another disk",
	},
	{
		ID: wire.HostValidationIDNonOverlappingSubnets, Category: network, Group: Other, When: withRelease, NeedsInventory: true, check: subnetsApart,
		Checks: "no two subnets of the host overlap", Do: "correct the prefix lengths of the host's addresses",
	},
	{
		ID: wire.HostValidationIDHasDefaultRoute, Category: network, Group: Other, When: inCluster, NeedsInventory: true, MildWithoutRelease: true, check: defaultRoute,
		Checks: "an IPv4 or IPv6 default route with a gateway", Do: "correct the host's network settings or its DHCP server",
	},
	{
		ID: wire.HostValidationIDNTPSynced, Category: network, Group: Warning, When: inCluster, check: ntpSynced,
		Checks: "the host follows a time source", Do: "give the cluster or the infra-env an NTP source that the host reaches",
	},
	{
		ID: wire.HostValidationIDTimeSyncedBetweenHostAndService, Category: network, Group: Other, When: anyHost, check: clockNear,
		Checks: "the host's clock is at most 20 minutes behind and 1 hour ahead of the hub's", Do: "set the host's clock, or give it a time source",
	},
	{
		ID: wire.HostValidationIDContainerImagesAvailable, Category: network, Group: Warning, When: withRelease, check: imagesAvailable,
		Checks: "the images of the installation could be pulled; looked at before the installation", Do: "fix the connection to the registry, its certificate or the pull secret",
	},
	{
		ID: wire.HostValidationIDIgnitionDownloadable, Category: network, Group: Other, When: dayTwo, check: ignitionDownloadable,
		Checks: "the host can fetch its configuration from the installed cluster", Do: "fix the connection from the host to port 22623 of the cluster's API address",
	},
	{
		ID: wire.HostValidationIDValidPlatformNetworkSettings, Category: network, Group: Other, When: dayOne, NeedsInventory: true, check: platformNetwork,
		Checks: "machines of OpenStack are in a cluster whose network is the user's", Do: "set `user_managed_networking` or platform none",
	},
}

var connectivityRows = []HostRow{
	{
		ID: wire.HostValidationIDBelongsToMajorityGroup, Category: network, Group: Other, When: several, NeedsInventory: true, check: inMajority,
		Checks: "the host is among those that all reach one another, in every machine network (on the link; over any route if the network is the user's)", Do: "compare cabling, VLAN and firewall with a host of the group",
	},
	{
		ID: wire.HostValidationIDSufficientNetworkLatencyRequirementForRole, Category: network, Group: Other, When: several, check: latencyLow,
		Checks: "the average round trip to hosts of the same role", Do: "bring the hosts closer together, or look for load on the network",
	},
	{
		ID: wire.HostValidationIDSufficientPacketLossRequirementForRole, Category: network, Group: Other, When: several, check: lossLow,
		Checks: "packets that get lost on the way to hosts of the same role", Do: "look for broken cables, duplex and load on the network",
	},
	{
		ID: wire.HostValidationIDMTUValid, Category: network, Group: Warning, When: several, check: mtuFits,
		Checks: "packets of the interface's full size reach the other hosts", Do: "set the same MTU on hosts and switches",
	},
	{
		ID: wire.HostValidationIDNoIPCollisionsInNetwork, Category: network, Group: Other, When: dayOne, NeedsInventory: true, check: addressesUnique,
		Checks: "nobody else answers for one of the host's addresses", Do: "find the device with the MAC of the message and give it another address",
	},
}

var nameRows = []HostRow{
	{
		ID: wire.HostValidationIDAPIDomainNameResolvedCorrectly, Category: network, Group: Other, When: ownNames, check: apiResolves,
		Checks: "`api.CLUSTER.DOMAIN` resolves, with a load balancer of the user's to the API address", Do: "add the record to DNS",
	},
	{
		ID: wire.HostValidationIDAPIIntDomainNameResolvedCorrectly, Category: network, Group: Other, When: ownNames, check: apiIntResolves,
		Checks: "`api-int.CLUSTER.DOMAIN`, likewise", Do: "add the record to DNS",
	},
	{
		ID: wire.HostValidationIDAppsDomainNameResolvedCorrectly, Category: network, Group: Other, When: ownNames, check: appsResolve,
		Checks: "names below `apps.CLUSTER.DOMAIN`, likewise, to the ingress address", Do: "add a wildcard record below `apps` to DNS",
	},
	{
		ID: wire.HostValidationIDReleaseDomainNameResolvedCorrectly, Category: network, Group: Warning, When: dayOne, check: releaseResolves,
		Checks: "the name of the release image's registry resolves", Do: "correct the host's DNS servers, or use a mirror",
	},
	{
		ID: wire.HostValidationIDDNSWildcardNotConfigured, Category: network, Group: Other, When: dayOne, check: noWildcard,
		Checks: "a name that nobody made does not resolve in the cluster's domain", Do: "remove the wildcard record `*.CLUSTER.DOMAIN` (that below `apps` is fine)",
	},
}
