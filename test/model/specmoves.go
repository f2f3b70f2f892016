package model

import (
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/policy"
)

// set is the move that gives a spec a value, unless it has it.
func set(what string, change func(s *metal3.BareMetalHostSpec)) move {
	return move{
		user, what, "", func(w *World, about string) bool {
			spec := w.host(named(about)).Spec.DeepCopy()
			change(spec)
			return !sameJSON(spec, w.host(named(about)).Spec)
		},
		func(w *World, about string) {
			w.edit(about, func(h *metal3.BareMetalHost) { change(&h.Spec) })
		},
	}
}

// image is an image of a wish.
func image(name string) *metal3.Image {
	if name == "" {
		return nil
	}
	return &metal3.Image{URL: "http://images/" + name, Checksum: "sum-" + name, ChecksumType: metal3.SHA256}
}

// specMoves change the spec of a host.
var specMoves = []move{
	set("image A for", func(s *metal3.BareMetalHostSpec) { s.Image = image("A") }),
	set("image B for", func(s *metal3.BareMetalHostSpec) { s.Image = image("B") }),
	set("no image for", func(s *metal3.BareMetalHostSpec) { s.Image = nil }),
	set("method M for", func(s *metal3.BareMetalHostSpec) { s.CustomDeploy = &metal3.CustomDeploy{Method: "M"} }),
	set("method N for", func(s *metal3.BareMetalHostSpec) { s.CustomDeploy = &metal3.CustomDeploy{Method: "N"} }),
	set("no method for", func(s *metal3.BareMetalHostSpec) { s.CustomDeploy = nil }),
	{
		user, "another checksum for", "", func(w *World, about string) bool {
			i := w.host(named(about)).Spec.Image
			return i != nil && i.Checksum != "other"
		},
		func(w *World, about string) {
			w.edit(about, func(h *metal3.BareMetalHost) { h.Spec.Image.Checksum = "other" })
		},
	},
	set("online", func(s *metal3.BareMetalHostSpec) { s.Online = true }),
	set("offline", func(s *metal3.BareMetalHostSpec) { s.Online = false }),
	set("no power-off for", func(s *metal3.BareMetalHostSpec) { s.DisablePowerOff = true }),
	set("power-off allowed for", func(s *metal3.BareMetalHostSpec) { s.DisablePowerOff = false }),
	set("no cleaning for", func(s *metal3.BareMetalHostSpec) { s.AutomatedCleaningMode = metal3.CleaningModeDisabled }),
	set("certificate not verified for", func(s *metal3.BareMetalHostSpec) { s.BMC.DisableCertificateVerification = true }),
	set("cleaning for", func(s *metal3.BareMetalHostSpec) { s.AutomatedCleaningMode = metal3.CleaningModeMetadata }),
	{ // the admission policies refuse it in most other states
		user, "externally provisioned", "", func(w *World, about string) bool {
			h := w.host(named(about))
			state := h.Status.Provisioning.State
			return !h.Spec.ExternallyProvisioned && (state == policy.StateNone || state == metal3.StateAvailable || h.Status.ErrorType == metal3.RegistrationError)
		},
		func(w *World, about string) {
			w.doubt.Claimed = true
			w.edit(about, func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = true })
		},
	},
	set("not externally provisioned", func(s *metal3.BareMetalHostSpec) { s.ExternallyProvisioned = false }),
}
