package validations

import (
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// HostFacts is one host, with its reports decoded once. Reports that were not
// sent yet, or that cannot be read, are nil.
type HostFacts struct {
	// Host is the record: what was set, not what was reported.
	Host      *wire.Host
	Inventory *wire.Inventory
	// Links are what the checks need of the connectivity report. Connectivity is the
	// report itself; it is left out where the links were known, see [DecodeWith].
	Links        *Links
	Connectivity *wire.ConnectivityReport
	Domains      *wire.DomainResolutionResponse
	APIVIP       *wire.APIVIPConnectivityResponse
	Tang         *wire.TangConnectivityResponse
	TimeSources  []wire.NTPSource
	Images       map[string]wire.ContainerImageAvailability
	Disks        map[string]wire.DiskInfo
	// Unreadable names the reports that are there and do not decode.
	Unreadable []string
}

// Names of the reports, for Unreadable and for messages.
const (
	theInventory    = "inventory"
	theConnectivity = "connectivity report"
	theDomains      = "report on names"
	theAPIVIP       = "report on the cluster's Ignition"
	theTang         = "report on Tang servers"
	theTimeSources  = "report on time sources"
	theImages       = "report on images"
	theDisks        = "report on disk speed"
)

// Known are reports that were read before; what is nil is read.
type Known struct {
	Inventory *wire.Inventory
	// Links are those of the connectivity report, which in a cluster of 500 is ten times as long as all others.
	Links *Links
}

// Decode reads all reports of a host that are not known.
func Decode(h *wire.Host, known Known) *HostFacts {
	f := &HostFacts{Host: h, Links: known.Links, Inventory: known.Inventory}
	if f.Inventory == nil {
		f.Inventory = decodeInto[wire.Inventory](f, theInventory, h.Inventory)
	}
	if f.Links == nil {
		if f.Connectivity = decodeInto[wire.ConnectivityReport](f, theConnectivity, h.Connectivity); f.Connectivity != nil {
			f.Links = linksOf(f.Connectivity)
		}
	}
	f.Domains = decodeInto[wire.DomainResolutionResponse](f, theDomains, h.DomainNameResolutions)
	f.APIVIP = decodeInto[wire.APIVIPConnectivityResponse](f, theAPIVIP, h.APIVIPConnectivity)
	f.Tang = decodeInto[wire.TangConnectivityResponse](f, theTang, h.TangConnectivity)
	if p := decodeInto[[]wire.NTPSource](f, theTimeSources, h.NTPSources); p != nil {
		f.TimeSources = *p
	}
	if p := decodeInto[map[string]wire.ContainerImageAvailability](f, theImages, h.ImagesStatus); p != nil {
		f.Images = *p
	}
	if p := decodeInto[map[string]wire.DiskInfo](f, theDisks, h.DisksInfo); p != nil {
		f.Disks = *p
	}
	return f
}

func decodeInto[T any](f *HostFacts, name, text string) *T {
	if text == "" {
		return nil
	}
	v := new(T)
	if json.Unmarshal([]byte(text), v) != nil {
		f.Unreadable = append(f.Unreadable, name)
		return nil
	}
	return v
}

// unread tells that the report is there and cannot be read.
func (f *HostFacts) unread(name string) bool { return slices.Contains(f.Unreadable, name) }

// Name is the name that the host will have; empty when nobody knows it yet.
func (f *HostFacts) Name() string { return Hostname(f.Host, f.Inventory) }

// Label is what people know the host by: its name, or its id.
func (f *HostFacts) Label() string {
	if name := f.Name(); name != "" {
		return name
	}
	return f.Host.ID
}

// Role is the role that was given, or the one that the hub would give.
func (f *HostFacts) Role() wire.HostRole { return EffectiveRole(f.Host) }

// EffectiveRole is the role that was given, or the one that the hub would give;
// empty when neither is known.
func EffectiveRole(h *wire.Host) wire.HostRole {
	if h.Role == "" || h.Role == wire.HostRoleAutoAssign {
		return h.SuggestedRole
	}
	return h.Role
}

// addresses are all addresses of the host with their subnets, but those that
// mean nothing to others.
func (f *HostFacts) addresses() []nicAddress {
	if f.Inventory == nil {
		return nil
	}
	var out []nicAddress
	for _, nic := range f.Inventory.Interfaces {
		for _, text := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
			p, err := netip.ParsePrefix(text)
			if err == nil && !p.Addr().IsLoopback() && !p.Addr().IsLinkLocalUnicast() {
				out = append(out, nicAddress{nic.Name, p})
			}
		}
	}
	return out
}

type nicAddress struct {
	nic    string
	prefix netip.Prefix
}
