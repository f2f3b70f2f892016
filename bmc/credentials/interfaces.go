package credentials

import (
	"context"
	"errors"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// ErrConflict is for a write whose object has changed since it was read. Nothing was
// written; the pass reads anew and decides again.
var ErrConflict = errors.New("changed meanwhile")

// ErrNoNode is for a host that Ironic has no node of: it is detached, or not enrolled
// yet. There is nobody to be told.
var ErrNoNode = errors.New("the host has no node")

// Store reads and writes the two Secrets of one host. Reads must not be older than
// writes of the same program; a read that is older than another's write costs a
// conflict, and nothing more.
type Store interface {
	// Secret reads the host's Secret. One that is missing is no error.
	Secret(ctx context.Context) (rotation.Secret, error)
	// Promote writes user name and password to the host's Secret, and nothing else of
	// it, if it has that version still; else [ErrConflict].
	Promote(ctx context.Context, version string, login rotation.Login) error
	// Record reads the Secret of the record ([rotation.RecordName]): its data, none if
	// it is missing, and its version.
	Record(ctx context.Context) (data map[string][]byte, version string, err error)
	// WriteRecord replaces all data of that Secret if it has that version still, and
	// creates it if the version is empty and there is none; else [ErrConflict]. It
	// returns when the data is as safe as the cluster keeps anything. The Secret
	// belongs to the host, so that it goes with it.
	WriteRecord(ctx context.Context, version string, data map[string][]byte) (newVersion string, err error)
}

// Change is a new password for an account.
type Change struct {
	// Login is what the BMC has now.
	Login rotation.Login
	// Account is the path that [BMC.Account] has found, and Route the way.
	Account string
	Route   rotation.Route
	// Password is the new one.
	Password client.Secret
}

// BMC is the BMC of one host. Each call makes one attempt and repeats nothing.
type BMC interface {
	// Account finds the path of the login's account, and the way on which it takes a
	// new password.
	Account(ctx context.Context, login rotation.Login) (path string, route rotation.Route, err error)
	// SetPassword asks for the change. The answer is never empty; an error says more
	// about one that is not Accepted. What may have reached the account is NoAnswer.
	SetPassword(ctx context.Context, change Change) (rotation.Answer, error)
	// Login proves a login: it opens a new session, reads with it, and ends it. The
	// verdict is never empty; an error says more about one that is not Right.
	Login(ctx context.Context, login rotation.Login) (rotation.Verdict, error)
}

// Node is Ironic's node of one host.
type Node interface {
	// Tell writes the login to the node's driver_info. Telling the same again is fine.
	// It fails with [ErrNoNode] if there is none.
	Tell(ctx context.Context, login rotation.Login) error
	// Prove has Ironic read something from the BMC that it does not keep, such as the
	// boot device, so that it logs in with what it was told. Whether driver_info is
	// complete, or what power state Ironic remembers, proves nothing.
	Prove(ctx context.Context) (rotation.Verdict, error)
}
