package hubclient

import (
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"regexp"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// maxReason bounds the text that is quoted from a foreign body.
const maxReason = 512

// StatusError is an answer of the hub that is not the expected one.
type StatusError struct {
	// Method and Path name the call, without host, query and token.
	Method, Path string
	// Code is the HTTP status.
	Code int
	// Reason is the hub's text in one line, at most 512 bytes.
	Reason string
	// RetryAfter is how long the hub asks to be left alone, at most [MaxRetryAfter];
	// zero when it did not say.
	RetryAfter time.Duration
}

// Error implements error.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("hub answered %d %s to %s %s", e.Code, http.StatusText(e.Code), e.Method, e.Path)
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return text
}

// Code returns the HTTP status of the answer that err wraps, or 0 when the hub
// did not answer at all (network, TLS, time-out).
func Code(err error) int {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Code
	}
	return 0
}

var (
	tagForm  = regexp.MustCompile(`(?is)<(script|style)\b.*?</(script|style)>|<[^>]*>`)
	htmlForm = regexp.MustCompile(`(?i)^\s*<(!doctype|html|head|body)\b`)
)

// reasonOf finds the text for people in an error body: the hub's own error, the
// error of its auth layer, the HTML of a router in between, or plain text.
func reasonOf(body []byte) string {
	var hub wire.Error
	if json.Unmarshal(body, &hub) == nil && hub.Reason != "" {
		return oneLine(hub.Reason)
	}
	var auth wire.InfraError
	if json.Unmarshal(body, &auth) == nil && auth.Message != "" {
		return oneLine(auth.Message)
	}
	text := string(body)
	if htmlForm.MatchString(text) {
		text = html.UnescapeString(tagForm.ReplaceAllString(text, " "))
	}
	return oneLine(text)
}

// oneLine joins the text to one valid, bounded line.
func oneLine(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + " …"
	}
	return text
}
