package ironic

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNotFound is returned by Find when no node matches any part of the identity.
var ErrNotFound = errors.New("no Ironic node matches the host by id, name or boot MAC")

// ErrNoInventory is returned by Inventory for a node that was never inspected.
var ErrNoInventory = errors.New("the node has no inventory: it was never inspected")

// Kind says what a failed call means for the caller.
type Kind int

// The kinds of outcome. Accepted is the zero value: no error.
const (
	// Accepted means that Ironic took the request, or that it had been fulfilled before.
	Accepted Kind = iota
	// Busy means that the node is locked or in transition (409): not an error, try
	// again when the node changes. Error.Text names the holder.
	Busy
	// Rejected means that Ironic understood and refused (other 4xx): trying the
	// same again will not help. Error.Text is Ironic's own text.
	Rejected
	// Gone means that the node does not exist (404).
	Gone
	// Unavailable means that Ironic could not be asked, or could not answer: 5xx,
	// no connection, time-out, refused credentials, no live conductor. It never
	// says anything about the host.
	Unavailable
)

var kindNames = [...]string{"accepted", "busy", "rejected", "gone", "unavailable"}

// String returns the kind in one lower-case word, as used in metrics.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", int(k))
	}
	return kindNames[k]
}

// Error is a call that was not accepted.
type Error struct {
	Kind   Kind
	Op     string // the call in words, such as "set provision state deleted"
	Node   string // node's UUID or name; empty for calls without a node
	Text   string // Ironic's text, or what went wrong on the way; secrets removed
	Status int    // HTTP status; 0 when there was no answer
	Err    error  // cause, if it adds something for errors.Is; never printed
}

// Error says what was tried, on which node, and what Ironic answered.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Op)
	if e.Node != "" {
		fmt.Fprintf(&b, " of node %s", e.Node)
	}
	fmt.Fprintf(&b, ": %s", e.Kind)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Text != "" {
		fmt.Fprintf(&b, ": %s", e.Text)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of any error of this package. Nil is Accepted; an
// error that is not an Error (a cancelled context, for instance) is Unavailable,
// since it says nothing about the host.
func KindOf(err error) Kind {
	if err == nil {
		return Accepted
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	if errors.Is(err, ErrNotFound) {
		return Gone
	}
	if _, ok := errors.AsType[*MACConflictError](err); ok {
		return Rejected
	}
	return Unavailable
}

// MACConflictError says that a MAC address of the host is on a port of another
// node that has an owner already.
type MACConflictError struct {
	MAC       string
	OtherNode string // name of the other node, or its UUID when it has none
	OtherID   string // its UUID
}

// Error names both sides of the conflict and the way out.
func (e *MACConflictError) Error() string {
	return fmt.Sprintf("MAC address %s conflicts with existing node %s: correct bootMACAddress, or delete the other host",
		e.MAC, e.OtherNode)
}
