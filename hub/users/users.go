// Package users tells who a user of the hub's REST API is, by the token that comes with a
// request, and which role that user has. [List] is a file of users.
package users

import (
	"context"
	"errors"
	"slices"
)

// Role is what a user may do.
type Role string

// The roles, by the protocol's names.
const (
	// Admin does everything with everything.
	Admin Role = "admin"
	// ReadOnly reads everything, but nothing that opens a cluster.
	ReadOnly Role = "read-only-admin"
	// Owner does everything with the clusters and infra-envs that it has made.
	Owner Role = "user"
)

// Roles are all roles.
var Roles = []Role{Admin, ReadOnly, Owner}

// May tells whether the role opens an operation for which the protocol names these roles;
// none at all means those that change something.
func (r Role) May(named []string) bool {
	if r == Admin {
		return true
	}
	if named == nil {
		return r == Owner
	}
	return slices.Contains(named, string(r))
}

// User is one who calls.
type User struct {
	// Name is the user's: objects that a user makes carry it.
	Name string
	Role Role
}

// ErrUnknown means that the token is nobody's.
var ErrUnknown = errors.New("it is no user's token")

// Directory finds out whose a token is. It returns [ErrUnknown] for nobody's; any other
// error means that it could not find out.
type Directory interface {
	User(ctx context.Context, token string) (User, error)
}

// All asks one after the other. One that cannot find out does not hold up those that can.
func All(directories ...Directory) Directory { return all(directories) }

type all []Directory

// User implements [Directory].
func (a all) User(ctx context.Context, token string) (User, error) {
	problem := ErrUnknown
	for _, d := range a {
		u, err := d.User(ctx, token)
		if err == nil {
			return u, nil
		}
		if !errors.Is(err, ErrUnknown) {
			problem = err
		}
	}
	return User{}, problem
}
