package accounts

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Policy is what a BMC wants of passwords and of those who try them. The zero
// value takes every password and never locks.
type Policy struct {
	// MinLength and MaxLength bound passwords, in characters; zero is no bound.
	MinLength, MaxLength int
	// Classes is how many of lower case, upper case, digits and other characters a
	// password needs.
	Classes int
	// Forbidden are characters that a password must not have.
	Forbidden string
	// Reuse is how many of an account's last passwords, the present one included,
	// are refused as new ones.
	Reuse int
	// MinAge is the least time between two changes of a password.
	MinAge time.Duration
	// Threshold is the number of wrong tries that locks an account; zero never does.
	Threshold int
	// Lockout is how long it stays locked; zero is until an administrator unlocks it.
	Lockout time.Duration
	// ResetAfter is when wrong tries are forgotten; Lockout when zero.
	ResetAfter time.Duration
	// ByAddress counts wrong tries by the address that they come from, and locks
	// that one out, whatever account it asks for.
	ByAddress bool
}

// PolicyError is a password that the policy refuses.
type PolicyError struct {
	// Text says which rule it breaks, without the password.
	Text string
}

func (e *PolicyError) Error() string { return e.Text }

func refused(format string, args ...any) error { return &PolicyError{fmt.Sprintf(format, args...)} }

// Check says what is wrong with a password by itself, as a [*PolicyError].
func (p Policy) Check(password string) error {
	length := utf8.RuneCountInString(password)
	switch {
	case length < p.MinLength:
		return refused("the password has fewer than %d characters", p.MinLength)
	case p.MaxLength > 0 && length > p.MaxLength:
		return refused("the password has more than %d characters", p.MaxLength)
	case classes(password) < p.Classes:
		return refused("the password needs %d of lower case, upper case, digits and other characters", p.Classes)
	case p.Forbidden != "" && strings.ContainsAny(password, p.Forbidden):
		return refused("the password has one of the characters %s", p.Forbidden)
	}
	return nil
}

// classes counts the kinds of characters.
func classes(password string) int {
	found := map[string]bool{}
	for _, r := range password {
		switch {
		case unicode.IsLower(r):
			found["lower"] = true
		case unicode.IsUpper(r):
			found["upper"] = true
		case unicode.IsDigit(r):
			found["digit"] = true
		default:
			found["other"] = true
		}
	}
	return len(found)
}
