package parts

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/selfcheck"
)

// TestWhatIsWrongIsALineOfTheLogOnce, as an error with what to do, and so is its end: an Ironic
// that is away for a day does not fill the log.
func TestWhatIsWrongIsALineOfTheLogOnce(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	p := &Program{Log: logr.FromSlogHandler(slogTo(&out, "info").Handler())}
	lines := func() []string {
		defer out.Reset()
		return strings.FieldsFunc(out.String(), func(r rune) bool { return r == '\n' })
	}
	away := selfcheck.Report{{Check: "ironic", Level: selfcheck.Error, Text: "site-a: connection refused", Next: "look at Ironic's own log"}}
	back := selfcheck.Report{{Check: "ironic", Level: selfcheck.OK, Text: "site-a answers, API 1.110, with redfish"}}

	told := p.tell(away, nil)
	g.Expect(lines()).To(HaveExactElements(And(
		ContainSubstring(`"level":"ERROR"`), ContainSubstring("site-a: connection refused"), ContainSubstring(`"next":"look at Ironic's own log"`), ContainSubstring(`"check":"ironic"`),
	)))
	for range 3 {
		told = p.tell(away, told)
	}
	g.Expect(lines()).To(BeEmpty(), "it was said")
	p.tell(back, told)
	g.Expect(lines()).To(HaveExactElements(And(ContainSubstring(`"level":"INFO"`), ContainSubstring("site-a answers, API 1.110, with redfish"))))
}
