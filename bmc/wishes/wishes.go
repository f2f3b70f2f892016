package wishes

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/address"
	"github.com/ironflow/ironflow/bmc/preflight"
)

// Objects are the objects of one host. All but Host may be nil.
type Objects struct {
	Host       *metal3.BareMetalHost
	Settings   *metal3.HostFirmwareSettings
	Components *metal3.HostFirmwareComponents
	// Image is the host's live image. LiveImage is the address of the one for all hosts,
	// and goes before it: with such a one none is built, and Image is left from before.
	Image     *metal3.PreprovisioningImage
	LiveImage string
	// Sizes are the sizes of images in bytes by their addresses, as far as they are
	// known. [Images] are theirs, and [Weighed] those that are of use for a BMC.
	Sizes map[string]int64
}

// Images are the addresses of the images that a host's wishes name, each once.
func Images(o Objects) []string { return images(o, true, true) }

// Weighed are those whose sizes matter to the host's BMC, with the wishes that [Of] has
// made. A report that is nil is not known.
func Weighed(o Objects, w preflight.Wishes, report *v1alpha1.BMCReport) []string {
	live, firmware := preflight.Bounds(w, report)
	return images(o, live, firmware)
}

func images(o Objects, live, firmware bool) []string {
	var all []string
	add := func(address string) {
		if address != "" && !slices.Contains(all, address) {
			all = append(all, address)
		}
	}
	if live {
		add(liveImage(o))
		add(liveISO(o))
	}
	if firmware && o.Components != nil {
		for _, u := range o.Components.Spec.Updates {
			add(u.URL)
		}
	}
	return all
}

// FromObjects makes the wishes of the one host among objects, as a file has them. Objects
// of other kinds count for nothing. Settings and components belong to the host
// by their name.
func FromObjects(objects ...runtime.Object) (preflight.Wishes, error) {
	var hosts []string
	for _, o := range objects {
		if h, ok := o.(*metal3.BareMetalHost); ok {
			hosts = append(hosts, h.Name)
		}
	}
	if len(hosts) != 1 {
		return preflight.Wishes{}, fmt.Errorf("there must be one BareMetalHost to check, and there are %d (%s)", len(hosts), strings.Join(hosts, ", "))
	}
	all, err := ByHost(objects...)
	if err != nil {
		return preflight.Wishes{}, err
	}
	return Of(all[0])
}

// ByHost sorts objects by the host that they belong to, in the order of the hosts.
// Settings or components without their host would be checked by nobody: for each there is
// an error in a joined one, beside the hosts.
func ByHost(objects ...runtime.Object) ([]Objects, error) {
	var all []Objects
	for _, o := range objects {
		if h, ok := o.(*metal3.BareMetalHost); ok {
			all = append(all, Objects{Host: h})
		}
	}
	of := func(kind, namespace, name string) (*Objects, error) {
		i := slices.IndexFunc(all, func(o Objects) bool {
			return o.Host.Name == name && (o.Host.Namespace == namespace || o.Host.Namespace == "" || namespace == "")
		})
		if i < 0 {
			return nil, fmt.Errorf("%s %q has no BareMetalHost of that name beside it: add the host, or correct the name", kind, name)
		}
		return &all[i], nil
	}
	var lost []error
	for _, o := range objects {
		var host *Objects
		var err error
		switch o := o.(type) {
		case *metal3.HostFirmwareSettings:
			if host, err = of("HostFirmwareSettings", o.Namespace, o.Name); err == nil {
				host.Settings = o
			}
		case *metal3.HostFirmwareComponents:
			if host, err = of("HostFirmwareComponents", o.Namespace, o.Name); err == nil {
				host.Components = o
			}
		case *metal3.PreprovisioningImage:
			if host, err = of("PreprovisioningImage", o.Namespace, o.Name); err == nil {
				host.Image = o
			}
		}
		if err != nil {
			lost = append(lost, err)
		}
	}
	return all, errors.Join(lost...)
}

// Of makes the wishes of a host. An address that cannot be read is an error.
func Of(o Objects) (preflight.Wishes, error) {
	spec := &o.Host.Spec
	at, err := address.Parse(spec.BMC.Address)
	if err != nil {
		return preflight.Wishes{}, fmt.Errorf("host %q: spec.bmc.address: %w", o.Host.Name, err)
	}
	w := preflight.Wishes{
		Address:  preflight.Address{Scheme: at.Scheme, Boot: bootKind(at), Redfish: at.Family == address.Redfish},
		BootMode: string(spec.BootMode), Architecture: spec.Architecture,
		LiveImage: preflight.LiveImageAt(liveImage(o), o.Sizes[liveImage(o)]), LiveISO: preflight.LiveImageAt(liveISO(o), o.Sizes[liveISO(o)]),
	}
	if spec.RAID != nil {
		w.Volumes, w.SoftwareVolumes = volumes(spec.RAID.HardwareRAIDVolumes), softwareVolumes(spec.RAID.SoftwareRAIDVolumes)
	}
	w.Firmware = switches(spec.Firmware) //nolint:staticcheck // it is read to say that nobody carries it out
	if o.Settings != nil {
		w.Settings = map[string]any{}
		for name, value := range o.Settings.Spec.Settings {
			w.Settings[name] = plain(value)
		}
	}
	if o.Components != nil {
		for _, u := range o.Components.Spec.Updates {
			w.Updates = append(w.Updates, preflight.Update{Component: u.Component, URL: u.URL, Version: versionIn(u.URL), Bytes: o.Sizes[u.URL]})
		}
	}
	return w, nil
}

// numbered is a version within a file's name: three dotted numbers at least, since two
// may be a model's or a date's.
var numbered = regexp.MustCompile(`(?:^|[^0-9.])([0-9]+(?:\.[0-9]+){2,})`)

// versionIn is the version that a firmware image has in its file's name, as vendors
// call theirs; empty where it has none, or several.
func versionIn(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	found := numbered.FindAllStringSubmatch(path.Base(u.Path), 2)
	if len(found) != 1 {
		return ""
	}
	return found[0][1]
}

// bootKind is how an address boots the live image.
func bootKind(a *address.Address) preflight.BootKind {
	switch {
	case strings.HasSuffix(a.Interfaces.Boot, "virtual-media"):
		return preflight.VirtualMedia
	case a.BootsISO:
		return preflight.HTTPBoot
	default:
		return preflight.Network
	}
}

// liveImage is the address of the host's live ISO.
func liveImage(o Objects) string {
	if i := o.Image; o.LiveImage == "" && i != nil && i.Status.Format != metal3.ImageFormatInitRD {
		return i.Status.ImageUrl
	}
	return o.LiveImage
}

// liveISO is the address of spec.image where the BMC boots it.
func liveISO(o Objects) string {
	if i := o.Host.Spec.Image; i != nil && i.DiskFormat != nil && *i.DiskFormat == "live-iso" {
		return i.URL
	}
	return ""
}

// volumes keeps the difference between none and not said.
func volumes(wish []metal3.HardwareRAIDVolume) []preflight.Volume {
	if wish == nil {
		return nil
	}
	out := make([]preflight.Volume, 0, len(wish))
	for _, v := range wish {
		out = append(out, preflight.Volume{
			Level: v.Level, Name: v.Name, SizeGiB: orZero(v.SizeGibibytes), Rotational: v.Rotational, Count: orZero(v.NumberOfPhysicalDisks),
			Controller: v.Controller, Disks: v.PhysicalDisks,
		})
	}
	return out
}

func softwareVolumes(wish []metal3.SoftwareRAIDVolume) []preflight.SoftwareVolume {
	var out []preflight.SoftwareVolume
	for _, v := range wish {
		out = append(out, preflight.SoftwareVolume{Level: v.Level, SizeGiB: orZero(v.SizeGibibytes), Disks: len(v.PhysicalDisks)})
	}
	return out
}

func orZero(n *int) int {
	if n == nil {
		return 0
	}
	return *n
}

func switches(f *metal3.FirmwareConfig) map[string]bool { //nolint:staticcheck // as above
	if f == nil {
		return nil
	}
	out := map[string]bool{}
	for name, on := range map[string]*bool{
		"virtualizationEnabled":             f.VirtualizationEnabled,
		"simultaneousMultithreadingEnabled": f.SimultaneousMultithreadingEnabled,
		"sriovEnabled":                      f.SriovEnabled,
	} {
		if on != nil {
			out[name] = *on
		}
	}
	return out
}

// plain is a value as Ironic gets it.
func plain(v intstr.IntOrString) any {
	if v.Type == intstr.Int {
		return v.IntValue()
	}
	return v.StrVal
}
