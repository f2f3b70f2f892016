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

// Service holds the accounts of one BMC.
type Service struct {
	// Policy may be changed at any time.
	Policy Policy

	list  []*held
	tries map[string]*tries // by account ID, or by address
}

// New makes a book. The first passwords need not meet the policy.
func New(policy Policy, list []Account) (*Service, error) {
	s := &Service{Policy: policy, tries: map[string]*tries{}}
	for _, a := range list {
		if _, err := s.put(a); err != nil {
			return nil, err
		}
	}
	return s, nil
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
func (s *Service) Login(user, password, address string, now time.Time) (Account, Verdict) {
	h := s.named(user)
	key := address
	if !s.Policy.ByAddress {
		if h == nil {
			return Account{}, Wrong
		}
		key = h.ID
	}
	if s.locked(key, now) {
		return Account{}, Locked
	}
	if h == nil || subtle.ConstantTimeCompare([]byte(h.Password), []byte(password)) != 1 {
		s.wrong(key, now)
		return Account{}, Wrong
	}
	if h.Disabled {
		return Account{}, Disabled
	}
	delete(s.tries, key)
	return h.Account, Right
}

func (s *Service) wrong(key string, now time.Time) {
	if s.Policy.Threshold == 0 {
		return
	}
	t := s.tries[key]
	forget := cmp.Or(s.Policy.ResetAfter, s.Policy.Lockout)
	if t == nil || (forget > 0 && now.Sub(t.last) > forget) {
		t = &tries{}
		s.tries[key] = t
	}
	t.count, t.last = t.count+1, now
	if t.count >= s.Policy.Threshold {
		t.until, t.forever = now.Add(s.Policy.Lockout), s.Policy.Lockout == 0
	}
}

// locked says whether an account or address is locked out, and forgets what is over.
func (s *Service) locked(key string, now time.Time) bool {
	t := s.tries[key]
	switch {
	case t == nil || (t.until.IsZero() && !t.forever):
		return false
	case t.forever || now.Before(t.until):
		return true
	}
	delete(s.tries, key)
	return false
}

// Locked says whether an account is locked out.
func (s *Service) Locked(id string, now time.Time) bool { return s.locked(id, now) }

// List are the accounts in the order of their making.
func (s *Service) List() []Account {
	list := make([]Account, 0, len(s.list))
	for _, h := range s.list {
		list = append(list, h.Account)
	}
	return list
}

// Get finds an account by its ID.
func (s *Service) Get(id string) (Account, bool) {
	if h := s.byID(id); h != nil {
		return h.Account, true
	}
	return Account{}, false
}

// Find finds an account by its name.
func (s *Service) Find(user string) (Account, bool) {
	if h := s.named(user); h != nil {
		return h.Account, true
	}
	return Account{}, false
}

func (s *Service) byID(id string) *held {
	if i := slices.IndexFunc(s.list, func(h *held) bool { return h.ID == id }); i >= 0 {
		return s.list[i]
	}
	return nil
}

func (s *Service) named(user string) *held {
	if i := slices.IndexFunc(s.list, func(h *held) bool { return h.UserName == user }); i >= 0 {
		return s.list[i]
	}
	return nil
}

// Add makes an account; its password must meet the policy.
func (s *Service) Add(a Account) (Account, error) {
	if err := s.Policy.Check(a.Password); err != nil {
		return Account{}, err
	}
	return s.put(a)
}

func (s *Service) put(a Account) (Account, error) {
	a.Role = cmp.Or(a.Role, Administrator)
	for n := 1; a.ID == ""; n++ {
		if id := strconv.Itoa(n); s.byID(id) == nil {
			a.ID = id
		}
	}
	if s.byID(a.ID) != nil || s.named(a.UserName) != nil {
		return Account{}, ErrExists
	}
	s.list = append(s.list, &held{Account: a, past: []string{a.Password}})
	return a, nil
}

// Remove takes an account away.
func (s *Service) Remove(id string) error {
	if s.byID(id) == nil {
		return ErrMissing
	}
	s.list = slices.DeleteFunc(s.list, func(h *held) bool { return h.ID == id })
	delete(s.tries, id)
	return nil
}

// Change is what shall be other; nil stays.
type Change struct {
	UserName, Password, Role         *string
	Disabled, Unlock, ChangeRequired *bool
}

// Change changes an account, wholly or not at all. A new password must meet the
// policy, and ends the need to change it.
func (s *Service) Change(id string, c Change, now time.Time) error {
	h := s.byID(id)
	if h == nil {
		return ErrMissing
	}
	if c.UserName != nil {
		if other := s.named(*c.UserName); other != nil && other != h {
			return ErrExists
		}
	}
	if c.Password != nil {
		if err := s.fits(h, *c.Password, now); err != nil {
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
		delete(s.tries, id)
	}
	return nil
}

func set[T any](into, value *T) {
	if value != nil {
		*into = *value
	}
}

// fits checks a new password against the policy and the account's history.
func (s *Service) fits(h *held, password string, now time.Time) error {
	if err := s.Policy.Check(password); err != nil {
		return err
	}
	last := h.past[max(0, len(h.past)-s.Policy.Reuse):]
	switch {
	case s.Policy.Reuse > 0 && slices.Contains(last, password):
		return refused("the password is one of the last %d", s.Policy.Reuse)
	case !h.changed.IsZero() && now.Sub(h.changed) < s.Policy.MinAge:
		return refused("the password was changed less than %s ago", s.Policy.MinAge)
	}
	return nil
}

// Force sets a password without asking the policy, as somebody at the console does.
func (s *Service) Force(user, password string) error {
	h := s.named(user)
	if h == nil {
		return ErrMissing
	}
	h.Password = password
	h.past = append(h.past, password)
	return nil
}
