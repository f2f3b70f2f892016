// Package image makes what the hosts of an agent-based installation boot: a live ISO, a
// minimal one or the files of a network boot, all with the same settings, or the config
// image that brings the settings to an appliance. Settings are what package manifests
// reads; units and programs are those of package units; the Ignition is made by the
// builder of all other live images. [Read] checks the input as a whole and gives a [Plan],
// which says what each host will be; [Build] writes it. Nobody is asked over the network.
package image

import (
	"net/netip"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// Format is what is made.
type Format string

// Formats.
const (
	// ISO is a medium that needs nothing beside it.
	ISO Format = "iso"
	// MinimalISO is a medium that fetches its root file system.
	MinimalISO Format = "minimal-iso"
	// PXE are kernel, initrd, root file system and iPXE script.
	PXE Format = "pxe-files"
	// ConfigImage is the small medium with the settings for an appliance.
	ConfigImage Format = "config-image"
)

// DefaultLifetime is how long tokens of hosts that join a running cluster are good.
const DefaultLifetime = 48 * time.Hour

// Formats lists them.
func Formats() []Format { return []Format{ISO, MinimalISO, PXE, ConfigImage} }

// Options say what is wanted beside what the folder has.
type Options struct {
	// Dir is the folder with the input.
	Dir string
	// Workflow is [units.Automated], [units.Appliance] for a factory image without settings, or
	// [units.AddNodes] for hosts that join a running cluster.
	Workflow units.Workflow
	// Format is empty for what the input asks for.
	Format Format
	// ReleaseImage is the release to install, where no manifest names it.
	ReleaseImage string
	// RendezvousIP is the address of the host that is the hub, where no file names it.
	RendezvousIP string
	// BootArtifactsURL is where the root file system will be served, where no file names it.
	BootArtifactsURL string
	// TokenLifetime is how long the tokens of hosts that join a running cluster are good; zero
	// for [DefaultLifetime].
	TokenLifetime time.Duration
	// Installer tells that the program openshift-install is packed into the image.
	Installer bool
	// Arch is the base image's architecture, and Live what is known of its live system; an
	// empty architecture is any.
	Arch string
	Live network.Live
	// Rules are what the hub refuses, HubSettings tells what it would not take of its own
	// settings.
	Rules       Rules
	HubSettings HubSettings
	// Lenient makes warnings of fields that nothing would be done with.
	Lenient bool
	// Problems are what is wrong already; they are told with the rest.
	Problems []manifests.Problem
}

// Plan is an input that can be built.
type Plan struct {
	Workflow units.Workflow
	Format   Format
	// Set are the manifests; nil for a factory image.
	Set *manifests.Set
	// Hosts are those that the input describes. There may be more: Wanted counts all.
	Hosts  []Host
	Wanted manifests.Requirements
	// Rendezvous is the address of the host that is the hub.
	Rendezvous netip.Addr
	// Release is the release image; empty for a cluster without one.
	Release string
	// BootArtifactsURL is where the parts of a network boot, or the root file system of a
	// minimal ISO, are served; without a slash at its end.
	BootArtifactsURL string
	// TokenLifetime is how long tokens are good, of hosts that join a running cluster alone.
	TokenLifetime time.Duration

	// joins is the running cluster that the hosts join; nil for one that is to be.
	joins *running
	// registries and caBundle are files of the folder mirror, hub are further settings of the hub.
	registries, caBundle string
	hub                  map[string]string
	kargs                overlay.KargsEdit
}

// Cluster is the cluster's name with its domain, if that is known; empty for a factory image.
func (p *Plan) Cluster() string {
	switch {
	case p.Set == nil:
		return ""
	case p.joins != nil:
		return p.joins.name
	}
	d := p.Set.ClusterDeployment.Spec
	if d.BaseDomain == "" {
		return d.ClusterName
	}
	return d.ClusterName + "." + d.BaseDomain
}

// Host is one that the input describes.
type Host struct {
	// Name is what people call it: its hostname, its folder, or its manifest's name.
	Name string
	// Hostname is the name that it is given; empty leaves that to its network.
	Hostname string
	// Role is master, worker or arbiter; empty leaves it to the hub.
	Role string
	// MACs are the addresses of its cards, in lower case.
	MACs []string
	// Hints choose its disk; nil leaves that to the hub.
	Hints *manifests.RootDeviceHints
	// Addresses are its static ones with the lengths of their prefixes; DHCP tells that it
	// gets others from the network.
	Addresses []netip.Prefix
	DHCP      bool
	// Rendezvous tells that it is the hub while the cluster is installed.
	Rendezvous bool

	// own tells that it has a description of its network, settings is what became of it.
	own      bool
	settings network.Settings
	cards    []network.Card
}

// Way is how its network gets to the host; empty for DHCP.
func (h *Host) Way() string {
	if !h.own {
		return ""
	}
	return h.settings.Way()
}
