package machine

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/scenario/generate"
)

const (
	docsFile       = "../../docs/machines.md"
	scenarioSource = "../../agent/scenario/scenario.go"
)

var update = flag.Bool("update", false, "write the generated parts of docs/machines.md")

// TestDocs keeps the generated parts of the page equal to the code, each between
// "<!-- NAME -->" and "<!-- end NAME -->".
func TestDocs(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile(docsFile)
	g.Expect(err).NotTo(HaveOccurred())
	page := string(raw)
	comments := sourceComments(t)
	for name, render := range map[string]func() string{
		"states": stateDiagram,
		"scenario": func() string {
			return "| field | type | meaning |\n|---|---|---|\n" + fieldRows(t, comments, reflect.TypeFor[scenario.Scenario](), "")
		},
		"faults": func() string { return faultRows(t, comments) },
	} {
		begin, end := "<!-- "+name+" -->\n", "<!-- end "+name+" -->"
		before, rest, ok := strings.Cut(page, begin)
		g.Expect(ok).To(BeTrue(), "%s has no part %q", docsFile, name)
		part, after, ok := strings.Cut(rest, end)
		g.Expect(ok).To(BeTrue(), "the part %q does not end", name)
		if *update {
			page = before + begin + render() + end + after
			continue
		}
		g.Expect(part).To(Equal(render()), "part %q is out of date: go test -short ./test/machine -run TestDocs -update", name)
	}
	if *update {
		g.Expect(os.WriteFile(docsFile, []byte(page), 0o644)).To(Succeed())
	}
}

// stateDiagram draws the state table. The power button works in every state, so
// it is one note and not sixteen arrows.
func stateDiagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> off\n")
	id := func(s State) string { return strings.ReplaceAll(string(s), "-", "_") }
	for _, s := range States() {
		if id(s) != string(s) {
			fmt.Fprintf(&b, "    state \"%s\" as %s\n", s, id(s))
		}
	}
	for _, tr := range Transitions() {
		if tr.From != Off && (tr.On == PowerOff || tr.On == Restart) {
			continue
		}
		fmt.Fprintf(&b, "    %s --> %s: %s\n", id(tr.From), id(tr.To), tr.On)
	}
	b.WriteString("```\n\nIn every state but `off`, *power off* leads to `off` and *restart* to `post`.\n")
	return b.String()
}

// sourceComments are the comments of fields (by Type.Field) and constants (by
// name) in the schema's source.
func sourceComments(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), scenarioSource, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				for _, f := range s.Fields.List {
					for _, name := range f.Names {
						out[n.Name.Name+"."+name.Name] = oneLine(f.Doc.Text())
					}
				}
			}
		case *ast.ValueSpec:
			out[n.Names[0].Name] = oneLine(n.Doc.Text())
		}
		return true
	})
	return out
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// fieldRows lists the fields of a struct and of those in it.
func fieldRows(t *testing.T, comments map[string]string, typ reflect.Type, prefix string) string {
	var b strings.Builder
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		path, kind := prefix+name, f.Type
		if kind.Kind() == reflect.Slice && kind.Elem().Kind() == reflect.Struct {
			path, kind = path+"[]", kind.Elem()
		}
		nested := kind.Kind() == reflect.Struct && kind != reflect.TypeFor[scenario.Duration]()
		if comment := comments[typ.Name()+"."+f.Name]; comment != "" || !nested {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", path, typeName(f.Type), comment)
		}
		if nested {
			b.WriteString(fieldRows(t, comments, kind, path+"."))
		}
	}
	return b.String()
}

func typeName(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[scenario.Duration]():
		return "duration"
	case t.Kind() == reflect.Pointer:
		return typeName(t.Elem())
	case t.Kind() == reflect.Slice:
		return "list of " + typeName(t.Elem())
	case t.Kind() == reflect.Map:
		return "map of " + typeName(t.Elem())
	case t.Kind() == reflect.Struct:
		return "object"
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return "integer"
	case t.Kind() == reflect.Float64:
		return "number"
	default:
		return t.Kind().String()
	}
}

// faultRows lists the faults with the comments of their constants.
func faultRows(t *testing.T, comments map[string]string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| kind | what happens |\n|---|---|\n")
	for _, kind := range generate.Faults() {
		found := ""
		for name, text := range comments {
			if before, after, ok := strings.Cut(text, ": "); ok && before == name && strings.HasPrefix(name, "Fault") && constant(name) == kind {
				found = after
			}
		}
		if found == "" {
			t.Errorf("the constant of fault %q has no comment of the form \"FaultName: text\"", kind)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", kind, found)
	}
	return b.String()
}

// constant is the value of the named constant.
func constant(name string) scenario.FaultKind {
	return map[string]scenario.FaultKind{
		"FaultNoBoot": scenario.FaultNoBoot, "FaultTruncatedRead": scenario.FaultTruncatedRead, "FaultAgentDies": scenario.FaultAgentDies,
		"FaultInstall": scenario.FaultInstall, "FaultCleanStep": scenario.FaultCleanStep, "FaultRestart": scenario.FaultRestart,
	}[name]
}
