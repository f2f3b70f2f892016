package model

import (
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/ironic"
)

// Moves that scenarios are about.
var (
	powerMoves = []string{"online", "offline", "annotation reboot by a client on", "annotation reboot by a client off"}
	endMoves   = []string{"no image for", "delete", "annotation delete-for-move on", "annotation delete-for-move off"}
	faultMoves = []string{"the controller restarts", "Ironic fails with", "by itself comes on the machine of"}
	keepMoves  = []string{"externally provisioned", "not externally provisioned", "annotation inspect on"}
)

// ofNobodysWish are scenarios that are a few steps before a machine may be touched unasked.
func ofNobodysWish() []Scenario {
	provisioned := func(_ *World, h *metal3.BareMetalHost) { h.Spec.Image = image("A") }
	off := func(_ *World, h *metal3.BareMetalHost) { h.Spec.Online = false }
	deployed := func(h *metal3.BareMetalHost) { h.Spec.Image, h.Spec.Online = image("A"), true }
	leftAlone := slices.Concat(keepMoves, powerMoves, endMoves, faultMoves)
	return []Scenario{
		{
			Name: "cleaned before it is deployed", until: ironic.StateCleanWait, change: provisioned,
			about: slices.Concat(powerMoves, endMoves, faultMoves, []string{"no cleaning for", "cleaning for"}),
		},
		{
			Name: "detached, with the BMC of another host", settled: true, change: provisioned,
			second: func(*World) *metal3.BareMetalHost {
				h := newHost("b", "2")
				h.Spec.Image = image("B")
				return h
			},
			after: []string{atRest, "annotation detached on b", atRest, "the BMC of the other host for b"},
			about: slices.Concat(powerMoves, endMoves, []string{"annotation detached on", "annotation detached off", "the BMC of the other host for", "the BMC of an empty machine for"}),
		},
		{
			Name: "about to be serviced", settled: true,
			change: func(w *World, h *metal3.BareMetalHost) { h.Spec.Image, w.firmware = image("A"), isKept },
			after:  []string{"a BIOS setting for a", "annotation reboot on a"},
			about: slices.Concat(powerMoves, faultMoves, []string{
				"annotation forced reboot by a client on", "annotation forced reboot by a client off", "no BIOS setting for", "no image for",
			}),
		},
		{
			Name: "prepared", settled: true, change: func(w *World, _ *metal3.BareMetalHost) { w.firmware = isKept },
			after: []string{"a BIOS setting for a"},
			about: slices.Concat(powerMoves, endMoves, faultMoves, []string{"no BIOS setting for", "image A for"}),
		},
		{
			Name: "left alone, and off", settled: true, change: off, then: deployed,
			after: []string{
				"restored from a backup of when it was available: a", "Ironic's database is lost", atRest, "somebody presses the button of node-1",
			},
			about: leftAlone,
		},
		{
			Name: "left alone, since it was deployed", settled: true, change: off, then: deployed,
			after: []string{"Ironic's database is lost; crash after write 1", "restored from a backup of when it was being deployed: a", atRest},
			about: leftAlone,
		},
	}
}
