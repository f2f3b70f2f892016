package simulator

import (
	"net/http"
	"slices"
)

// The quirks of sessions, accounts and passwords.
const (
	NoBasic              Quirk = "no-basic"
	RootNeedsLogin       Quirk = "root-needs-login"
	NoSessionLink        Quirk = "no-session-link"
	SessionsFull         Quirk = "sessions-full"
	SessionMinutes       Quirk = "session-timeout-in-minutes"
	SporadicDenial       Quirk = "sporadic-denial"
	NoAccountService     Quirk = "no-account-service"
	NoAccountList        Quirk = "no-account-list"
	NoAccountPost        Quirk = "no-account-post"
	AccountSlots         Quirk = "account-slots"
	AccountMessage       Quirk = "account-answers-a-message"
	AccountETagNeeded    Quirk = "account-etag-needed"
	AccountNeedsPassword Quirk = "account-needs-password"
	LockoutTold          Quirk = "lockout-told"
	PasswordRefused      Quirk = "password-refused"
	PasswordNotChanged   Quirk = "password-not-changed"
	PasswordCutBefore    Quirk = "password-cut-before"
	PasswordCutAfter     Quirk = "password-cut-after"
	SessionsKept         Quirk = "sessions-kept"
	FactoryPassword      Quirk = "factory-password"
)

const (
	accountPattern  = "PATCH /redfish/v1/AccountService/Accounts/{account}"
	accountsPattern = "/redfish/v1/AccountService/Accounts"
)

var accountOddities = []oddity{
	{Info{NoBasic, "Basic authentication is refused; sessions work.", true}, trait{}},
	{Info{RootNeedsLogin, "The service root is refused without credentials.", true}, trait{
		at: []string{"GET /redfish/v1"}, refuse: func(c *call) error { return c.s.authorize(c.r, c.of) },
	}},
	{Info{NoSessionLink, "The service root has no Links.Sessions.", true}, trait{
		at: []string{"GET /redfish/v1"}, reshape: func(_ *call, body object) { body["Links"] = object{} },
	}},
	{Info{SessionsFull, "A new session is refused with 503, as if others had taken all; the words are the vendor's.", false}, trait{}},
	{Info{SessionMinutes, "SessionTimeout is in minutes.", true}, trait{
		at:      []string{"GET /redfish/v1/SessionService"},
		reshape: func(c *call, body object) { body["SessionTimeout"] = int(c.s.opts.SessionTimeout.Minutes()) },
	}},
	{Info{SporadicDenial, "Right credentials are answered with 401; the session stays.", false}, trait{}},
	{Info{NoAccountService, "The service root has no AccountService.", true}, trait{
		at: []string{"GET /redfish/v1", "* /redfish/v1/AccountService*"},
		refuse: func(c *call) error {
			if c.pattern == "GET /redfish/v1" {
				return nil
			}
			return notFound(c.r.URL.Path)
		},
		reshape: func(_ *call, body object) { delete(body, "AccountService") },
	}},
	{Info{NoAccountList, "The accounts cannot be listed (403); those that are known by their address can be changed.", true}, trait{
		at:     []string{"GET " + accountsPattern},
		refuse: func(*call) error { return fault(http.StatusForbidden, insufficient, "The accounts cannot be listed.") },
	}},
	{Info{NoAccountPost, "Accounts cannot be made.", true}, trait{at: []string{"POST " + accountsPattern}, absent: true}},
	{Info{AccountSlots, "There are 16 fixed accounts; a free one is taken by PATCH and given back with an empty UserName, without POST and DELETE.", true}, trait{
		at: []string{"POST " + accountsPattern, "DELETE " + accountsPattern + "/{account}"}, absent: true,
	}},
	{Info{AccountMessage, "The answer to a new account has a message and no address.", true}, trait{}},
	{Info{AccountETagNeeded, "A PATCH of an account or of the boot override without If-Match is refused with 428; collections have no ETag.", true}, trait{
		at:   []string{accountPattern, "PATCH /redfish/v1/Systems/{system}"},
		when: func(c *call) bool { return c.r.Header.Get("If-Match") == "" },
		refuse: func(*call) error {
			return fault(http.StatusPreconditionRequired, preconditionNeeded, "A change of this resource needs its ETag in If-Match.")
		},
	}},
	{Info{AccountNeedsPassword, "RoleId and Enabled of an account are refused without a Password.", true}, trait{
		at: []string{accountPattern},
		when: func(c *call) bool {
			return c.body["Password"] == nil && slices.ContainsFunc([]string{"RoleId", "Enabled"}, func(name string) bool { return c.body[name] != nil })
		},
		refuse: func(*call) error {
			return faultAt("Password", missingProperty, "The property Password is required with RoleId and Enabled.")
		},
	}},
	{Info{LockoutTold, "The 401 of a locked account says so.", true}, trait{}},
	{Info{PasswordRefused, "A new password is refused as against the policy.", false}, trait{}},
	{Info{PasswordNotChanged, "A new password is answered with 200, and the old one stays.", false}, trait{}},
	{Info{PasswordCutBefore, "A new password's connection is cut, and the old one stays.", false}, trait{}},
	{Info{PasswordCutAfter, "A new password's connection is cut, and the new one holds.", false}, trait{}},
	{Info{SessionsKept, "A new password leaves the account's sessions alone.", true}, trait{}},
	{Info{FactoryPassword, "Everything but sessions is refused with 403 and a message of the vendor's, without an address, until a password is changed.", true}, trait{
		at: []string{"* /redfish/v1/*"},
		when: func(c *call) bool {
			return c.r.Method != http.MethodPatch && !matches("* /redfish/v1/SessionService/*", c.pattern) && !matches("GET "+accountsPattern+"*", c.pattern)
		},
		refuse: func(*call) error {
			return oem(http.StatusForbidden, "IDRAC.2.8.SWC1908", "The default password must be changed before the operation can be performed.")
		},
	}},
}
