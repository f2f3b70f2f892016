package contract

import (
	"net/http"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

const firstAccount = accountsPath + "/1"

// accountQuirks are the cases of sessions, accounts and passwords.
var accountQuirks = map[simulator.Quirk]func(w *World){
	simulator.NoBasic: func(w *World) {
		w.Quirk(simulator.NoBasic, simulator.Always)
		w.Expect(w.status(http.MethodGet, w.systemPath(), nil)).To(Equal(http.StatusUnauthorized))
		w.API = w.Connect(false, w.Password)
		w.System()
	},
	simulator.RootNeedsLogin: func(w *World) {
		w.Quirk(simulator.RootNeedsLogin, simulator.Always)
		answer, err := w.HTTP.Get(w.URL + "/redfish/v1/")
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(answer.Body.Close()).To(Succeed())
		w.Expect(answer.StatusCode).To(Equal(http.StatusUnauthorized))
		w.get("/redfish/v1/")
	},
	simulator.NoSessionLink: func(w *World) {
		w.Quirk(simulator.NoSessionLink, simulator.Always)
		w.Expect(at(w.get("/redfish/v1"), "Links", "Sessions")).To(BeNil())
		_, err := w.tryConnect(false, w.Password)
		w.Expect(err).To(HaveOccurred(), "gofish knows no other way")
		w.Expect(w.get("/redfish/v1/SessionService")).To(HaveKey("Sessions"))
	},
	simulator.SessionsFull: func(w *World) {
		w.Quirk(simulator.SessionsFull, 1)
		_, err := w.tryConnect(false, w.Password)
		w.Refused(err, http.StatusServiceUnavailable)
		w.Connect(false, w.Password)
	},
	simulator.SessionMinutes: func(w *World) {
		w.Quirk(simulator.SessionMinutes, simulator.Always)
		w.Expect(w.get("/redfish/v1/SessionService")).To(HaveKeyWithValue("SessionTimeout", BeEquivalentTo(30)))
	},
	simulator.SporadicDenial: func(w *World) {
		w.API = w.Connect(false, w.Password)
		w.Quirk(simulator.SporadicDenial, 1)
		w.refusal(http.StatusUnauthorized, http.MethodGet, w.systemPath(), nil)
		w.System()
	},
	simulator.NoAccountService: func(w *World) {
		w.Quirk(simulator.NoAccountService, simulator.Always)
		w.Expect(w.get("/redfish/v1")).NotTo(HaveKey("AccountService"))
		w.refusal(http.StatusNotFound, http.MethodGet, accountsPath, nil)
		w.refusal(http.StatusNotFound, http.MethodPatch, firstAccount, map[string]any{"Password": "x"})
	},
	simulator.NoAccountList: func(w *World) {
		w.Quirk(simulator.NoAccountList, simulator.Always)
		w.refusal(http.StatusForbidden, http.MethodGet, accountsPath, nil)
		w.accepted(http.MethodPatch, firstAccount, map[string]any{"Enabled": true})
	},
	simulator.NoAccountPost: func(w *World) {
		w.Quirk(simulator.NoAccountPost, simulator.Always)
		w.refusal(http.StatusMethodNotAllowed, http.MethodPost, accountsPath, map[string]any{"UserName": "x", "Password": "y"})
		w.Expect(w.Do(http.MethodGet, accountsPath, nil).header.Get("Allow")).NotTo(ContainSubstring("POST"))
	},
	simulator.AccountSlots: func(w *World) {
		w.Quirk(simulator.AccountSlots, simulator.Always)
		w.Expect(w.members(accountsPath)).To(HaveLen(16))
		w.refusal(http.StatusMethodNotAllowed, http.MethodPost, accountsPath, map[string]any{"UserName": w.ID, "Password": "y"})
		const slot = accountsPath + "/3"
		w.Expect(w.get(slot)).To(And(HaveKeyWithValue("UserName", ""), HaveKeyWithValue("Enabled", false)))
		w.refusal(http.StatusBadRequest, http.MethodPatch, slot, map[string]any{"UserName": w.ID})
		w.accepted(http.MethodPatch, slot, map[string]any{"UserName": w.ID, "Password": "y", "RoleId": "Administrator", "Enabled": true})
		_, err := w.as("y")
		w.Expect(err).NotTo(HaveOccurred())
		w.accepted(http.MethodPatch, slot, map[string]any{"UserName": ""})
		w.Expect(w.get(slot)).To(HaveKeyWithValue("UserName", ""))
	},
	simulator.AccountMessage: func(w *World) {
		w.Quirk(simulator.AccountMessage, simulator.Always)
		answer := w.accepted(http.MethodPost, accountsPath, map[string]any{"UserName": w.ID, "Password": "y"})
		w.Expect(answer.header.Get("Location")).To(BeEmpty())
		w.Expect(answer.body).NotTo(ContainSubstring(w.ID))
		w.Expect(w.members(accountsPath)).To(HaveLen(2))
	},
	simulator.AccountETagNeeded: func(w *World) {
		w.Quirk(simulator.AccountETagNeeded, simulator.Always)
		body := map[string]any{"Enabled": true}
		w.refusal(http.StatusPreconditionRequired, http.MethodPatch, firstAccount, body)
		w.accepted(http.MethodPatch, firstAccount, body, "If-Match", w.Do(http.MethodGet, firstAccount, nil).header.Get("ETag"))
		w.accepted(http.MethodPatch, firstAccount, body, "If-Match", "*")
		w.Expect(w.Do(http.MethodGet, accountsPath, nil).header.Get("ETag")).To(BeEmpty())
	},
	simulator.AccountNeedsPassword: func(w *World) {
		w.Quirk(simulator.AccountNeedsPassword, simulator.Always)
		address := w.user()
		w.refusal(http.StatusBadRequest, http.MethodPatch, address, map[string]any{"RoleId": "Operator"})
		w.accepted(http.MethodPatch, address, map[string]any{"RoleId": "Operator", "Password": "second-secret"})
		w.Expect(w.get(address)).To(HaveKeyWithValue("RoleId", "Operator"))
	},
	simulator.LockoutTold: func(w *World) {
		w.Quirk(simulator.LockoutTold, simulator.Always)
		w.user()
		w.accepted(http.MethodPatch, "/redfish/v1/AccountService", map[string]any{"AccountLockoutThreshold": 1, "AccountLockoutDuration": 3600})
		_, err := w.as("wrong")
		w.Refused(err, http.StatusUnauthorized)
		_, err = w.as("first-secret")
		w.Refused(err, http.StatusUnauthorized)
		w.Expect(err).To(MatchError(ContainSubstring("locked out")))
	},
	simulator.PasswordRefused: func(w *World) {
		w.Quirk(simulator.PasswordRefused, 1)
		w.Expect(w.refusal(http.StatusBadRequest, http.MethodPatch, firstAccount, map[string]any{"Password": "new"})).To(ContainSubstring("PropertyValueFormatError"))
		w.System()
	},
	simulator.PasswordNotChanged: func(w *World) {
		w.Quirk(simulator.PasswordNotChanged, 1)
		w.accepted(http.MethodPatch, firstAccount, map[string]any{"Password": "new"})
		w.System()
	},
	simulator.PasswordCutBefore: func(w *World) { w.cutPassword(simulator.PasswordCutBefore, false) },
	simulator.PasswordCutAfter:  func(w *World) { w.cutPassword(simulator.PasswordCutAfter, true) },
	simulator.SessionsKept: func(w *World) {
		api := w.Connect(false, w.Password)
		w.Quirk(simulator.SessionsKept, simulator.Always)
		w.accepted(http.MethodPatch, firstAccount, map[string]any{"Password": "new"})
		w.API = api
		w.System()
	},
	simulator.FactoryPassword: func(w *World) {
		w.Quirk(simulator.FactoryPassword, simulator.Always)
		w.Expect(w.refusal(http.StatusForbidden, http.MethodGet, w.systemPath(), nil)).To(ContainSubstring("SWC1908"))
		w.accepted(http.MethodPatch, firstAccount, map[string]any{"Password": "new"})
		w.API = w.Connect(true, "new")
		w.System()
	},
}

// cutPassword changes a password over a connection that is cut.
func (w *World) cutPassword(quirk simulator.Quirk, holds bool) {
	w.Quirk(quirk, 1)
	_, err := w.API.Patch(firstAccount, map[string]any{"Password": "new"}) //nolint:bodyclose // there is no answer
	w.Expect(err).To(HaveOccurred())
	_, err = w.tryConnect(false, "new")
	w.Expect(err == nil).To(Equal(holds))
	_, err = w.tryConnect(false, w.Password)
	w.Expect(err == nil).To(Equal(!holds))
}
