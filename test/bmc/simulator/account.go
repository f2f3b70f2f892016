package simulator

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
)

var accountRoutes = map[string]handler{
	"GET /redfish/v1/AccountService":                       getAccountService,
	"PATCH /redfish/v1/AccountService":                     patchAccountService,
	"GET /redfish/v1/AccountService/Roles":                 listRoles,
	"GET /redfish/v1/AccountService/Roles/{role}":          getRole,
	"GET /redfish/v1/AccountService/Accounts":              listAccounts,
	"POST /redfish/v1/AccountService/Accounts":             createAccount,
	"GET /redfish/v1/AccountService/Accounts/{account}":    getAccount,
	"PATCH /redfish/v1/AccountService/Accounts/{account}":  patchAccount,
	"DELETE /redfish/v1/AccountService/Accounts/{account}": deleteAccount,
}

// accountSlots are the fixed accounts of a BMC with [AccountSlots]; the first is reserved.
const accountSlots = 16

// accountPath is the address of an account.
func accountPath(id string) string { return path("AccountService", "Accounts", id) }

func getAccountService(c *call) (reply, error) {
	p := c.s.accounts.Policy
	body := resource("AccountService.v1_15_1.AccountService", "AccountService", "Account Service", path("AccountService"), object{
		"ServiceEnabled": true, "Status": status("OK"), "MinPasswordLength": p.MinLength, "Accounts": link("AccountService", "Accounts"),
		"Roles": link("AccountService", "Roles"), "AccountLockoutThreshold": p.Threshold, "AccountLockoutDuration": int(p.Lockout.Seconds()),
	})
	if p.MaxLength > 0 {
		body["MaxPasswordLength"] = p.MaxLength
	}
	if p.ResetAfter > 0 {
		body["AccountLockoutCounterResetAfter"] = int(p.ResetAfter.Seconds())
	}
	return ok(body)
}

func patchAccountService(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	p := c.s.accounts.Policy
	for name, value := range c.body {
		number, isNumber := value.(float64)
		if !isNumber || number < 0 {
			return reply{}, faultAt(name, wrongType, "The value '%v' for the property %s is of a different type than the property can accept.", value, name)
		}
		switch name {
		case "MinPasswordLength":
			p.MinLength = int(number)
		case "AccountLockoutThreshold":
			p.Threshold = int(number)
		case "AccountLockoutDuration":
			p.Lockout = time.Duration(number) * time.Second
		default:
			return reply{}, faultAt(name, unknownProperty, "The property %s is not in the list of valid properties.", name)
		}
	}
	c.s.accounts.Policy = p
	return done()
}

func listAccounts(c *call) (reply, error) {
	var ids []string
	for _, a := range c.s.accounts.List() {
		ids = append(ids, a.ID)
	}
	if c.of.has(AccountSlots) {
		ids = nil
		for n := range accountSlots {
			ids = append(ids, strconv.Itoa(n+1))
		}
	}
	return ok(collection("ManagerAccount", "Accounts", path("AccountService", "Accounts"), links(ids, "AccountService", "Accounts")))
}

func (c *call) accountObject(a accounts.Account) object {
	role := object{}
	if a.Role != "" {
		role = object{"Role": link("AccountService", "Roles", a.Role)}
	}
	return resource("ManagerAccount.v1_12_1.ManagerAccount", a.ID, "User account "+a.ID, accountPath(a.ID), object{
		"UserName": a.UserName, "Password": nil, "RoleId": a.Role, "Enabled": !a.Disabled, "Locked": c.s.accounts.Locked(a.ID, time.Now()),
		"PasswordChangeRequired": a.ChangeRequired, "AccountTypes": []string{"Redfish"}, "Links": role,
	})
}

// account finds the account of the request, a free slot included; the lock is held.
func (c *call) account() (a accounts.Account, free bool, err error) {
	id := c.r.PathValue("account")
	if a, found := c.s.accounts.Get(id); found {
		return a, false, nil
	}
	if n, err := strconv.Atoi(id); err == nil && c.of.has(AccountSlots) && n >= 1 && n <= accountSlots {
		return accounts.Account{ID: id, Disabled: true, Role: ""}, true, nil
	}
	return accounts.Account{}, false, notFound(c.r.URL.Path)
}

func getAccount(c *call) (reply, error) {
	a, _, err := c.account()
	if err != nil {
		return reply{}, err
	}
	return ok(c.accountObject(a))
}

func createAccount(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	change, err := c.accountChange()
	if err != nil {
		return reply{}, err
	}
	if change.UserName == nil || change.Password == nil {
		return reply{}, faultAt("UserName", missingProperty, "The properties UserName and Password are required.")
	}
	a, err := c.s.accounts.Add(newAccount("", change))
	if err != nil {
		return reply{}, accountFault(err)
	}
	made := reply{status: http.StatusCreated, location: accountPath(a.ID), body: c.accountObject(a)}
	if c.of.has(AccountMessage) {
		made.location, made.body = "", object{"error": object{
			"code": "iLO.0.10.ExtendedInfo", "message": "See @Message.ExtendedInfo for more information.",
			"@Message.ExtendedInfo": []object{{"MessageId": "Base.1.18.Created"}},
		}}
	}
	return made, nil
}

// newAccount is an account as a request describes it.
func newAccount(id string, change accounts.Change) accounts.Account {
	a := accounts.Account{ID: id, UserName: *change.UserName, Password: *change.Password}
	if change.Role != nil {
		a.Role = *change.Role
	}
	if change.Disabled != nil {
		a.Disabled = *change.Disabled
	}
	if change.ChangeRequired != nil {
		a.ChangeRequired = *change.ChangeRequired
	}
	return a
}

// accountChange reads what the request wants of an account.
func (c *call) accountChange() (accounts.Change, error) {
	var change accounts.Change
	for name, value := range c.body {
		text, isText := value.(string)
		flag, isFlag := value.(bool)
		wrong := faultAt(name, wrongType, "The value for the property %s is of a different type than the property can accept.", name)
		switch name {
		case "UserName", "Password", "RoleId":
			if !isText {
				return change, wrong
			}
			*map[string]**string{"UserName": &change.UserName, "Password": &change.Password, "RoleId": &change.Role}[name] = &text
		case "Enabled", "Locked", "PasswordChangeRequired":
			if !isFlag {
				return change, wrong
			}
			flag = flag != (name != "PasswordChangeRequired") // Enabled false disables, Locked false unlocks
			*map[string]**bool{"Enabled": &change.Disabled, "Locked": &change.Unlock, "PasswordChangeRequired": &change.ChangeRequired}[name] = &flag
		case "AccountTypes", "Description", "@odata.etag", "@odata.id":
		default:
			return change, faultAt(name, unknownProperty, "The property %s is not in the list of valid properties.", name)
		}
	}
	if change.Role != nil && privileges[*change.Role] == nil {
		return change, faultAt("RoleId", wrongValue, "The value '%s' for the property RoleId is not in the list of acceptable values.", *change.Role)
	}
	return change, nil
}

// accountFault is what the service has against a change, as an answer.
func accountFault(err error) error {
	if policy, is := errors.AsType[*accounts.PolicyError](err); is {
		return faultAt("Password", wrongFormat, "The value for the property Password is of a different format than the property can accept: %s.", policy.Text)
	}
	if errors.Is(err, accounts.ErrExists) {
		return faultAt("UserName", alreadyExists, "The requested resource of type ManagerAccount with the property UserName already exists.")
	}
	return err
}

func patchAccount(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	a, free, err := c.account()
	if err != nil {
		return reply{}, err
	}
	change, err := c.accountChange()
	switch {
	case err != nil:
		return reply{}, err
	case free:
		return c.fillSlot(a.ID, change)
	case change.UserName != nil && *change.UserName == "" && c.of.has(AccountSlots):
		c.s.endSessions(a.ID)
		return reply{status: http.StatusOK, body: success()}, c.s.accounts.Remove(a.ID)
	case change.Password != nil:
		return c.changePassword(a, change)
	}
	if err := c.s.accounts.Change(a.ID, change, time.Now()); err != nil {
		return reply{}, accountFault(err)
	}
	return c.changed(a.ID), nil
}

// changed answers with the account as it is now; the lock is held.
func (c *call) changed(id string) reply {
	a, _ := c.s.accounts.Get(id)
	body := c.accountObject(a)
	body["@Message.ExtendedInfo"] = success()["@Message.ExtendedInfo"]
	return reply{status: http.StatusOK, body: body}
}

// changePassword is a change that brings a new password, with all that can go
// wrong with one; the lock is held.
func (c *call) changePassword(a accounts.Account, change accounts.Change) (reply, error) {
	switch {
	case c.of.strikes(PasswordCutBefore):
		return reply{}, errCut
	case c.of.strikes(PasswordRefused):
		return reply{}, accountFault(&accounts.PolicyError{Text: "it is too simple"})
	case c.of.strikes(PasswordNotChanged):
		return reply{status: http.StatusOK, body: success()}, nil
	}
	apply := func() error {
		if err := c.s.accounts.Change(a.ID, change, time.Now()); err != nil {
			return accountFault(err)
		}
		if c.of.has(FactoryPassword) {
			c.of.quirks[FactoryPassword] = 0
		}
		if !c.of.has(SessionsKept) {
			c.s.endSessions(a.ID)
		}
		return nil
	}
	if err := apply(); err != nil {
		return reply{}, err
	}
	if c.of.strikes(PasswordCutAfter) {
		return reply{}, errCut
	}
	return c.changed(a.ID), nil
}

// fillSlot makes an account of a free slot; the lock is held.
func (c *call) fillSlot(id string, change accounts.Change) (reply, error) {
	if id == "1" || change.UserName == nil || change.Password == nil || *change.UserName == "" {
		return reply{}, faultAt("UserName", readOnlyProperty, "The slot %s takes an account only with UserName and Password together, and the first one takes none.", id)
	}
	if _, err := c.s.accounts.Add(newAccount(id, change)); err != nil {
		return reply{}, accountFault(err)
	}
	return c.changed(id), nil
}

// success is the body of an answer that has nothing to say.
func success() object {
	return object{"@Message.ExtendedInfo": []object{{
		"@odata.type": "#Message.v1_1_2.Message", "MessageId": "Base.1.18.Success", "Message": "The request completed successfully.",
		"MessageSeverity": "OK", "Severity": "OK", "Resolution": "None.",
	}}}
}

func deleteAccount(c *call) (reply, error) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	a, free, err := c.account()
	list := c.s.accounts.List()
	admins := slices.DeleteFunc(list, func(a accounts.Account) bool { return a.Role != accounts.Administrator })
	switch {
	case err != nil:
		return reply{}, err
	case free || len(admins) == 1 && admins[0].ID == a.ID:
		return reply{}, fault(http.StatusBadRequest, notAllowed, "The account %s cannot be removed.", a.ID)
	}
	c.s.endSessions(a.ID)
	return reply{status: http.StatusNoContent}, c.s.accounts.Remove(a.ID)
}
