package policy

import (
	"testing"

	. "github.com/onsi/gomega"
)

// TestStatusAnnotation holds the restore to what admission cannot judge: CEL
// reads no JSON.
func TestStatusAnnotation(t *testing.T) {
	for name, c := range map[string]struct{ raw, want string }{
		"a status":                      {`{"operationalStatus":"OK","provisioning":{"state":"available","ID":"x"}}`, ""},
		"while it is serviced":          {`{"operationalStatus":"servicing","provisioning":{"state":"provisioned","ID":"x"}}`, ""},
		"with an error":                 {`{"operationalStatus":"error","errorType":"inspection error","provisioning":{"state":"inspecting","ID":"x"}}`, ""},
		"null":                          {`null`, "says nothing"},
		"no JSON":                       {`OK`, "invalid character"},
		"text behind it":                {`{} {}`, "after top-level value"},
		"a member twice":                {`{"errorCount":1,"errorCount":2}`, "duplicate field"},
		"members of another version":    {`{"operationalStatus":"OK","provisioningFailCount":1,"provisioning":{"state":"available","ID":"x","newer":{}}}`, ""},
		"an unknown state":              {`{"provisioning":{"state":"sleeping"}}`, `state "sleeping"`},
		"an unknown error type":         {`{"errorType":"detach error"}`, `error type "detach error"`},
		"an unknown operational status": {`{"operationalStatus":"fine"}`, `operational status "fine"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, _, err := parseStatus(c.raw)
			if c.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
}
