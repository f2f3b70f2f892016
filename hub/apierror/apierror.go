// Package apierror is how the hub says no: an [Error] with the status code of
// the protocol and a text for people, and [Code], which tells the code that any
// error of the hub means. What may pass by itself is 503, so that agents ask
// again; the other codes are final.
package apierror

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/ironflow/ironflow/hub/rules"
	"github.com/ironflow/ironflow/hub/store"
)

// Error is a refusal with the status code of the protocol. Its text is for
// people and says what to do.
type Error struct {
	// Code is an HTTP status: 400, 403, 404, 408, 409 or 503.
	Code   int
	Reason string
	// Field is the member of the request that is wrong, and the beginning of the
	// reason: who knows the setting by another name can put that in its place.
	Field string
}

// Error implements error.
func (e *Error) Error() string { return e.Reason }

// New is a refusal with that code.
func New(code int, format string, args ...any) error {
	return &Error{Code: code, Reason: fmt.Sprintf(format, args...)}
}

// BadRequest refuses what nobody could do.
func BadRequest(format string, args ...any) error {
	return New(http.StatusBadRequest, format, args...)
}

// Field refuses a member of a request: "base_dns_domain: want …".
func Field(member, format string, args ...any) error {
	return &Error{Code: http.StatusBadRequest, Reason: member + ": " + fmt.Sprintf(format, args...), Field: member}
}

// Missing refuses a request without a member that has to be there.
func Missing(member, format string, args ...any) error {
	return &Error{Code: http.StatusBadRequest, Reason: member + " is required: " + fmt.Sprintf(format, args...), Field: member}
}

// Value refuses what a member holds, and repeats that: it must be no secret.
func Value(member, value, format string, args ...any) error {
	return &Error{Code: http.StatusBadRequest, Reason: fmt.Sprintf("%s %.80q: ", member, value) + fmt.Sprintf(format, args...), Field: member}
}

// NotFound refuses because there is no such record.
func NotFound(format string, args ...any) error {
	return New(http.StatusNotFound, format, args...)
}

// Conflict refuses what the record's status does not allow.
func Conflict(format string, args ...any) error {
	return New(http.StatusConflict, format, args...)
}

// Later refuses what the record's status does not allow for now: agents ask again.
func Later(format string, args ...any) error {
	return New(http.StatusServiceUnavailable, format, args...)
}

// IsLater reports whether the record's status does not allow it for now. That the hub has
// too much to do, or its store does not answer, is another thing.
func IsLater(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == http.StatusServiceUnavailable
}

// ErrUnavailable means that the same call may work in a moment.
var ErrUnavailable = errors.New("the hub is not available")

// BusyError refuses what the hub would not get through in time.
type BusyError struct {
	// After is when the caller may come again: a moment of its own.
	After time.Duration
}

// Error implements error.
func (e *BusyError) Error() string {
	return fmt.Sprintf("the hub has more to do than it gets through; ask again in %d s", e.Seconds())
}

// Unwrap tells that the same call may work later.
func (e *BusyError) Unwrap() error { return ErrUnavailable }

// Seconds is when the caller may come again, as Retry-After says it: at least one.
func (e *BusyError) Seconds() int64 { return int64(max(e.After-1, 0)/time.Second) + 1 }

// Code is the HTTP status that an error of the hub means; 503 for those that
// may pass by themselves, and 500 for those that are nobody's fault but the hub's.
func Code(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	switch _, refused := errors.AsType[*rules.RefusedError](err); {
	case refused, errors.Is(err, rules.ErrNoRule):
		return http.StatusConflict
	case errors.Is(err, store.ErrNotFound):
		return http.StatusNotFound
	case errors.Is(err, ErrUnavailable), store.Unavailable(err), errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// IsNotFound reports whether the error means that there is no such record.
func IsNotFound(err error) bool { return Code(err) == http.StatusNotFound }
