package ironic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
)

// conductorGone starts Ironic's text when no live conductor can take a node. It
// comes with 400 or 404, but says nothing about the request: conductors restart.
const conductorGone = "No valid host was found"

// lastingConflicts are parts of 409 texts that will not change by waiting:
// a name, UUID or MAC is taken, an instance is on the node, or its state forbids.
var lastingConflicts = []string{"already exists", "is associated with", "already associated", "Can not delete node", "in one of allowed"}

// nodeMissing matches Ironic's text for a node that it does not have. A 404 with
// another text says nothing about the node: something below it is missing, or a
// proxy answered.
var nodeMissing = regexp.MustCompile(`^Node \S+ could not be found\.?$`)

// classify turns any failure of a request into an *Error.
func classify(ctx context.Context, c call, err error) *Error {
	e := &Error{Kind: Unavailable, Op: c.op, Node: c.node, Err: err}
	answer, ok := answerOf(err)
	if !ok {
		e.Text = transportText(ctx, err)
		return e
	}
	e.Status = answer.Actual
	e.Text = faultText(answer.Body)
	e.Kind = kindOfStatus(answer.Actual, e.Text)
	if _, ok := errors.AsType[*unreached](err); ok {
		e.Kind = Unavailable
		if answer.Actual == http.StatusNotFound {
			e.Text = "there is no Ironic at this address: correct the endpoint's URL. " + e.Text
		}
	}
	switch answer.Actual {
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Text = "Ironic refused our credentials: check the user, password and role of this endpoint. " + e.Text
	case http.StatusNotAcceptable:
		e.Text = "Ironic does not offer this in the negotiated API version: upgrade Ironic. " + e.Text
	}
	e.Text = strings.TrimSpace(e.Text)
	return e
}

// answerOf finds the HTTP answer in a client error, if there was one.
func answerOf(err error) (gophercloud.ErrUnexpectedResponseCode, bool) {
	if again, ok := errors.AsType[*gophercloud.ErrErrorAfterReauthentication](err); ok {
		err = again.ErrOriginal
	}
	if again, ok := errors.AsType[*gophercloud.ErrUnableToReauthenticate](err); ok {
		err = again.ErrOriginal
	}
	if pointer, ok := errors.AsType[*gophercloud.ErrUnexpectedResponseCode](err); ok {
		return *pointer, true
	}
	return errors.AsType[gophercloud.ErrUnexpectedResponseCode](err)
}

func kindOfStatus(status int, text string) Kind {
	switch {
	case strings.HasPrefix(text, conductorGone):
		return Unavailable
	case status == http.StatusNotFound && nodeMissing.MatchString(text):
		return Gone
	case status == http.StatusConflict:
		if slices.ContainsFunc(lastingConflicts, func(s string) bool { return strings.Contains(text, s) }) {
			return Rejected
		}
		return Busy
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		status == http.StatusRequestTimeout, status == http.StatusTooManyRequests:
		return Unavailable
	case status >= 400 && status < 500:
		return Rejected
	}
	return Unavailable
}

// stale reports whether an error may go away by authenticating and negotiating
// again: refused credentials, or a version that the server does not speak.
func stale(err error) bool {
	answer, ok := answerOf(err)
	return ok && (answer.Actual == http.StatusUnauthorized || answer.Actual == http.StatusNotAcceptable)
}

// faultText takes the readable part out of an error body. Ironic wraps a fault
// object, itself JSON, into the text "error_message"; proxies send anything.
func faultText(body []byte) string {
	var outer struct {
		Message json.RawMessage `json:"error_message"`
		Title   string          `json:"title"`
		Error   struct {
			Message string `json:"message"` // Keystone, and keystonemiddleware
		} `json:"error"`
	}
	if json.Unmarshal(body, &outer) != nil {
		return oneLine(string(body))
	}
	var inner struct {
		Fault string `json:"faultstring"`
	}
	raw := outer.Message
	var quoted string
	if json.Unmarshal(raw, &quoted) == nil {
		raw = json.RawMessage(quoted)
	}
	if json.Unmarshal(raw, &inner) == nil && inner.Fault != "" {
		return inner.Fault
	}
	for _, text := range []string{quoted, outer.Error.Message, outer.Title} {
		if text != "" {
			return oneLine(text)
		}
	}
	return oneLine(string(body))
}

// longestForeignText bounds error pages of proxies, in bytes.
const longestForeignText = 300

func oneLine(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > longestForeignText {
		s = strings.ToValidUTF8(s[:longestForeignText], "") + "…"
	}
	return s
}

// transportText says what went wrong before an answer arrived, without the
// request's URL.
func transportText(ctx context.Context, err error) string {
	if cause := context.Cause(ctx); cause != nil && errors.Is(err, ctx.Err()) {
		err = cause
	}
	if notFound, ok := errors.AsType[gophercloud.ErrEndpointNotFound](err); ok {
		return fmt.Sprintf("Keystone's catalog has no bare metal endpoint for us: %s", notFound.Error())
	}
	return withoutURL(err).Error()
}

// withoutURL drops the wrapper that net/http puts around transport errors.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
