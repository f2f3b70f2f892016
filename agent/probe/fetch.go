package probe

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// maxQuoted bounds what is quoted of a text that somebody else wrote.
const maxQuoted = 512

// Fetch sends the request and returns the body of an answer whose status is
// accepted, at most limit bytes. The error says what was answered instead; of a
// foreign body at most 512 bytes are quoted.
func Fetch(client *http.Client, request *http.Request, accept func(status int) bool, limit int64) ([]byte, error) {
	response, err := client.Do(request) //nolint:gosec // the hub says where the host shall look: that is what its checks are
	if err != nil {
		return nil, reason(err)
	}
	defer response.Body.Close()
	if !accept(response.StatusCode) {
		body, _ := io.ReadAll(io.LimitReader(response.Body, maxQuoted+1)) // what was read before an error is quoted too
		return nil, fmt.Errorf("answered %s: %s", statusLine(response), Quote(body))
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("the answer broke off: %w", err)
	case int64(len(body)) > limit:
		return nil, fmt.Errorf("the answer is larger than %d bytes", limit)
	}
	return body, nil
}

// reason says why a request failed, without its URL, which may hold a password.
func reason(err error) error {
	e, ok := errors.AsType[*url.Error](err)
	switch {
	case !ok:
		return err
	case e.Timeout():
		return fmt.Errorf("no answer in time: %w", e.Err)
	default:
		return e.Err
	}
}

// statusLine is the status of an answer without a foreign reason phrase.
func statusLine(r *http.Response) string {
	return strings.TrimSpace(fmt.Sprintf("%d %s", r.StatusCode, http.StatusText(r.StatusCode)))
}

// Quote prepares a foreign text for an error: one line, printable, at most 512 bytes.
func Quote(body []byte) string {
	cut := len(body) > maxQuoted
	if cut {
		body = body[:maxQuoted]
	}
	text := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, string(body))
	text = strings.Join(strings.Fields(text), " ")
	switch {
	case text == "":
		return "(no text)"
	case cut:
		return text + " …"
	}
	return text
}
