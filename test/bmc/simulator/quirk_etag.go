package simulator

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"strings"
)

// The quirks of ETags and preconditions.
const (
	ActionRefusesETag Quirk = "action-refuses-etag"
	FirstPatchFails   Quirk = "first-patch-fails"
	ETagGzip          Quirk = "etag-gzip"
	ETagWeak          Quirk = "etag-weak"
	ETagEmpty         Quirk = "etag-empty"
	ETagDoubled       Quirk = "etag-doubled-quotes"
	ETagTwice         Quirk = "etag-twice"
	ETagStarRefused   Quirk = "etag-star-refused"
	ETagMissing       Quirk = "etag-missing"
	BIOSETagNeverFits Quirk = "bios-etag-never-fits"
)

// ifMatch is the header of a precondition.
const ifMatch = "If-Match"

func precondition(*call) error {
	return fault(http.StatusPreconditionFailed, preconditionFailed, "The ETag in If-Match is not that of the resource.")
}

func hasIfMatch(c *call) bool { return c.r.Header.Get(ifMatch) != "" }

var etagOddities = []oddity{
	{Info{ActionRefusesETag, "An action with If-Match is refused with 412.", true}, trait{
		at: []string{"POST */Actions/*"}, when: hasIfMatch, refuse: precondition,
	}},
	{Info{FirstPatchFails, "A PATCH with If-Match is refused with 412 though the ETag is right; so is one whose resource changes meanwhile.", false}, trait{
		at: []string{"PATCH *"}, when: hasIfMatch, refuse: precondition,
	}},
	{Info{ETagGzip, "A compressed answer has an ETag that ends in -gzip, and that does not fit.", true}, trait{}},
	{Info{ETagWeak, "ETags are weak (W/), and refused in that form in If-Match; their strong form fits.", true}, trait{
		at: []string{"PATCH *"}, when: func(c *call) bool { return strings.HasPrefix(c.r.Header.Get(ifMatch), "W/") }, refuse: precondition,
	}},
	{Info{ETagEmpty, "The header ETag is there and empty.", true}, trait{}},
	{Info{ETagDoubled, `ETags have their quotes twice, and fit with one pair.`, true}, trait{}},
	{Info{ETagTwice, "The header ETag comes twice, with one value.", true}, trait{}},
	{Info{ETagStarRefused, "The ETag * fits nothing.", true}, trait{
		at: []string{"PATCH *"}, when: func(c *call) bool { return c.r.Header.Get(ifMatch) == "*" }, refuse: precondition,
	}},
	{Info{ETagMissing, "No answer has an ETag.", true}, trait{}},
	{Info{BIOSETagNeverFits, "Pending BIOS settings are refused with every form of ETag (412), and without (428).", true}, trait{
		at: []string{"PATCH */Bios/*"},
		refuse: func(c *call) error {
			if hasIfMatch(c) {
				return precondition(c)
			}
			return fault(http.StatusPreconditionRequired, preconditionNeeded, "A change of this resource needs its ETag in If-Match.")
		},
	}},
}

// dress writes the ETag header as the quirks want it, and the body compressed if
// they do; it returns the bytes to be sent. The lock is held.
func (c *call) dress(h http.Header, tag string, raw []byte) []byte {
	if strings.Contains(c.r.Header.Get("Accept-Encoding"), "gzip") && c.of.has(ETagGzip) {
		var packed bytes.Buffer
		z := gzip.NewWriter(&packed)
		_, _ = z.Write(raw) // a buffer takes all
		_ = z.Close()       // as above
		h.Set("Content-Encoding", "gzip")
		tag, raw = strings.TrimSuffix(tag, `"`)+`-gzip"`, packed.Bytes()
	}
	collection := strings.HasPrefix(c.pattern, "GET ") && isCollection(raw)
	switch {
	case c.of.has(ETagMissing), collection && c.of.has(AccountETagNeeded):
	case c.of.has(ETagEmpty):
		h["Etag"] = []string{""}
	case c.of.has(ETagWeak):
		h.Set("ETag", "W/"+tag)
	case c.of.has(ETagDoubled):
		h.Set("ETag", `"`+tag+`"`)
	case c.of.has(ETagTwice):
		h["Etag"] = []string{tag, tag}
	default:
		h.Set("ETag", tag)
	}
	return raw
}

// isCollection tells collections by what all have.
func isCollection(raw []byte) bool { return bytes.Contains(raw, []byte(`"Members@odata.count"`)) }
