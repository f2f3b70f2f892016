package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
	"github.com/ironflow/ironflow/bmc/probe"
)

// Kinds of failures beside those of bmc/client.
const (
	kindInterrupted client.Kind = "Interrupted"
	kindTimeout     client.Kind = "Timeout"
	kindNoSystem    client.Kind = "NoSystem"
	kindWrongSystem client.Kind = "WrongSystem"
	kindAddress     client.Kind = "Address"
	kindOther       client.Kind = "Other"
)

// nextSteps say what to do, by kind. docs/bmc.md has this table.
var nextSteps = map[client.Kind]string{
	client.Unreachable:    "check address and port, the way to the BMC's network, and that Redfish is switched on",
	client.TLS:            "trust its authority with --ca-file or its certificate with --pin, or look at it with --insecure",
	client.Credentials:    "correct user name and password; nothing more was tried, so that the account is not locked",
	client.LockedOut:      "wait until the lock ends, then try with the right password",
	client.PasswordChange: "change the password at the BMC first: until then it does nothing else",
	client.Licence:        "install the licence that it names",
	client.NotSupported:   "look whether this BMC has Redfish at all, and whether the system of the address exists",
	client.Busy:           "try again in a minute; if it stays, end sessions that nobody uses, or restart the BMC",
	client.NotRedfish:     "check address and port: a web server answers, but no Redfish service",
	client.Broken:         "update the BMC's firmware: its answer cannot be used",
	client.Conflict:       "try again when the BMC is done with its present work",
	client.Refused:        "give the account the right to read, or use an administrator's",
	client.Failed:         "try again; if it stays, restart the BMC",
	kindInterrupted:       "start it again",
	kindTimeout:           "raise --timeout, or lower --requests",
	kindNoSystem:          "look whether this is the BMC of a server: an enclosure's or a switch's has no system",
	kindWrongSystem:       "write one of the systems that are named into the address, or leave its path out",
	kindAddress:           "correct the line of the list",
	kindOther:             "look at the message",
}

// failed describes an error.
func failed(name string, err error) *failure {
	kind := kindOf(err)
	return &failure{Address: name, Kind: string(kind), Message: tidy(err.Error()), Next: nextSteps[kind]}
}

func kindOf(err error) client.Kind {
	switch {
	case errors.Is(err, errTooLong):
		return kindTimeout
	case errors.Is(err, context.Canceled):
		return kindInterrupted
	case errors.Is(err, probe.ErrNoSystem):
		return kindNoSystem
	case errors.Is(err, errAddress):
		return kindAddress
	case errors.Is(err, probe.ErrWrongSystem):
		return kindWrongSystem
	case errors.Is(err, probe.ErrNotRedfish):
		return client.NotRedfish
	}
	if kind := client.KindOf(err); nextSteps[kind] != "" {
		return kind
	}
	return kindOther
}

// tidy is a text in one line without what would command a terminal.
func tidy(text string) string {
	return strings.Join(strings.Fields(lenient.Printable(text)), " ")
}
