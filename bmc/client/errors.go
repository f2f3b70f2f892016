package client

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind says what went wrong, as far as a caller decides on it.
type Kind string

// The kinds of errors.
const (
	// Unreachable: no connection, no answer in time, or a connection that broke.
	Unreachable Kind = "Unreachable"
	// TLS: the BMC's certificate is not trusted, or it speaks no TLS.
	TLS Kind = "TLS"
	// Credentials: user name or password is wrong. No further login is tried.
	Credentials Kind = "Credentials"
	// LockedOut: the BMC has locked the account or the caller out. No further login
	// is tried before RetryAfter.
	LockedOut Kind = "LockedOut"
	// PasswordChange: the password must be changed first. Args hold the account's path.
	PasswordChange Kind = "PasswordChange"
	// Licence: the BMC lacks the licence for what was asked.
	Licence Kind = "Licence"
	// NotSupported: the BMC does not have it (404, 405, 501).
	NotSupported Kind = "NotSupported"
	// Busy: not now (503, 429, no session left).
	Busy Kind = "Busy"
	// NotRedfish: what answers is no Redfish service.
	NotRedfish Kind = "NotRedfish"
	// Broken: an answer that cannot be used: JSON, size, depth, a link or redirect to
	// another place.
	Broken Kind = "Broken"
	// Conflict: changed meanwhile, or in a state that does not allow it (409, 412, 428).
	Conflict Kind = "Conflict"
	// Refused: any other status of 4xx.
	Refused Kind = "Refused"
	// Failed: any other status of 5xx.
	Failed Kind = "Failed"
)

// Error is a call that failed. Nothing in it holds a secret.
type Error struct {
	Kind   Kind
	Method string
	// Path is what was asked for, without host.
	Path string
	// Status is the HTTP status, 0 without an answer.
	Status int
	// MessageID, Message and Args are those of the message that decided, as the BMC
	// sent it: MessageID with its registry, as Base.1.18.PropertyUnknown.
	MessageID string
	Message   string
	Args      []string
	// Resolution is the BMC's own advice, if any.
	Resolution string
	// Messages are all messages of the answer.
	Messages []Message
	// RetryAfter is how long the BMC, or the client on its behalf, wants to be left
	// alone; 0 if nothing was said.
	RetryAfter time.Duration

	cause error
	// reset says that the connection broke before an answer.
	reset bool
}

// Message is one of the messages of an answer (@Message.ExtendedInfo).
type Message struct {
	ID, Text, Resolution, Severity string
	Args                           []string
	// Properties are the RelatedProperties.
	Properties []string
}

// Error says what was asked and what came of it.
func (e *Error) Error() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s: ", e.Method, e.Path)
	switch {
	case e.Message != "":
		text.WriteString(strings.TrimSuffix(e.Message, "."))
	case e.cause != nil:
		text.WriteString(e.cause.Error())
	default:
		text.WriteString(string(e.Kind))
	}
	switch {
	case e.Status != 0 && e.MessageID != "":
		fmt.Fprintf(&text, " (status %d, %s)", e.Status, e.MessageID)
	case e.Status != 0:
		fmt.Fprintf(&text, " (status %d)", e.Status)
	}
	return text.String()
}

// Unwrap returns what went wrong below, if anything.
func (e *Error) Unwrap() error { return e.cause }

// KindOf is the kind of an error of this package, also a wrapped one; empty for others and
// for nil.
func KindOf(err error) Kind {
	if e, is := errors.AsType[*Error](err); is {
		return e.Kind
	}
	return ""
}
