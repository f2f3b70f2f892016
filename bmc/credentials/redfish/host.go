package redfish

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path"
	"strings"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/bmc/lenient"
)

// Host is the BMC of one host.
type Host struct {
	Pool *client.Pool
	// Key is the BMC's in the pool.
	Key string
	// Target is how the BMC is reached; its credentials are those of each call.
	Target client.Target
	// Known is the account's path of the BMC's report, if it says one.
	Known string
	// Attributes says that a change that the BMC demands goes through Dell's
	// attributes (password.Limits has it).
	Attributes bool
}

var _ credentials.BMC = (*Host)(nil)

const (
	root = "/redfish/v1/"
	// standardAccounts is where accounts are on nearly every BMC.
	standardAccounts = root + "AccountService/Accounts"
	// mostAccounts bounds the search; the largest table that we know has 40.
	mostAccounts = 64
	// dellUser is the account that iDRACs come with.
	dellUser, dellAccount = "root", "/redfish/v1/AccountService/Accounts/2"
)

// Two places of the attributes of an iDRAC: the newer first.
var dellAttributes = []string{
	"/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/DellAttributes/iDRAC.Embedded.1",
	"/redfish/v1/Managers/iDRAC.Embedded.1/Attributes",
}

// as is the client with a login.
func (h *Host) as(login rotation.Login) (*client.Client, error) {
	target := h.Target
	target.Username, target.Password = login.Username, login.Password
	return h.Pool.Client(h.Key, target)
}

// Account implements [credentials.BMC].
func (h *Host) Account(ctx context.Context, login rotation.Login) (string, rotation.Route, error) {
	c, err := h.as(login)
	if err != nil {
		return "", rotation.ByAccount, err
	}
	found, err := h.find(ctx, c, login.Username)
	switch kind := client.KindOf(err); {
	case err == nil:
		return found, rotation.ByAccount, nil
	case kind == client.PasswordChange && h.Attributes && login.Username == dellUser:
		return dellAccount, rotation.ByAttributes, nil
	case kind == client.PasswordChange:
		if e, is := errors.AsType[*client.Error](err); is && len(e.Args) > 0 && strings.HasPrefix(e.Args[0], root) {
			return e.Args[0], rotation.ByAccount, nil
		}
	case kind == client.Credentials:
		h.Pool.Drop(h.Key) // what it remembers of the login would outlive the next password
	}
	return "", rotation.ByAccount, err
}

// account is the part of a ManagerAccount that is needed.
type account struct {
	UserName lenient.String
}

// find looks for the user's account: at the known path, by the list, and at the path
// that the user's name gives where nobody may list.
func (h *Host) find(ctx context.Context, c *client.Client, username string) (string, error) {
	if h.Known != "" {
		return h.Known, h.demanded(ctx, c)
	}
	collection, err := accountsPath(ctx, c)
	if err != nil {
		return "", err
	}
	members, _, err := c.Members(ctx, collection, mostAccounts)
	if kind := client.KindOf(err); kind == client.Refused || kind == client.NotSupported {
		guess := collection + "/" + username
		if path.Base(guess) != username {
			return "", err
		}
		if got := c.Get(ctx, guess, &account{}); got != nil {
			return "", fmt.Errorf("list the accounts: %w", err)
		}
		return guess, nil
	}
	if err != nil {
		return "", err
	}
	for _, member := range members {
		var a account
		switch err := c.Get(ctx, member, &a); {
		case client.KindOf(err) == client.NotSupported: // a slot that is listed and not there
		case err != nil:
			return "", err
		case string(a.UserName) == username:
			return member, h.demanded(ctx, c)
		}
	}
	return "", fmt.Errorf("no account of %s is for user %q", collection, username)
}

// demanded is an error of kind PasswordChange from a BMC that does nothing before the
// password is changed, though it shows its accounts. Only an iDRAC has another way
// then; others are not asked.
func (h *Host) demanded(ctx context.Context, c *client.Client) error {
	if !h.Attributes {
		return nil
	}
	if err := c.Get(ctx, root+"Systems", &struct{}{}); client.KindOf(err) == client.PasswordChange {
		return err
	}
	return nil
}

// accountsPath is the collection of accounts.
func accountsPath(ctx context.Context, c *client.Client) (string, error) {
	var service struct{ AccountService lenient.Link }
	if err := c.Get(ctx, root, &service); err != nil {
		return "", err
	}
	if service.AccountService.Path == "" {
		return "", errors.New("the BMC has no AccountService: change the password by hand")
	}
	var accounts struct{ Accounts lenient.Link }
	switch err := c.Get(ctx, service.AccountService.Path, &accounts); {
	case client.KindOf(err) == client.Refused, err == nil && accounts.Accounts.Path == "":
		return standardAccounts, nil
	case err != nil:
		return "", err
	}
	return accounts.Accounts.Path, nil
}

// SetPassword implements [credentials.BMC].
func (h *Host) SetPassword(ctx context.Context, change credentials.Change) (rotation.Answer, error) {
	c, err := h.as(change.Login)
	if err != nil {
		return rotation.NotSent, err
	}
	// A map of strings: a client.Secret would write itself as redacted.
	paths, body := []string{change.Account}, map[string]any{"Password": string(change.Password)}
	if change.Route == rotation.ByAttributes {
		key := "Users." + path.Base(change.Account) + ".Password"
		paths, body = dellAttributes, map[string]any{"Attributes": map[string]string{key: string(change.Password)}}
	}
	// The read logs in, so that a login that fails is not taken for a change that did,
	// and it brings the tag that some BMCs demand.
	if change.Route == rotation.ByAccount {
		if err := c.Get(ctx, change.Account, &struct{}{}); err != nil && !readable(err) {
			return h.after(rotation.NotSent, err)
		}
	}
	for _, at := range paths {
		if _, err = c.Patch(ctx, at, body); client.KindOf(err) != client.NotSupported {
			break
		}
	}
	return h.after(becameOf(err), err)
}

// readable reports a read that was refused to a user that was let in.
func readable(err error) bool {
	switch client.KindOf(err) {
	case client.Refused, client.NotSupported, client.PasswordChange, client.Licence:
		return true
	default:
		return false
	}
}

// after is what became of a change. What the client remembers of a login that was
// refused would outlive the next password; and whoever else reads with it would log in
// again with the one before, once the BMC has ended its session.
func (h *Host) after(answer rotation.Answer, err error) (rotation.Answer, error) {
	switch client.KindOf(err) {
	case client.Credentials:
		answer = rotation.Unauthorized
	case client.LockedOut:
		answer = rotation.LockedOut
	default:
	}
	if answer != rotation.NotSent {
		h.Pool.Drop(h.Key)
	}
	return answer, err
}

// becameOf says what became of a change, by its error. A status of 5xx may come of a
// change that was made.
func becameOf(err error) rotation.Answer {
	if err == nil {
		return rotation.Accepted
	}
	e, is := errors.AsType[*client.Error](err)
	switch {
	case !is:
		return rotation.NoAnswer
	case e.Status == 0 && neverSent(e):
		return rotation.NotSent
	case e.Status >= http.StatusBadRequest && e.Status < http.StatusInternalServerError, e.Status == http.StatusNotImplemented:
		return rotation.Refused
	}
	return rotation.NoAnswer
}

// neverSent reports a request that found no connection: the client has kept it back
// itself, or it has failed in dialing or in the handshake.
func neverSent(e *client.Error) bool {
	if e.Kind == client.TLS || e.Kind == client.Busy || e.Unwrap() == nil {
		return true
	}
	dial, is := errors.AsType[*net.OpError](error(e))
	return is && dial.Op == "dial"
}

// Login implements [credentials.BMC].
func (h *Host) Login(ctx context.Context, login rotation.Login) (rotation.Verdict, error) {
	c, err := h.as(login)
	if err != nil {
		return rotation.Unsure, err
	}
	err = c.Verify(ctx, login.Password)
	switch client.KindOf(err) {
	case client.Credentials:
		return rotation.Wrong, err
	case client.LockedOut:
		return rotation.Locked, err
	case client.PasswordChange:
		return rotation.Right, nil // it is right, and to be changed
	default:
	}
	if err != nil {
		return rotation.Unsure, err
	}
	return rotation.Right, nil
}
