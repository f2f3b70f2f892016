package preflight_test

import (
	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/bmc/quirks"
)

const address = host + "spec.bmc.address "

var bootCases = map[string]test{
	"plain wishes": {},
	"IPMI": {
		wishes: func(w *preflight.Wishes) {
			w.Address = preflight.Address{Scheme: "ipmi", Boot: preflight.Network}
			w.BootMode, w.Volumes = "UEFISecureBoot", []preflight.Volume{}
			set("Turbo", "Off")(w)
			update(preflight.Update{Component: "bmc", URL: "https://192.0.2.9/x"})(w)
		},
		want: []string{
			host + "spec.raid.hardwareRAIDVolumes NeedsRedfish", host + "spec.bootMode NeedsRedfish",
			settings + "spec.settings NeedsRedfish", updates + "spec.updates NeedsRedfish",
		},
		says: []string{`"ipmi" is of another kind: use a Redfish scheme, or use softwareRAIDVolumes, or leave hardwareRAIDVolumes out`},
	},
	"IPMI without wishes": {wishes: func(w *preflight.Wishes) { w.Address = preflight.Address{Scheme: "ipmi", Boot: preflight.Network} }},

	"an old iDRAC by the plain scheme": {
		machine: func(m *machine) { m.is("Dell", "R740", "iDRAC9", "5.10.50.00") },
		want:    []string{address + "AddressScheme", address + "BadVersion"},
		says:    []string{`"redfish-virtualmedia" do not work with iDRAC9 5.10.50.00: write idrac-virtualmedia`, "has 5.10.50.00", "6.10.30.00", "boot over the network with redfish"},
	},
	"an old iDRAC by its own scheme": {
		wishes:  boots("idrac-virtualmedia", preflight.VirtualMedia),
		machine: func(m *machine) { m.is("Dell", "R740", "iDRAC9", "5.10.50.00") },
		want:    []string{address + "BadVersion"}, says: []string{"boot over the network with idrac-redfish"},
	},
	"an old iDRAC over the network": {
		wishes:  boots("idrac-redfish", preflight.Network),
		machine: func(m *machine) { m.is("Dell", "R740", "iDRAC9", "5.10.50.00") },
	},
	"a newer iDRAC": {machine: func(m *machine) { m.is("Dell", "R750", "iDRAC9", "7.00.00.00") }},
	"iDRAC10": {
		machine: func(m *machine) { m.is("Dell", "R770", "iDRAC10", "1.20.0.0") },
		want:    []string{address + "AddressScheme"},
	},
	"an iDRAC of which the version is not known": {machine: func(m *machine) { m.is("Dell", "R740", "iDRAC9", "") }},
	"a version that is bad for everything": {
		machine: func(m *machine) { m.site(quirks.KnownBadVersion, "1.2.4") },
		want:    []string{address + "BadVersion"}, says: []string{"has 1.2.3, which has a fault that 1.2.4 fixes. We know it."},
	},
	"a version that is bad for what nobody asks": {machine: func(m *machine) { m.site(quirks.KnownBadVersion, "1.2.4 for HTTPBoot") }},

	"no slot for a CD": {
		machine: func(m *machine) { m.can("VirtualMediaCD", v1alpha1.No, "Managers/1/VirtualMedia: there is no slot") },
		want:    []string{address + "VirtualMediaNotOffered"}, says: []string{"The BMC says: Managers/1/VirtualMedia: there is no slot.", "boot over the network with redfish"},
	},
	"no slot for a CD, over the network": {
		wishes:  boots("redfish", preflight.Network),
		machine: func(m *machine) { m.can("VirtualMediaCD", v1alpha1.No, "") },
	},
	"a slot of which nothing is known": {machine: func(m *machine) { m.can("VirtualMediaCD", v1alpha1.Unknown, "500") }},
	"media that a quirk rules out": {
		machine: func(m *machine) { m.site(quirks.NotSupportedFor, "VirtualMediaCD") },
		want:    []string{address + "VirtualMediaNotOffered"}, says: []string{"We know it."},
	},
	"no boot from a CD": {
		machine: func(m *machine) { m.can("BootOnce", v1alpha1.No, "no CD among the targets Hdd") },
		want:    []string{address + "BootOnceNotOffered"}, says: []string{"no CD among the targets Hdd"},
	},
	"no boot from a CD that an iDRAC needs": {
		wishes:  boots("idrac-virtualmedia", preflight.VirtualMedia),
		machine: func(m *machine) { m.can("BootOnce", v1alpha1.No, "") },
	},
	"no HTTP boot": {
		wishes:  boots("redfish-uefihttp", preflight.HTTPBoot),
		machine: func(m *machine) { m.can("HTTPBoot", v1alpha1.No, "no UefiHttp among the targets") },
		want:    []string{address + "HTTPBootNotOffered"}, says: []string{"use redfish-virtualmedia"},
	},
	"HTTP boot": {wishes: boots("redfish-uefihttp", preflight.HTTPBoot)},

	"an image by a scheme that is not taken": {
		machine: func(m *machine) { m.report.MediaProtocols = []string{"nfs", "cifs"} },
		want:    []string{address + "ImageScheme"}, says: []string{"served by https", "take nfs, cifs"},
	},
	"an image by a scheme in other letters":   {machine: func(m *machine) { m.report.MediaProtocols = []string{"HTTPS"} }},
	"schemes that are not said":               {machine: func(m *machine) { m.report.MediaProtocols = nil }},
	"an image of which the scheme is unknown": {wishes: func(w *preflight.Wishes) { w.LiveImage = preflight.LiveImage{} }, machine: func(m *machine) { m.report.MediaProtocols = []string{"nfs"} }},
	"a scheme that matters to media only":     {wishes: boots("redfish", preflight.Network), machine: func(m *machine) { m.report.MediaProtocols = []string{"nfs"} }},
	"OpenBMC takes https, whatever it says":   {machine: func(m *machine) { m.is("OpenBMC", "Board", "OpenBMC", "2.14"); m.report.MediaProtocols = nil }},
	"OpenBMC does not take http": {
		wishes:  func(w *preflight.Wishes) { w.LiveImage.Scheme = "http" },
		machine: func(m *machine) { m.is("OpenBMC", "Board", "OpenBMC", "2.14") },
		want:    []string{address + "ImageScheme"}, says: []string{"take https, smb"},
	},
	"an address with a query": {
		wishes:  func(w *preflight.Wishes) { w.LiveImage = preflight.LiveImageAt("https://192.0.2.9/a.iso?token=x", 0) },
		machine: func(m *machine) { m.is("Supermicro", "X12DPG", "", "") },
		want:    []string{address + "ImageURL"}, says: []string{"a path that ends in .iso"},
	},
	"an address without one": {
		wishes:  func(w *preflight.Wishes) { w.LiveImage = preflight.LiveImageAt("https://192.0.2.9/a.iso", 0) },
		machine: func(m *machine) { m.is("Supermicro", "X12DPG", "", "") },
	},
	"an address with a query elsewhere": {wishes: func(w *preflight.Wishes) { w.LiveImage.Query = true }},
	"an image that is too large": {
		machine: func(m *machine) { m.site(quirks.ImageSize, "900") },
		want:    []string{address + "ImageSize"}, says: []string{"has 1 GiB", "take 900 MiB"},
	},
	"a live ISO by a scheme that is not taken": {
		wishes: func(w *preflight.Wishes) { w.LiveISO = preflight.LiveImageAt("nfs://192.0.2.9/a.iso", 0) },
		want:   []string{host + "spec.image.url ImageScheme"}, says: []string{"The live ISO is served by nfs"},
	},
	"an image that is just right": {machine: func(m *machine) { m.site(quirks.ImageSize, "1024") }},

	"secure boot": {wishes: func(w *preflight.Wishes) { w.BootMode = "UEFISecureBoot" }},
	"no secure boot": {
		wishes:  func(w *preflight.Wishes) { w.BootMode = "UEFISecureBoot" },
		machine: func(m *machine) { m.can("SecureBoot", v1alpha1.No, "SecureBoot of the system is not offered") },
		want:    []string{host + "spec.bootMode SecureBootNotOffered"}, says: []string{"Write UEFI, or switch it on by hand"},
	},
	"no secure boot, and none wished for": {machine: func(m *machine) { m.can("SecureBoot", v1alpha1.No, "") }},
	"legacy with HTTP boot": {
		wishes: func(w *preflight.Wishes) { boots("redfish-uefihttp", preflight.HTTPBoot)(w); w.BootMode = "legacy" },
		want:   []string{host + "spec.bootMode BootMode"},
	},
	"legacy on aarch64": {
		wishes: func(w *preflight.Wishes) { w.BootMode, w.Architecture = "legacy", "aarch64" },
		want:   []string{host + "spec.bootMode BootMode"},
	},
	"legacy": {wishes: func(w *preflight.Wishes) { w.BootMode, w.Architecture = "legacy", "x86_64" }},
}
