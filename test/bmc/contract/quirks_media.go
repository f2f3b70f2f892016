package contract

import (
	"net/http"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// slotPath is a slot of the case's system.
func (w *World) slotPath(slot string) string { return w.systemPath() + "/VirtualMedia/" + slot }

// puts inserts a medium into the CD with more parameters: name, value ....
func (w *World) puts(image string, more ...any) int {
	w.T.Helper()
	body := map[string]any{"Image": image}
	for i := 0; i+1 < len(more); i += 2 {
		body[more[i].(string)] = more[i+1]
	}
	return w.status(http.MethodPost, w.slotPath("Cd")+"/Actions/VirtualMedia.InsertMedia", body)
}

// ejects empties the CD.
func (w *World) ejects() {
	w.T.Helper()
	w.accepted(http.MethodPost, w.slotPath("Cd")+"/Actions/VirtualMedia.EjectMedia", map[string]any{})
}

const (
	accepted = http.StatusNoContent
	refused  = http.StatusBadRequest
)

// mediaQuirks are the cases of virtual media.
var mediaQuirks = map[simulator.Quirk]func(w *World){
	simulator.NoVirtualMedia: func(w *World) {
		w.Quirk(simulator.NoVirtualMedia, simulator.Always)
		w.Expect(w.get(w.systemPath())).NotTo(HaveKey("VirtualMedia"))
		w.Expect(w.get(w.managerPath())).NotTo(HaveKey("VirtualMedia"))
		w.Expect(w.puts(imageURL)).To(Equal(http.StatusNotFound))
	},
	simulator.MediaOnSystem: func(w *World) {
		w.missing(simulator.MediaOnSystem, w.managerPath(), "VirtualMedia", w.managerPath()+"/VirtualMedia", w.managerPath()+"/VirtualMedia/Cd")
		w.mediaThere(w.systemCD)
	},
	simulator.MediaFirstSlotOnly: func(w *World) {
		w.Quirk(simulator.MediaFirstSlotOnly, simulator.Always)
		w.refusal(refused, http.MethodPost, w.slotPath("Floppy")+"/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": imageURL})
		w.Expect(w.puts(imageURL)).To(Equal(accepted))
	},
	simulator.MediaEjectLate: func(w *World) {
		w.Quirk(simulator.MediaEjectLate, 2)
		w.Expect(w.get(w.slotPath("Cd"))).To(HaveKeyWithValue("Inserted", false), "nothing was ejected yet")
		w.Expect(w.puts(imageURL)).To(Equal(accepted))
		w.ejects()
		for _, want := range []bool{true, true, false} {
			w.Expect(w.get(w.slotPath("Cd"))).To(HaveKeyWithValue("Inserted", want))
		}
	},
	simulator.MediaInsertFails: func(w *World) {
		w.Quirk(simulator.MediaInsertFails, 1)
		w.Expect(w.puts(imageURL)).To(Equal(http.StatusInternalServerError))
		w.Expect(w.puts(imageURL)).To(Equal(accepted))
	},
	simulator.MediaDetached: func(w *World) {
		w.made(simulator.Dell)
		w.Quirk(simulator.MediaDetached, simulator.Always)
		w.Expect(w.puts(imageURL)).To(Equal(http.StatusInternalServerError))
		w.Expect(at(w.get(w.managerPath()+"/Oem/Dell/DellAttributes/"+w.ID), "Attributes", "VirtualMedia.1.Attached")).To(Equal("Detached"))
	},
	simulator.MediaUnreachable: func(w *World) {
		w.Quirk(simulator.MediaUnreachable, 1)
		w.Expect(w.refusal(http.StatusInternalServerError, http.MethodPost, w.slotPath("Cd")+"/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": imageURL})).To(ContainSubstring("RAC0904"))
		w.Expect(w.puts(imageURL)).To(Equal(accepted))
	},
	simulator.MediaExtrasRefused: func(w *World) {
		w.Quirk(simulator.MediaExtrasRefused, simulator.Always)
		w.Expect(w.puts(imageURL, "Inserted", true)).To(Equal(refused))
		w.Expect(w.puts(imageURL, "WriteProtected", true)).To(Equal(refused))
		w.Expect(w.puts(imageURL)).To(Equal(accepted))
	},
	simulator.MediaPlainURL: func(w *World) {
		w.Quirk(simulator.MediaPlainURL, simulator.Always)
		w.Expect(w.puts("http://x/boot.iso?filename=a")).To(Equal(refused))
		w.Expect(w.puts("http://x/boot")).To(Equal(refused))
		w.Expect(w.puts("http://x/boot.iso")).To(Equal(accepted))
	},
	simulator.MediaNoEjectWhileEmpty: func(w *World) {
		w.Quirk(simulator.MediaNoEjectWhileEmpty, simulator.Always)
		w.Expect(w.systemCD().SupportsMediaEject).To(BeFalse())
		w.Expect(w.puts("http://x/boot.iso")).To(Equal(accepted))
		w.Expect(w.systemCD().SupportsMediaEject).To(BeTrue())
		w.ejects()
		w.Expect(w.get(w.slotPath("Cd"))).To(And(HaveKeyWithValue("ImageName", "boot.iso"), HaveKeyWithValue("ConnectedVia", "NotConnected")))
	},
	simulator.MediaPatchNeedsInserted: func(w *World) {
		w.Quirk(simulator.MediaByPatch, simulator.Always)
		w.Quirk(simulator.MediaPatchNeedsInserted, simulator.Always)
		w.refusal(refused, http.MethodPatch, w.slotPath("Cd"), map[string]any{"Image": imageURL})
		w.accepted(http.MethodPatch, w.slotPath("Cd"), map[string]any{"Image": imageURL, "Inserted": true})
	},
	simulator.MediaPatchRefusesInserted: func(w *World) {
		w.Quirk(simulator.MediaByPatch, simulator.Always)
		w.Quirk(simulator.MediaPatchRefusesInserted, simulator.Always)
		w.refusal(refused, http.MethodPatch, w.slotPath("Cd"), map[string]any{"Image": imageURL, "Inserted": true})
		w.accepted(http.MethodPatch, w.slotPath("Cd"), map[string]any{"Image": imageURL})
	},
	simulator.EjectNeedsBody: func(w *World) {
		w.Quirk(simulator.EjectNeedsBody, simulator.Always)
		w.refusal(http.StatusUnsupportedMediaType, http.MethodPost, w.slotPath("Cd")+"/Actions/VirtualMedia.EjectMedia", nil)
		w.ejects()
	},
	simulator.MediaHTTPSOnly: func(w *World) {
		w.Quirk(simulator.MediaHTTPSOnly, simulator.Always)
		w.Expect(w.puts("http://x/boot.iso")).To(Equal(refused))
		w.Expect(w.puts("https://x/boot.iso")).To(Equal(accepted))
		w.Expect(at(w.get(w.slotPath("Cd")), "Actions", "#VirtualMedia.InsertMedia", "TransferProtocolType@Redfish.AllowableValues")).NotTo(ContainElement("HTTP"))
	},
	simulator.MediaNeedsCredentials: func(w *World) {
		w.Quirk(simulator.MediaNeedsCredentials, simulator.Always)
		w.Expect(w.puts(imageURL)).To(Equal(refused))
		w.Expect(w.puts(imageURL, "UserName", "none", "Password", "none")).To(Equal(accepted))
	},
	simulator.MediaNeedsMethod: func(w *World) {
		w.Quirk(simulator.MediaNeedsMethod, simulator.Always)
		w.Expect(w.puts(imageURL)).To(Equal(refused))
		w.Expect(w.puts(imageURL, "TransferMethod", "Stream")).To(Equal(accepted))
	},
	simulator.MediaNeedsLicence: func(w *World) {
		for vendor, words := range map[simulator.Vendor]string{simulator.HPE: "LicenseKeyRequired", simulator.Dell: "LIC501", simulator.Supermicro: "OemLicenseNotPassed", "": "license"} {
			w.made(vendor)
			w.Quirk(simulator.MediaNeedsLicence, simulator.Always)
			answer := w.Do(http.MethodPost, w.slotPath("Cd")+"/Actions/VirtualMedia.InsertMedia", map[string]any{"Image": imageURL})
			w.Expect(answer.status).To(BeElementOf(http.StatusBadRequest, http.StatusForbidden))
			w.Expect(answer.body).To(ContainSubstring(words))
			w.Expect(w.Simulator.SetLicences(w.ID, []simulator.Licence{{Name: "all", Expired: true}})).To(Succeed())
			w.Expect(w.puts(imageURL)).NotTo(Equal(accepted), "it has expired")
			w.Expect(w.Simulator.SetLicences(w.ID, []simulator.Licence{{Name: "all"}})).To(Succeed())
			w.Expect(w.puts(imageURL)).To(Equal(accepted))
		}
	},
}
