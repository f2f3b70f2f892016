package client

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// meaning says what a message means, where that is more than what the status says.
type meaning struct {
	kind Kind
	// ids are message keys without registry and version; id and text are patterns.
	ids  []string
	id   *regexp.Regexp
	text *regexp.Regexp
	// login says that it counts only for an attempt to log in.
	login bool
	// not are statuses for which it does not count.
	not []int
}

// meanings are looked through in order; the first that fits decides.
var meanings = []meaning{
	// Redfish asks for the change; Dell has its own message on every request.
	{kind: PasswordChange, ids: []string{"PasswordChangeRequired", "SWC1908"}},
	// Supermicro uses the licence message for this too.
	{kind: Conflict, text: regexp.MustCompile(`(?i)already in update mode`)},
	// HPE LicenseKeyRequired, Supermicro OemLicenseNotPassed; all of Dell's LIC messages.
	{kind: Licence, id: regexp.MustCompile(`(?i)^(LIC[0-9]{3,}|.*Licen[sc]e.*(Required|NotPassed|Missing|Expired|NotInstalled|NotActivated))$`)},
	{
		kind: Licence, not: []int{http.StatusNotFound, http.StatusMethodNotAllowed},
		text: regexp.MustCompile(`(?i)\b(requires?|needs?|without|missing|insufficient|no sufficient|not|no|appropriate|upgrade)\b.{0,60}\blicen[sc]es?\b|\blicen[sc]es?( key)?\b.{0,60}\b(is|are|was|not|required|needed|missing|expired)\b`),
	},
	// A session table that is full; Dell says RAC0218, with 503 or 400.
	{kind: Busy, ids: []string{"SessionLimitExceeded", "RAC0218"}},
	{kind: Busy, login: true, text: regexp.MustCompile(`(?i)\b(max(imum)?|too many|limit)\b.{0,40}\bsessions?\b|\bsessions?\b.{0,40}\b(limit|maximum)\b`)},
	{
		kind: LockedOut, login: true,
		id: regexp.MustCompile(`(?i)(account|user|login|address).*(locked|blocked)|lockedout|lockout`), text: regexp.MustCompile(`(?i)\block(ed)?[ -]?out\b|\b(account|user|login|address|client)\b.{0,60}\b(locked|blocked)\b`),
	},
	{kind: Credentials, login: true, ids: []string{"UnauthorizedLoginAttempt", "InvalidCredentials"}},
	{kind: Busy, ids: []string{"UnableToModifyDuringSystemPOST", "InvalidOperationForSystemState", "SYS518", "ServiceTemporarilyUnavailable"}},
	{kind: NotSupported, ids: []string{"ActionNotSupported", "ResourceMissingAtURI"}},
}

func (m *meaning) fits(status int, login bool, message Message) bool {
	if m.login && !login || slices.Contains(m.not, status) {
		return false
	}
	key := shortID(message.ID)
	switch {
	case slices.ContainsFunc(m.ids, func(id string) bool { return strings.EqualFold(id, key) }):
		return true
	case m.id != nil && m.id.MatchString(key):
		return true
	}
	return m.text != nil && m.text.MatchString(message.Text)
}

// classify says what a refusal means, and which of its messages says so.
func classify(status int, login bool, messages []Message) (Kind, Message) {
	for i := range meanings {
		for _, message := range messages {
			if meanings[i].fits(status, login, message) {
				return meanings[i].kind, message
			}
		}
	}
	var first Message
	if len(messages) > 0 {
		first = messages[0]
	}
	if login && status == http.StatusUnauthorized {
		return Credentials, first
	}
	return ofStatus(status), first
}

// ofStatus is the kind of a status alone.
func ofStatus(status int) Kind {
	switch status {
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
		return NotSupported
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return Busy
	case http.StatusConflict, http.StatusPreconditionFailed, http.StatusPreconditionRequired:
		return Conflict
	}
	switch {
	case status < http.StatusBadRequest: // a redirect that leads nowhere
		return Broken
	case status >= http.StatusInternalServerError:
		return Failed
	}
	return Refused
}
