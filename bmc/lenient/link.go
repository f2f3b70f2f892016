package lenient

import (
	"bytes"
	"encoding/json"
)

// Link is a reference to another resource. Path is as the BMC wrote it, empty where
// there is none; the client decides whether it may be followed.
type Link struct{ Path string }

// UnmarshalJSON implements json.Unmarshaler; it never fails.
func (l *Link) UnmarshalJSON(raw []byte) error { l.parse(raw); return nil }

// MarshalJSON implements json.Marshaler: the form that Redfish has.
func (l Link) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]string{"@odata.id": l.Path})
}

// parse takes {"@odata.id": …}, the older {"href": …} and {"extref": …}, a bare
// text, and the first of a list of these.
func (l *Link) parse(raw []byte) bool {
	l.Path = ""
	raw = bytes.TrimSpace(raw)
	if text, ok := unquote(raw); ok {
		l.Path = text
		return text != ""
	}
	if len(raw) > 0 && raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || len(list) == 0 || bytes.HasPrefix(bytes.TrimSpace(list[0]), []byte("[")) {
			return false
		}
		return l.parse(list[0])
	}
	var object struct {
		ID     String `json:"@odata.id"`
		Href   String `json:"href"`
		Extref String `json:"extref"`
	}
	if json.Unmarshal(raw, &object) != nil {
		return false
	}
	for _, path := range []String{object.ID, object.Href, object.Extref} {
		if path != "" {
			l.Path = string(path)
			return true
		}
	}
	return false
}
