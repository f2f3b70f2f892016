package features

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

// TestWhenIsAMachineTouched holds the table of docs/baremetalhost.md to the code: each
// request of the gateway that can change a machine has a row, and each row existing tests
// in docs/proofs.md.
func TestWhenIsAMachineTouched(t *testing.T) {
	g := NewWithT(t)
	const heading = "When is a machine touched"
	_, section, found := strings.Cut(pages.Read(t, root, "baremetalhost.md"), "\n## "+heading+"\n")
	g.Expect(found).To(BeTrue())
	section, _, _ = strings.Cut(section, "\n## ")
	shown, named := map[string]string{}, 0
	for _, p := range proofs(t) {
		if p.page == "baremetalhost" && p.section == heading {
			shown[p.says] = p.tests
			named += pages.Tests(t, root, p.tests)
		}
	}
	g.Expect(named).To(BeNumerically(">", 20))
	for line := range strings.Lines(section) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "| "), " | "); strings.HasPrefix(line, "| ") && cells[0] != "request" {
			g.Expect(cells).To(HaveLen(4), line)
			g.Expect(row{says: shown[cells[0]]}.tests()).To(ContainElement(Satisfy(pages.Named)), line)
		}
	}
	for _, file := range []string{"transition.go", "state.go"} {
		code, err := os.ReadFile(filepath.Join(root, "ironic", file))
		g.Expect(err).NotTo(HaveOccurred())
		for _, request := range regexp.MustCompile(`(?m)^\t(?:Target\w+ +Target|Power(?:On|Off|SoftOff|Rebooting|SoftRebooting) +PowerState) = "([a-z ]+)"`).FindAllStringSubmatch(string(code), -1) {
			g.Expect(section).To(MatchRegexp("(?m)^\\| [^|]*`"+request[1]+"`"), "a request without a row")
		}
	}
}
