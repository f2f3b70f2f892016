package model

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
)

// addressMoves change the address of a host's BMC, which the admission policies allow while it is detached.
var addressMoves = []move{
	{
		user, "the BMC of the other host for", "", func(w *World, about string) bool { return w.otherAddress(about) != "" },
		func(w *World, about string) {
			address := w.otherAddress(about)
			w.doubt.Readdressed = true
			w.edit(about, func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = address })
		},
	},
	{
		user, "the BMC of an empty machine for", "", func(w *World, about string) bool {
			h := w.host(named(about))
			return isDetached(h) && h.Spec.BMC.Address != bmcHost+machineEmpty
		},
		func(w *World, about string) {
			w.machines[machineEmpty] = machine{Password: "right"}
			w.doubt.Readdressed = true
			w.edit(about, func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = bmcHost + machineEmpty })
		},
	},
}

// machineEmpty is a machine that no host has in the beginning.
const machineEmpty = "/redfish/v1/Systems/9"

func isDetached(h *metal3.BareMetalHost) bool {
	return h.Status.OperationalStatus == metal3.OperationalStatusDetached
}

// otherAddress is the address of another host's BMC, which a detached one has not; empty for none.
func (w *World) otherAddress(about string) string {
	h := w.host(named(about))
	for _, key := range w.hosts() {
		if other := w.host(key).Spec.BMC.Address; isDetached(h) && other != h.Spec.BMC.Address {
			return other
		}
	}
	return ""
}
