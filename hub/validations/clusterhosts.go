package validations

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

func enoughMasters(in ClusterInput) verdict {
	have, wanted := map[wire.HostRole]int{}, in.Wanted
	for _, m := range in.Members {
		have[m.Role]++
	}
	masters, arbiters := have[wire.HostRoleMaster], have[wire.HostRoleArbiter]
	switch {
	case in.DayTwo():
		return pass("The cluster is installed already")
	case len(in.Members) < wanted.Total() || wanted.Total() == 0:
		return fail("%d of %d hosts are there; add the others", len(in.Members), max(wanted.Total(), 1))
	case !in.Release():
		return rolesThere(masters, arbiters, len(in.Members), wanted)
	case in.SingleNode() && len(in.Members) > 1:
		return fail("A cluster of a single node has %d hosts; unbind all but one, or change control_plane_count", len(in.Members))
	case masters != wanted.Masters:
		return fail("%d hosts are masters, %d are needed; add hosts that meet the requirements of a master, or change their roles", masters, wanted.Masters)
	case arbiters < wanted.Arbiters:
		return fail("%d hosts are arbiters, %d are needed; add hosts, or change their roles", arbiters, wanted.Arbiters)
	case masters == 2 && arbiters == 0:
		return fail("Two masters have no quorum; give another host the role arbiter, or change control_plane_count to 1 or 3")
	case masters == 1 && !in.SingleNode():
		return fail("One master with other hosts is no cluster of a release; install a single node and add hosts later, or change control_plane_count to 3")
	}
	return pass("The cluster has %d masters", masters)
}

// rolesThere judges the roles of a cluster without a release, which has more masters than
// were asked for where a user gave them.
func rolesThere(masters, arbiters, hosts int, wanted Wanted) verdict {
	switch {
	case masters < wanted.Masters:
		return fail("%d hosts are masters, %d are needed; add hosts that meet the requirements of a master, or change their roles", masters, wanted.Masters)
	case arbiters < wanted.Arbiters:
		return fail("%d hosts are arbiters, %d are needed; add hosts, or change their roles", arbiters, wanted.Arbiters)
	}
	return pass("%d of %d hosts are there", hosts, wanted.Total())
}

// readyStatuses are those of hosts that are ready, or that were and went on.
var readyStatuses = []string{
	wire.HostStatusKnown, wire.HostStatusPreparingForInstallation, wire.HostStatusPreparingSuccessful,
	wire.HostStatusInstalling, wire.HostStatusInstallingInProgress, wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster,
}

func hostsReady(in ClusterInput) verdict {
	if len(in.Members) == 0 && !in.DayTwo() {
		return wait("Waiting for hosts")
	}
	var waiting []string
	for _, m := range in.Members {
		if status := in.Statuses[m.ID]; !slices.Contains(readyStatuses, status) {
			waiting = append(waiting, m.Label+" is "+status)
		}
	}
	if len(waiting) > 0 {
		return fail("Hosts are not ready: %s; see their validations", list(waiting))
	}
	return pass("All hosts are ready to be installed")
}

// clockSpread is how far the clocks of two hosts may be apart.
const clockSpread = 4 * time.Minute

func clocksAgree(in ClusterInput) verdict {
	var first, last *Member
	for i := range in.Members {
		m := &in.Members[i]
		if !m.ClockKnown {
			continue
		}
		if first == nil || m.ClockAhead < first.ClockAhead {
			first = m
		}
		if last == nil || m.ClockAhead > last.ClockAhead {
			last = m
		}
	}
	if first != nil && last.ClockAhead-first.ClockAhead > clockSpread {
		return fail("The clocks of %s and %s differ by %s; give the cluster or the infra-env an NTP source that the hosts reach",
			first.Label, last.Label, (last.ClockAhead - first.ClockAhead).Round(time.Second))
	}
	return pass("The clocks of the hosts agree")
}

func domainSet(in ClusterInput) verdict {
	return passIf(in.Cluster.BaseDNSDomain != "", "The DNS domain is set", "Set base_dns_domain: the cluster has no name in DNS")
}

func pullSecretSet(in ClusterInput) verdict {
	return passIf(in.Cluster.PullSecretSet, "The pull secret is set", "Set pull_secret: no image of the release can be pulled")
}

func manifestsThere(in ClusterInput) verdict {
	var why []string
	if kind := in.networkType(); slices.Contains(foreign, kind) {
		why = append(why, "network type "+kind)
	}
	if p := in.Cluster.Platform; p != nil && p.Type == wire.PlatformTypeExternal && p.External != nil && p.External.CloudControllerManager != nil &&
		*p.External.CloudControllerManager == wire.PlatformExternalCloudControllerManagerExternal {
		why = append(why, "the external cloud controller manager")
	}
	if len(why) > 0 && in.Manifests == 0 {
		return fail("Manifests are missing for %s; add them", strings.Join(why, " and "))
	}
	return pass("No manifests are missing")
}

func platformComplete(in ClusterInput) verdict {
	platform := in.Platform()
	set := in.Cluster.UserManagedNetworking != nil && *in.Cluster.UserManagedNetworking
	switch {
	case slices.Contains([]wire.PlatformType{wire.PlatformTypeNone, wire.PlatformTypeExternal}, platform) && !in.UserManaged():
		return fail("Platform %s cannot manage the network; set user_managed_networking", platform)
	case in.Cluster.Platform != nil && platform == wire.PlatformTypeBaremetal && set && !in.SingleNode():
		return fail("Platform %s manages its own network; unset user_managed_networking, or use platform none", platform)
	case platform == wire.PlatformTypeExternal && (in.Cluster.Platform.External == nil || in.Cluster.Platform.External.PlatformName == nil || *in.Cluster.Platform.External.PlatformName == ""):
		return fail("Platform external has no name; set external.platform_name")
	}
	if arch := in.Cluster.CPUArchitecture; makers[platform] != "" && arch != "" && arch != wire.ClusterCPUArchitectureX8664 {
		return fail("Platform %s has machines of x86_64 only, the cluster is for %s; change the platform or the architecture", platform, arch)
	}
	return pass("Platform %s has what it needs", fmt.Sprint(platform))
}
