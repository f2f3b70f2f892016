package model

import (
	"fmt"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
)

// machine is what the BMC of a machine would tell, and what is on its disk.
type machine struct {
	On bool
	// Disk is what is installed: a wish, "partial" while that is written, empty for nothing.
	Disk string
	// Nobodys means that the machine's host was given back as was asked: what its disk
	// still has is nobody's.
	Nobodys bool
	// Unsaid means that its user calls that somebody's since, which the host's status may not say yet: what is not said
	// is lost with the restore of a backup.
	Unsaid bool
	// Password is what the BMC takes.
	Password string
	// Booting is what its BIOS setting of that name is; empty for as it came.
	Booting string
}

// partial is on a disk that an image is being written to.
const partial = "partial"

// installed reports whether a machine has somebody's whole system on its disk.
func (m machine) installed() bool { return m.Disk != "" && m.Disk != partial && !m.Nobodys }

// outside is what somebody else has installed.
const outside = "installed by somebody else"

// asked is what a host's users have asked for that may touch its machine, since
// what is on that has been there.
type asked struct {
	// Destroy means that what is installed may go.
	Destroy bool
	// Off means that the machine may be switched off for as long as it is asked for.
	Off bool
	// Restarts are the restarts that were asked for and have not happened.
	Restarts int
	// Inspections are those that may be made.
	Inspections int
	// Inspect means that somebody has asked for an inspection of a machine that their host
	// knows of nothing on.
	Inspect bool
	// Anew means that a deployment that is under way may be ended, since somebody has asked
	// for something else, or for another start, since it began.
	Anew bool
	// Free means that somebody asks for a system on a machine that is off, and of which the host shows
	// nothing, or has switched it off by hand: that is free, whatever was on it, until it comes on by itself.
	Free bool
	// Forgotten means that neither the cluster nor Ironic knows what was asked for.
	Forgotten bool
	// Older means that the host's status is of a backup of before what is installed, which
	// nobody but its node could tell.
	Older bool
}

// wishOf is what a spec asks to have installed, empty for nothing.
func wishOf(h *metal3.BareMetalHost) string {
	if !nodespec.WantsInstance(h) {
		return ""
	}
	return wishText(h.Spec.Image, h.Spec.CustomDeploy)
}

func wishText(image *metal3.Image, custom *metal3.CustomDeploy) string {
	url := ""
	if image != nil {
		url = image.URL
	}
	return fmt.Sprintf("%s with %s", url, nodespec.MethodOf(custom))
}

// differs reports whether a spec asks for something else than what is installed. An
// image beside a method, or a method beside an image, is no other one.
func differs(h *metal3.BareMetalHost, disk string) bool {
	if h.Spec.ExternallyProvisioned {
		return false
	}
	if !nodespec.WantsInstance(h) {
		return true
	}
	if disk == outside {
		return false
	}
	url, method, _ := strings.Cut(disk, " with ")
	wanted := ""
	if h.Spec.Image != nil {
		wanted = h.Spec.Image.URL
	}
	m := nodespec.MethodOf(h.Spec.CustomDeploy)
	return url != "" && wanted != url || method != "" && m != method
}

// machineOf is the machine of a host: that of its BMC.
func (w *World) machineOf(h *metal3.BareMetalHost) machine { return w.machines[systemOf(h)] }

// systemOf names the machine of a host.
func systemOf(h *metal3.BareMetalHost) string {
	return strings.TrimPrefix(h.Spec.BMC.Address, bmcHost)
}

// ownersOf are the hosts of a machine.
func (w *World) ownersOf(address string) []types.NamespacedName {
	var list []types.NamespacedName
	for _, key := range w.hosts() {
		if systemOf(w.host(key)) == address {
			list = append(list, key)
		}
	}
	return list
}

// breaks records that an invariant does not hold, the first one.
func (w *World) breaks(format string, args ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, args...)
	}
}
