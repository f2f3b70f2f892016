package agentlabels

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/crdpaths"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the table of docs/host-fields.md")

// settings are the paths of an AgentClassification's spec; edit makes each something else, and the Agent
// has the label then.
var settings = []struct {
	path, becomes string
	edit          func(*agentv1.AgentClassificationSpec)
	key, value    string
}{
	{"spec.labelKey", "the label's key behind `agentclassification.agent-install.openshift.io/`; cannot change", func(s *agentv1.AgentClassificationSpec) { s.LabelKey = "width" }, "width", "large"},
	{"spec.labelValue", "the label's value; cannot change, and does not begin with `QUERYERROR`", func(s *agentv1.AgentClassificationSpec) { s.LabelValue = "huge" }, "size", "huge"},
	{"spec.query", "which Agents have the label; one that is no query, or fails, is said by the condition `QueryErrors`", func(s *agentv1.AgentClassificationSpec) { s.Query = "false" }, "size", ""},
}

// TestEverySettingOfAClassificationHasItsRow: nothing that a user can write is forgotten, and each is acted upon.
func TestEverySettingOfAClassificationHasItsRow(t *testing.T) {
	var rows []string
	var b strings.Builder
	b.WriteString("| setting of an AgentClassification | becomes |\n|---|---|\n")
	for _, s := range settings {
		rows = append(rows, s.path)
		fmt.Fprintf(&b, "| `%s` | %s |\n", s.path, s.becomes)
	}
	crdpaths.Leaves(t, "AgentClassification", rows)
	pages.Generated{Root: "../..", Page: "host-fields.md", Package: "./controllers/agentlabels", Update: *update}.Hold(t, "settings of an AgentClassification", b.String())
	for _, s := range settings {
		t.Run(s.path, func(t *testing.T) {
			plain, changed, agent := classification("c", "size", "large", "true"), classification("c", "size", "large", "true"), machine()
			s.edit(&changed.Spec)
			for _, c := range []agentv1.AgentClassification{plain, changed} {
				w := newWorld(t, agent.DeepCopy(), &c)
				w.pass()
				want := map[string]string{"size": "large"}
				if c.Spec != plain.Spec {
					want = map[string]string{s.key: s.value}
				}
				for key, value := range want {
					w.Expect(again(w, agent.DeepCopy()).Labels[names.ClassificationPrefix+key]).To(Equal(value))
				}
			}
		})
	}
}
