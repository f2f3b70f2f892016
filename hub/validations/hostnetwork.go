package validations

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

func hostNetworkDefined(in HostInput) verdict {
	switch {
	case in.Cluster.DayTwo():
		return pass("The cluster is installed already")
	case in.Cluster.UserManaged():
		return pass("The cluster's network is the user's")
	}
	return passIf(len(in.Cluster.MachineNetworks) > 0, "The machine network is known",
		"The cluster has no machine network; set machine_networks, or the virtual addresses that it follows from")
}

func inMachineNetworks(in HostInput) verdict {
	networks := in.Cluster.MachineNetworks
	if len(networks) == 0 {
		if in.Cluster.UserManaged() {
			return pass("The cluster asks for no machine network")
		}
		return wait("Waiting for the cluster's machine network")
	}
	var without []string
	for _, n := range networks {
		if !slices.ContainsFunc(in.addresses(), func(a nicAddress) bool { return n.Contains(a.prefix.Addr()) }) {
			without = append(without, n.String())
		}
	}
	if len(without) > 0 {
		return fail("The host has no address in machine network %s; give it one, or correct machine_networks", list(without))
	}
	return pass("The host has an address in every machine network")
}

// InMachineNetworks tells whether an address of an inventory, with its length, lies in
// one of the cluster's machine networks.
func InMachineNetworks(networks []wire.MachineNetwork, addresses []string) bool {
	return slices.ContainsFunc(networks, func(n wire.MachineNetwork) bool {
		network, err := netip.ParsePrefix(string(n.CIDR))
		return err == nil && slices.ContainsFunc(addresses, func(text string) bool {
			a, err := netip.ParsePrefix(text)
			return err == nil && network.Contains(a.Addr())
		})
	})
}

func iscsiApart(in HostInput) verdict {
	disk := FindDisk(in.Inventory, in.Host.InstallationDiskID)
	if disk == nil {
		return pass("The installation disk is not reached over iSCSI")
	}
	paths := slices.DeleteFunc(Paths(disk, in.Inventory), func(p *wire.Disk) bool { return p.Iscsi == nil })
	if len(paths) == 0 {
		return pass("The installation disk is not reached over iSCSI")
	}
	for _, path := range paths {
		a, err := netip.ParseAddr(path.Iscsi.HostIPAddress)
		if err != nil {
			continue // it does not say how it is reached
		}
		for _, n := range in.Cluster.MachineNetworks {
			if n.Contains(a) {
				return fail("The iSCSI installation disk is reached from %s, which is in machine network %s; use a network of its own for iSCSI, or another disk", a, n)
			}
		}
	}
	return pass("The iSCSI disk is reached over a network of its own")
}

func subnetsApart(in HostInput) verdict {
	nics := map[netip.Prefix]string{}
	for _, a := range in.addresses() {
		if subnet := a.prefix.Masked(); !subnet.IsSingleIP() && nics[subnet] == "" {
			nics[subnet] = a.nic
		}
	}
	// In this order, a subnet that others lie in stands right before one of them.
	subnets := slices.SortedFunc(maps.Keys(nics), func(a, b netip.Prefix) int {
		return cmp.Or(a.Addr().Compare(b.Addr()), cmp.Compare(a.Bits(), b.Bits()))
	})
	for i := 1; i < len(subnets); i++ {
		if one, other := subnets[i-1], subnets[i]; one.Overlaps(other) {
			return fail("Subnets %s (%s) and %s (%s) of the host overlap; correct the prefix lengths", one, nics[one], other, nics[other])
		}
	}
	return pass("No subnets of the host overlap")
}

func isDefault(r wire.Route) bool {
	return r.Gateway != "" && slices.Contains([]string{"0.0.0.0", "::", "0.0.0.0/0", "::/0"}, r.Destination)
}

func defaultRoute(in HostInput) verdict {
	return passIf(slices.ContainsFunc(in.Inventory.Routes, isDefault), "The host has a default route",
		"The host has no default route; it may not reach its image registry. Correct its network settings or DHCP server")
}

func ntpSynced(in HostInput) verdict {
	if in.unread(theTimeSources) {
		return unreadable(theTimeSources)
	}
	if in.Host.NTPSources == "" && in.Inventory == nil {
		return wait("Waiting for the host's time sources")
	}
	synced := slices.ContainsFunc(in.TimeSources, func(s wire.NTPSource) bool { return s.SourceState == wire.SourceStateSynced })
	return passIf(synced, "The host is in step with a time source",
		"The host is not in step with any time source; give the cluster or the infra-env an NTP source that it reaches")
}

// Clock limits: how far a host's clock may be behind or ahead of the hub's.
const (
	maxBehind = 20 * time.Minute
	maxAhead  = time.Hour
)

// farApart is as far as clocks are told apart. Longest durations cannot be reckoned with.
const farApart = 100 * 365 * 24 * time.Hour

// clockAhead is how far the host's clock was ahead when it was told: at the last poll.
func (f *HostFacts) clockAhead() time.Duration {
	ahead, _ := ClockAhead(f.Host.Timestamp, f.Host.CheckedInAt.Time)
	return ahead
}

// ClockAhead is how far a clock, in Unix seconds, was ahead at that time; false
// when one of them is not known.
func ClockAhead(clock int64, at time.Time) (time.Duration, bool) {
	if clock == 0 || at.IsZero() {
		return 0, false
	}
	return min(max(time.Unix(clock, 0).Sub(at), -farApart), farApart), true
}

func clockNear(in HostInput) verdict {
	if in.Host.Timestamp == 0 {
		return pass("The host's clock is not known")
	}
	ahead := in.clockAhead()
	if ahead > maxAhead || -ahead > maxBehind {
		return fail("The host's clock differs by %s from the hub's; set it, or give the host a time source", ahead.Round(time.Second))
	}
	return pass("The host's clock agrees with the hub's")
}

// slowestPull is the least rate of a pull, in megabytes a second: below it, an installation
// does not end within its limits.
const slowestPull = 0.001

// ImageFailed tells that an image could not be pulled, or too slowly. One that was there
// already has no size.
func ImageFailed(image wire.ContainerImageAvailability) bool {
	return image.Result == wire.ContainerImageAvailabilityResultFailure || image.SizeBytes > 0 && image.DownloadRate < slowestPull
}

func imagesAvailable(in HostInput) verdict {
	if in.unread(theImages) {
		return unreadable(theImages)
	}
	var failed, slow []string
	for name, image := range in.Images {
		switch {
		case image.Result == wire.ContainerImageAvailabilityResultFailure:
			failed = append(failed, name)
		case ImageFailed(image):
			slow = append(slow, name)
		}
	}
	slices.Sort(failed)
	slices.Sort(slow)
	switch {
	case len(slow) > 0 && len(failed) == 0:
		return fail("Images are pulled too slowly: %s; fix the connection to the registry, or mirror them nearby", list(slow))
	case len(failed) > 0:
		return fail("Images cannot be pulled: %s; fix the connection to the registry, its certificate or the pull secret", list(failed))
	case len(in.Images) == 0:
		return pass("No image was asked for yet")
	}
	return pass("All images could be pulled")
}

func ignitionDownloadable(in HostInput) verdict {
	switch {
	case in.unread(theAPIVIP):
		return unreadable(theAPIVIP)
	case in.APIVIP == nil:
		return wait("Waiting for the host to ask the cluster for its configuration")
	case in.APIVIP.IsSuccess:
		return pass("The cluster gives the host its configuration")
	}
	return fail("The host cannot fetch its configuration from the cluster: %s; fix the connection to port 22623 of its API address", in.APIVIP.DownloadError)
}

// openStack begins the product names of its machines.
const openStack = "OpenStack"

func platformNetwork(in HostInput) verdict {
	product := ""
	if v := in.Inventory.SystemVendor; v != nil {
		product = v.ProductName
	}
	if strings.HasPrefix(product, openStack) && !in.Cluster.UserManaged() && in.Cluster.Platform() != wire.PlatformTypeNone {
		return fail("A machine of OpenStack cannot hold virtual addresses; set user_managed_networking or platform none")
	}
	return pass("The machine fits the cluster's network")
}
