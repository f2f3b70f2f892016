package credentials

import (
	"context"
	"crypto/x509"
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

// Records reads and writes the record of one host. Reads must not be older than writes
// of the same program; a read that is older than another's write costs a conflict, and
// nothing more.
type Records interface {
	// Record reads the record's data, none if there is no such object, and its version.
	Record(ctx context.Context) (data map[string][]byte, version string, err error)
	// WriteRecord replaces all data of the object if it has that version still, and
	// creates it if the version is empty and there is none; else [ErrConflict]. It
	// returns when the data is as safe as the cluster keeps anything. The object
	// belongs to the host, so that it goes with it.
	WriteRecord(ctx context.Context, version string, data map[string][]byte) (newVersion string, err error)
}

// Store reads and writes the two Secrets of one host. The record is the Secret
// [rotation.RecordName].
type Store interface {
	Records
	// Secret reads the host's Secret. One that is missing is no error.
	Secret(ctx context.Context) (rotation.Secret, error)
	// Promote writes user name and password to the host's Secret, and nothing else of
	// it, if it has that version still; else [ErrConflict].
	Promote(ctx context.Context, version string, login rotation.Login) error
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

// ErrPending is for an issuer that has not signed yet.
var ErrPending = errors.New("not signed yet")

// ErrUnsupported is for a BMC that cannot do what it is asked for, whoever asks.
var ErrUnsupported = errors.New("the BMC cannot do it")

// Issuer signs requests.
type Issuer interface {
	// Sign has a request (PEM) signed, and returns the chain (PEM), the BMC's first, and
	// the authority (PEM) that vouches for it. The same id and request give the same
	// certificate, or one as good, however often it is called. It does not wait:
	// [ErrPending] says that there is none yet.
	Sign(ctx context.Context, id string, request []byte) (chain, ca []byte, err error)
}

// Server is the web server of one BMC. Each call makes one attempt.
type Server interface {
	// Generate has the BMC make a key and a request (PEM) for the names, the first one
	// as its common name. What is served stays as it is.
	Generate(ctx context.Context, names []string) (request []byte, err error)
	// Install has the BMC serve the chain. The answer is never empty.
	Install(ctx context.Context, chain []byte) (rotation.Answer, error)
	// Served makes a handshake on a new connection and returns the leaf that was shown,
	// trusted or not. Nothing is sent.
	Served(ctx context.Context) (*x509.Certificate, error)
}

// Truster keeps how the certificate of one BMC is checked.
type Truster interface {
	// Trust reads it, with the version of where it stands.
	Trust(ctx context.Context) (trust client.Trust, version string, err error)
	// SetTrust writes it if that version holds still; else [ErrConflict].
	SetTrust(ctx context.Context, version string, trust client.Trust) error
}
