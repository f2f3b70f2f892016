package accounts

import (
	"cmp"
	"crypto/subtle"
	"errors"
	"slices"
	"strconv"
	"time"
)

// Account is a user of a BMC.
type Account struct {
	// ID is the last element of the account's address; a number is found when empty.
	ID string
	// UserName and Password are its credentials.
	UserName, Password string
	// Role is Administrator, Operator or ReadOnly; Administrator when empty.
	Role string
	// Disabled accounts cannot log in.
	Disabled bool
	// ChangeRequired lets the user do nothing but change the password.
	ChangeRequired bool
}

// The roles.
const (
	Administrator = "Administrator"
	Operator      = "Operator"
	ReadOnly      = "ReadOnly"
)

// Errors of changes, besides [*PolicyError].
var (
	ErrExists  = errors.New("there is another account with that name or ID")
	ErrMissing = errors.New("there is no such account")
)

// held is an account with its history.
type held struct {
	Account

	past    []string // passwords, the present one last
	changed time.Time
}

// tries are the wrong ones of an account or an address.
type tries struct {
	count       int
	last, until time.Time // until is set while locked
	forever     bool
}

// Book holds the accounts of one BMC.
type Book struct {
	// Policy may be changed at any time.
	Policy Policy

	list  []*held
	tries map[string]*tries // by account ID, or by address
}

// New makes a book. The first passwords need not meet the policy.
func New(policy Policy, list []Account) (*Book, error) {
	b := &Book{Policy: policy, tries: map[string]*tries{}}
	for _, a := range list {
		if _, err := b.put(a); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Verdict is what comes of a try to log in.
type Verdict int

// The verdicts.
const (
	Wrong Verdict = iota
	Right
	Locked
	Disabled
)

// Login tries credentials from an address, and counts wrong tries.
func (b *Book) Login(user, password, address string, now time.Time) (Account, Verdict) {
	h := b.named(user)
	key := address
	if !b.Policy.ByAddress {
		if h == nil {
			return Account{}, Wrong
		}
		key = h.ID
	}
	if b.locked(key, now) {
		return Account{}, Locked
	}
	if h == nil || subtle.ConstantTimeCompare([]byte(h.Password), []byte(password)) != 1 {
		b.wrong(key, now)
		return Account{}, Wrong
	}
	if h.Disabled {
		return Account{}, Disabled
	}
	delete(b.tries, key)
	return h.Account, Right
}

func (b *Book) wrong(key string, now time.Time) {
	if b.Policy.Threshold == 0 {
		return
	}
	t := b.tries[key]
	forget := cmp.Or(b.Policy.ResetAfter, b.Policy.Lockout)
	if t == nil || (forget > 0 && now.Sub(t.last) > forget) {
		t = &tries{}
		b.tries[key] = t
	}
	t.count, t.last = t.count+1, now
	if t.count >= b.Policy.Threshold {
		t.until, t.forever = now.Add(b.Policy.Lockout), b.Policy.Lockout == 0
	}
}

// locked says whether an account or address is locked out, and forgets what is over.
func (b *Book) locked(key string, now time.Time) bool {
	t := b.tries[key]
	switch {
	case t == nil || (t.until.IsZero() && !t.forever):
		return false
	case t.forever || now.Before(t.until):
		return true
	}
	delete(b.tries, key)
	return false
}

// Locked says whether an account is locked out.
func (b *Book) Locked(id string, now time.Time) bool { return b.locked(id, now) }

// List are the accounts in the order of their making.
func (b *Book) List() []Account {
	list := make([]Account, 0, len(b.list))
	for _, h := range b.list {
		list = append(list, h.Account)
	}
	return list
}

// Get finds an account by its ID.
func (b *Book) Get(id string) (Account, bool) {
	if h := b.byID(id); h != nil {
		return h.Account, true
	}
	return Account{}, false
}

// Find finds an account by its name.
func (b *Book) Find(user string) (Account, bool) {
	if h := b.named(user); h != nil {
		return h.Account, true
	}
	return Account{}, false
}

func (b *Book) byID(id string) *held {
	if i := slices.IndexFunc(b.list, func(h *held) bool { return h.ID == id }); i >= 0 {
		return b.list[i]
	}
	return nil
}

func (b *Book) named(user string) *held {
	if i := slices.IndexFunc(b.list, func(h *held) bool { return h.UserName == user }); i >= 0 {
		return b.list[i]
	}
	return nil
}

// Add makes an account; its password must meet the policy.
func (b *Book) Add(a Account) (Account, error) {
	if err := b.Policy.Check(a.Password); err != nil {
		return Account{}, err
	}
	return b.put(a)
}

func (b *Book) put(a Account) (Account, error) {
	a.Role = cmp.Or(a.Role, Administrator)
	for n := 1; a.ID == ""; n++ {
		if id := strconv.Itoa(n); b.byID(id) == nil {
			a.ID = id
		}
	}
	if b.byID(a.ID) != nil || b.named(a.UserName) != nil {
		return Account{}, ErrExists
	}
	b.list = append(b.list, &held{Account: a, past: []string{a.Password}})
	return a, nil
}

// Remove takes an account away.
func (b *Book) Remove(id string) error {
	if b.byID(id) == nil {
		return ErrMissing
	}
	b.list = slices.DeleteFunc(b.list, func(h *held) bool { return h.ID == id })
	delete(b.tries, id)
	return nil
}

// Change is what shall be other; nil stays.
type Change struct {
	UserName, Password, Role         *string
	Disabled, Unlock, ChangeRequired *bool
}

// Change changes an account, wholly or not at all. A new password must meet the
// policy, and ends the need to change it.
func (b *Book) Change(id string, c Change, now time.Time) error {
	h := b.byID(id)
	if h == nil {
		return ErrMissing
	}
	if c.UserName != nil {
		if other := b.named(*c.UserName); other != nil && other != h {
			return ErrExists
		}
	}
	if c.Password != nil {
		if err := b.fits(h, *c.Password, now); err != nil {
			return err
		}
		h.Password, h.changed, h.ChangeRequired = *c.Password, now, false
		h.past = append(h.past, *c.Password)
	}
	set(&h.UserName, c.UserName)
	set(&h.Role, c.Role)
	set(&h.Disabled, c.Disabled)
	set(&h.ChangeRequired, c.ChangeRequired)
	if c.Unlock != nil && *c.Unlock {
		delete(b.tries, id)
	}
	return nil
}

func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}

// fits checks a new password against the policy and the account's history.
func (b *Book) fits(h *held, password string, now time.Time) error {
	if err := b.Policy.Check(password); err != nil {
		return err
	}
	last := h.past[max(0, len(h.past)-b.Policy.Reuse):]
	switch {
	case b.Policy.Reuse > 0 && slices.Contains(last, password):
		return refused("the password is one of the last %d", b.Policy.Reuse)
	case !h.changed.IsZero() && now.Sub(h.changed) < b.Policy.MinAge:
		return refused("the password was changed less than %s ago", b.Policy.MinAge)
	}
	return nil
}

// Force sets a password without asking the policy, as somebody at the console does.
func (b *Book) Force(user, password string) error {
	h := b.named(user)
	if h == nil {
		return ErrMissing
	}
	h.Password = password
	h.past = append(h.past, password)
	return nil
}
