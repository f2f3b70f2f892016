package simulator_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
)

// guarded is a BMC with an administrator, and a client with that one's session.
func guarded(t *testing.T, o simulator.Options, quirks map[simulator.Quirk]int) (*simulator.Server, *client) {
	t.Helper()
	o.Username, o.Password = "root", "old-secret"
	s := simulator.New(o)
	c := newClient(t, s)
	c.Expect(s.AddSystem(simulator.System{ID: "a", Quirks: quirks})).To(Succeed())
	return s, c
}

// login opens a session and returns the status.
func (c *client) login(user, password string) int {
	c.t.Helper()
	held := c.token
	c.token = ""
	answer, _ := c.do(http.MethodPost, "/SessionService/Sessions", map[string]any{"UserName": user, "Password": password})
	c.token = held
	if token := answer.Header.Get("X-Auth-Token"); token != "" {
		c.token = token
	}
	return answer.StatusCode
}

// status is that of a request.
func (c *client) status(method, path string, body any) int {
	c.t.Helper()
	answer, _ := c.do(method, path, body)
	return answer.StatusCode
}

func TestNewPassword(t *testing.T) {
	const account = "/AccountService/Accounts/1"
	for _, c := range []struct {
		name   string
		quirk  simulator.Quirk
		policy accounts.Policy
		status int // of the change; 0 is a cut
		holds  string
		stays  bool // the session
	}{
		{"", "", accounts.Policy{}, http.StatusOK, "new-secret", false},
		{"against the policy", "", accounts.Policy{MinLength: 16}, http.StatusBadRequest, "old-secret", true},
		{"refused", simulator.PasswordRefused, accounts.Policy{}, http.StatusBadRequest, "old-secret", true},
		{"not changed", simulator.PasswordNotChanged, accounts.Policy{}, http.StatusOK, "old-secret", true},
		{"cut before", simulator.PasswordCutBefore, accounts.Policy{}, 0, "old-secret", true},
		{"cut after", simulator.PasswordCutAfter, accounts.Policy{}, 0, "new-secret", false},
		{"sessions kept", simulator.SessionsKept, accounts.Policy{}, http.StatusOK, "new-secret", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, w := guarded(t, simulator.Options{Policy: c.policy}, nil)
			if c.quirk != "" {
				w.Expect(s.SetQuirk("a", c.quirk, 1)).To(Succeed())
			}
			w.Expect(w.login("root", "old-secret")).To(Equal(http.StatusCreated))
			w.Expect(w.try(http.MethodPatch, account, map[string]any{"Password": "new-secret"})).To(Equal(c.status))
			held, _ := s.Password("root")
			w.Expect(held).To(Equal(c.holds))
			w.Expect(w.status(http.MethodGet, "/Systems/a", nil) == http.StatusOK).To(Equal(c.stays), "the session")
			w.token = ""
			w.Expect(w.login("root", c.holds)).To(Equal(http.StatusCreated))
		})
	}
}

// try is the status of a request, 0 if the connection is cut.
func (c *client) try(method, path string, body any) int {
	c.t.Helper()
	cut := false
	inner := c.http.Transport
	c.http.Transport = roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := inner.RoundTrip(r)
		if err != nil {
			cut = true
			return &http.Response{StatusCode: http.StatusTeapot, Header: http.Header{}, Body: http.NoBody}, nil //nolint:nilerr // a cut connection is what is looked for
		}
		return answer, nil
	})
	defer func() { c.http.Transport = inner }()
	if status := c.status(method, path, body); !cut {
		return status
	}
	return 0
}

func TestPasswordThatMustBeChanged(t *testing.T) {
	s, w := guarded(t, simulator.Options{}, nil)
	w.Expect(s.RequirePasswordChange("root")).To(Succeed())
	w.user, w.password = "root", "old-secret"
	answer, body := w.do(http.MethodGet, "/Systems/a", nil)
	w.Expect(answer.StatusCode).To(Equal(http.StatusForbidden))
	info := body["error"].(map[string]any)["@Message.ExtendedInfo"].([]any)[0].(map[string]any)
	w.Expect(info["MessageId"]).To(HaveSuffix(".PasswordChangeRequired"))
	w.Expect(info["MessageArgs"]).To(ConsistOf("/redfish/v1/AccountService/Accounts/1"))
	w.Expect(w.must(http.MethodGet, "/AccountService/Accounts/1", nil)["PasswordChangeRequired"]).To(BeTrue())
	w.must(http.MethodPatch, "/AccountService/Accounts/1", map[string]any{"Password": "new-secret"})
	w.password = "new-secret"
	w.must(http.MethodGet, "/Systems/a", nil)
}

func TestSessionsRunOut(t *testing.T) {
	s, w := guarded(t, simulator.Options{MaxSessions: 2}, nil)
	for range 2 {
		w.Expect(w.login("root", "old-secret")).To(Equal(http.StatusCreated))
	}
	w.Expect(s.Sessions()).To(HaveLen(2))
	answer, body := w.do(http.MethodPost, "/SessionService/Sessions", map[string]any{"UserName": "root", "Password": "old-secret"})
	w.Expect(answer.StatusCode).To(Equal(http.StatusServiceUnavailable))
	w.Expect(body["error"]).To(HaveKeyWithValue("code", HaveSuffix(".SessionLimitExceeded")))
	first := w.must(http.MethodGet, "/SessionService/Sessions", nil)["Members"].([]any)[0].(map[string]any)["@odata.id"].(string)
	shown := w.must(http.MethodGet, first[len("/redfish/v1"):], nil)
	w.Expect(shown).To(And(HaveKeyWithValue("UserName", "root"), HaveKey("CreatedTime")))
	w.must(http.MethodDelete, first[len("/redfish/v1"):], nil)
	w.user, w.password, w.token = "root", "old-secret", ""
	w.Expect(w.login("root", "old-secret")).To(Equal(http.StatusCreated), "a place is free")
}

func TestLockedOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := guarded(t, simulator.Options{Policy: accounts.Policy{Threshold: 3, Lockout: time.Minute}}, nil)
		for range 3 {
			w.Expect(w.login("root", "guess")).To(Equal(http.StatusUnauthorized))
		}
		answer, body := w.do(http.MethodPost, "/SessionService/Sessions", map[string]any{"UserName": "root", "Password": "old-secret"})
		w.Expect(answer.StatusCode).To(Equal(http.StatusUnauthorized), "the right one does not help")
		w.Expect(body["error"]).NotTo(HaveKeyWithValue("message", ContainSubstring("locked")), "nobody says why")
		w.Expect(s.SetQuirk("a", simulator.LockoutTold, simulator.Always)).To(Succeed())
		_, body = w.do(http.MethodPost, "/SessionService/Sessions", map[string]any{"UserName": "root", "Password": "old-secret"})
		w.Expect(body["error"]).To(HaveKeyWithValue("message", ContainSubstring("locked")))
		pass(time.Minute)
		w.Expect(w.login("root", "old-secret")).To(Equal(http.StatusCreated))
		w.Expect(s.Logins()).To(And(HaveKeyWithValue(accounts.Wrong, 3), HaveKeyWithValue(accounts.Locked, 2), HaveKeyWithValue(accounts.Right, 1)))
	})
}

func TestRoles(t *testing.T) {
	s, w := guarded(t, simulator.Options{Accounts: []accounts.Account{
		{UserName: "operator", Password: "operator-1", Role: accounts.Operator}, {UserName: "guest", Password: "guest-1", Role: accounts.ReadOnly},
	}}, nil)
	for _, c := range []struct {
		user, method, path string
		status             int
	}{
		{"guest", http.MethodGet, "/Systems/a", http.StatusOK},
		{"guest", http.MethodPatch, "/Systems/a", http.StatusForbidden},
		{"guest", http.MethodPatch, "/AccountService/Accounts/3", http.StatusOK},
		{"guest", http.MethodPatch, "/AccountService/Accounts/1", http.StatusForbidden},
		{"operator", http.MethodPatch, "/Systems/a", http.StatusNoContent},
		{"operator", http.MethodPatch, "/AccountService/Accounts/1", http.StatusForbidden},
	} {
		w.user = c.user
		w.password, _ = s.Password(c.user)
		w.Expect(w.status(c.method, c.path, map[string]any{})).To(Equal(c.status), "%s %s %s", c.user, c.method, c.path)
	}
	w.Expect(s.SetPassword("guest", "console")).To(Succeed())
	w.user, w.password = "guest", "console"
	w.must(http.MethodGet, "/Systems/a", nil)
}
