package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	"github.com/spf13/pflag"

	"github.com/ironflow/ironflow/test/pages"
)

const (
	root = "../.."
	page = "bmc.md"
)

// TestEveryFlagIsDocumented holds the table of flags against the command.
func TestEveryFlagIsDocumented(t *testing.T) {
	g := NewWithT(t)
	documented := map[string]string{}
	for _, row := range pages.Table(t, pages.Read(t, root, page), "Flags of ironflow bmc probe") {
		documented[strings.Trim(row["flag"], "`-")] = row["default"] + " | " + row["meaning"]
	}
	there := map[string]string{}
	probeCommand().Flags().VisitAll(func(f *pflag.Flag) {
		value := f.DefValue
		if value == "" {
			value = "-"
		}
		there[f.Name] = value + " | " + f.Usage
	})
	g.Expect(documented).To(Equal(there), "docs/%s, table of flags", page)
}

// TestEveryKindHasANextStep: each kind of failure, those of bmc/client among them,
// says what to do, here and in the page.
func TestEveryKindHasANextStep(t *testing.T) {
	g := NewWithT(t)
	documented := map[string]string{}
	for _, row := range pages.Table(t, pages.Read(t, root, page), "When a BMC cannot be probed") {
		documented[strings.Trim(row["kind"], "`")] = row["next step"]
	}
	there := map[string]string{}
	for kind, step := range nextSteps {
		there[string(kind)] = step
	}
	g.Expect(documented).To(Equal(there), "docs/%s, table of kinds", page)
	kinds := clientKinds(t)
	g.Expect(len(kinds)).To(BeNumerically(">=", 13))
	for _, kind := range kinds {
		g.Expect(there).To(HaveKey(kind), "a kind of bmc/client")
	}
	g.Expect(slices.Sorted(maps.Keys(there))).NotTo(ContainElement(""))
}

// clientKinds are the constants of the type client.Kind, as its source declares them.
func clientKinds(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "../client/errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || len(spec.Values) == 0 {
			return true
		}
		if kind, is := spec.Type.(*ast.Ident); is && kind.Name == "Kind" {
			text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds = append(kinds, text)
		}
		return true
	})
	return kinds
}

func TestThePageHasTheExitCodes(t *testing.T) {
	g := NewWithT(t)
	text := pages.Read(t, root, page)
	for _, row := range pages.Table(t, text, "Exit codes") {
		g.Expect(row["code"]).To(BeElementOf("0", "1"))
	}
	g.Expect(text).To(ContainSubstring(passwordEnv))
}
