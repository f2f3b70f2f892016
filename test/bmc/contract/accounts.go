package contract

import (
	"net/http"
	"strconv"
	"strings"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences
	"github.com/stmcginnis/gofish"
)

const (
	accountsPath = "/redfish/v1/AccountService/Accounts"
	sessionsPath = "/redfish/v1/SessionService/Sessions"
)

// user makes an account that only this case uses, with the password first-secret,
// and returns its address.
func (w *World) user() string {
	w.T.Helper()
	answer := w.accepted(http.MethodPost, accountsPath, map[string]any{"UserName": w.ID, "Password": "first-secret", "RoleId": "Administrator"})
	return strings.TrimPrefix(answer.header.Get("Location"), w.URL)
}

// as opens a session of the case's own user.
func (w *World) as(password string) (*gofish.APIClient, error) {
	other := *w
	other.User = w.ID
	return other.tryConnect(false, password)
}

func accountService(w *World) {
	service, err := w.API.GetService().AccountService()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(service.ServiceEnabled).To(BeTrue())
	roles, err := service.Roles()
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(roles).To(ContainElement(HaveField("RoleID", "Administrator")))
	w.Eventually(service.Accounts).Should(ContainElement(HaveField("UserName", w.User)), "other cases take their accounts away between the list and its members")
	w.Expect(w.status(http.MethodGet, "/redfish/v1/AccountService/Roles/Nobody", nil)).To(Equal(http.StatusNotFound))
	w.accepted(http.MethodPatch, "/redfish/v1/AccountService", map[string]any{"AccountLockoutDuration": 60})
	w.refusal(http.StatusBadRequest, http.MethodPatch, "/redfish/v1/AccountService", map[string]any{"AccountLockoutDuration": "a minute"})
	w.refusal(http.StatusBadRequest, http.MethodPatch, "/redfish/v1/AccountService", map[string]any{"Colour": 1})
}

func manageAccounts(w *World) {
	address := w.user()
	w.Expect(w.members(accountsPath)).To(ContainElement(address))
	shown := w.get(address)
	w.Expect(shown).To(And(HaveKeyWithValue("UserName", w.ID), HaveKeyWithValue("Enabled", true), HaveKeyWithValue("Password", BeNil())))
	tag := w.Do(http.MethodGet, address, nil).header.Get("ETag")
	w.Expect(tag).NotTo(BeEmpty())
	w.accepted(http.MethodPatch, address, map[string]any{"Enabled": false}, "If-Match", tag)
	w.Expect(w.get(address)).To(HaveKeyWithValue("Enabled", false))
	w.refusal(http.StatusPreconditionFailed, http.MethodPatch, address, map[string]any{"Enabled": true}, "If-Match", tag)
	_, err := w.as("first-secret")
	w.Refused(err, http.StatusUnauthorized)
	w.accepted(http.MethodDelete, address, nil)
	gone := w.Do(http.MethodGet, address, nil)
	w.Expect(gone.status == http.StatusNotFound || !strings.Contains(string(gone.body), strconv.Quote(w.ID))).To(BeTrue(), "its place may be another case's account by now")
}

func refusedAccounts(w *World) {
	address := w.user()
	for name, body := range map[string]map[string]any{
		"a name that is taken": {"UserName": w.User, "Password": "x"}, "no password": {"UserName": w.ID + "1"},
		"an unknown role": {"UserName": w.ID + "1", "Password": "x", "RoleId": "King"}, "a number": {"UserName": 1, "Password": "x"},
	} {
		w.Expect(w.status(http.MethodPost, accountsPath, body)).To(Equal(http.StatusBadRequest), name)
	}
	w.refusal(http.StatusBadRequest, http.MethodPatch, address, map[string]any{"Enabled": "no"})
	w.refusal(http.StatusBadRequest, http.MethodPatch, address, map[string]any{"Shoes": "no"})
	w.Expect(w.status(http.MethodDelete, accountsPath+"/none", nil)).To(Equal(http.StatusNotFound))
}

// newPassword ends the account's sessions, and is proven by a new one.
func newPassword(w *World) {
	address := w.user()
	api, err := w.as("first-secret")
	w.Expect(err).NotTo(HaveOccurred())
	w.accepted(http.MethodPatch, address, map[string]any{"Password": "second-secret"})
	_, err = api.Get(sessionsPath) //nolint:bodyclose // it is refused
	w.Refused(err, http.StatusUnauthorized)
	_, err = w.as("first-secret")
	w.Refused(err, http.StatusUnauthorized)
	api, err = w.as("second-secret")
	w.Expect(err).NotTo(HaveOccurred())
	api.Logout()
}
