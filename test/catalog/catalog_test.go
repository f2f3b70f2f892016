package catalog_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/catalog"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of the documentation")

// TestDocs keeps the tables of the documentation equal to those of the code.
func TestDocs(t *testing.T) {
	page := pages.Generated{Root: "../..", Page: "conditions.md", Package: "./test/catalog", Update: *update}
	page.Hold(t, "conditions", conditionTables())
	page.Hold(t, "events", eventTable())
}

func conditionTables() string {
	var b strings.Builder
	kind := ""
	for _, c := range catalog.Conditions {
		if c.Kind != kind {
			kind = c.Kind
			fmt.Fprintf(&b, "\n### %s\n\n| condition | status | reason | means |\n|---|---|---|---|\n", kind)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", c.Type, c.Status, c.Reason, c.Means)
	}
	return b.String() + "\n"
}

func eventTable() string {
	var b strings.Builder
	b.WriteString("| about | reason | type | told when |\n|---|---|---|---|\n")
	for _, e := range catalog.Events {
		kind := "Normal"
		if e.Warning {
			kind = "Warning"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", e.Kind, e.Reason, kind, e.Means)
	}
	return b.String()
}

func TestRowsAreUniqueAndSaySomething(t *testing.T) {
	g := NewWithT(t)
	seen := map[string]bool{}
	for _, c := range catalog.Conditions {
		key := strings.Join([]string{c.Kind, c.Type, c.Status, c.Reason}, "/")
		g.Expect(seen).NotTo(HaveKey(key))
		seen[key] = true
		g.Expect(c.Means).To(HaveSuffix("."), key)
	}
	for _, e := range catalog.Events {
		key := e.Kind + "/" + e.Reason
		g.Expect(seen).NotTo(HaveKey(key))
		seen[key] = true
		g.Expect(e.Means).To(HaveSuffix("."), key)
	}
}

// tellers are the packages whose events are listed, by the kinds that they tell about.
var tellers = map[string][]string{
	"host/policy": {"BareMetalHost"}, "host/execute": {"BareMetalHost"}, "firmware": {"HostFirmwareSettings", "HostFirmwareComponents"}, "media": {"DataImage"},
	"subscription": {"BMCEventSubscription"}, "claim": {"HostClaim", "HostDeployPolicy", "BareMetalHost"}, "link": {"BareMetalHost"}, "bmchealth": {"BareMetalHost"},
	"bmcevents": {"BareMetalHost"},
}

// TestEveryEventIsListed reads the controllers' source: what is told there has a
// row, and each row is told somewhere.
func TestEveryEventIsListed(t *testing.T) {
	g := NewWithT(t)
	told := map[string]bool{}
	for dir, kinds := range tellers {
		reasons := reasonsIn(t, dir)
		g.Expect(reasons).NotTo(BeEmpty(), "package %s tells nothing any more", dir)
		for _, reason := range reasons {
			listed := slices.ContainsFunc(kinds, func(kind string) bool { return catalog.HasEvent(kind, reason) })
			g.Expect(listed).To(BeTrue(), "package %s tells %q, which is not in the catalogue", dir, reason)
			told[reason] = true
		}
	}
	for _, e := range catalog.Events {
		g.Expect(told).To(HaveKey(e.Reason), "nobody tells this")
	}
}

// TestEveryCauseIsListed reads the host controller's source: each cause of an
// error can be the reason of Stalled.
func TestEveryCauseIsListed(t *testing.T) {
	g := NewWithT(t)
	causes := 0
	for name, text := range scanned(t, "host/policy").constants {
		if strings.HasPrefix(name, "cause") {
			causes++
			g.Expect(catalog.Has("BareMetalHost", "Stalled", "True", text)).To(BeTrue(), "%s = %q is not in the catalogue", name, text)
		}
	}
	g.Expect(causes).To(BeNumerically(">", 5))
}

// reasonsIn collects the reasons of events in a package: arguments of the host's
// event and warn, the reasons of its error types, values assigned to a variable
// named reason, and the member Reason of events.
func reasonsIn(t *testing.T, dir string) []string {
	t.Helper()
	s := scanned(t, dir)
	slices.Sort(s.reasons)
	return slices.Compact(s.reasons)
}

// scanned reads the source of a package.
func scanned(t *testing.T, dir string) *scan {
	t.Helper()
	g := NewWithT(t)
	files, err := filepath.Glob(filepath.Join("../../controllers", dir, "*.go"))
	g.Expect(err).NotTo(HaveOccurred())
	s := &scan{constants: map[string]string{}}
	var parsed []*ast.File
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		g.Expect(err).NotTo(HaveOccurred())
		parsed = append(parsed, file)
		ast.Inspect(file, s.constant)
	}
	for _, file := range parsed {
		ast.Inspect(file, s.visit)
	}
	return s
}

type scan struct {
	constants map[string]string
	reasons   []string
}

// constant notes the package's string constants.
func (s *scan) constant(n ast.Node) bool {
	spec, ok := n.(*ast.ValueSpec)
	if !ok {
		return true
	}
	for i, name := range spec.Names {
		if i < len(spec.Values) {
			if text, ok := literal(spec.Values[i]); ok {
				s.constants[name.Name] = text
			}
		}
	}
	return true
}

// imported are constants of the API that are used as reasons of events.
var imported = map[string]string{"BareMetalHostAssociatedReason": "BareMetalHostAssociated"}

func (s *scan) add(e ast.Expr) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, ok := literal(e); ok {
			s.reasons = append(s.reasons, text)
		}
	case *ast.Ident:
		if text := s.constants[e.Name]; text != "" {
			s.reasons = append(s.reasons, text)
		}
	case *ast.SelectorExpr:
		if text := imported[e.Sel.Name]; text != "" {
			s.reasons = append(s.reasons, text)
		}
	}
}

func (s *scan) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if f, ok := n.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "event" || f.Sel.Name == "warn") && len(n.Args) == 2 {
			s.add(n.Args[0])
		}
	case *ast.AssignStmt: // reason, label := "PowerOff", "off"
		for i, left := range n.Lhs {
			if name, ok := left.(*ast.Ident); ok && name.Name == "reason" && len(n.Rhs) == len(n.Lhs) {
				s.add(n.Rhs[i])
			}
		}
	case *ast.CompositeLit:
		s.composite(n)
	}
	return true
}

func (s *scan) composite(n *ast.CompositeLit) {
	switch {
	case typeName(n.Type) == "Event":
		for _, e := range n.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok && fmt.Sprint(pair.Key) == "Reason" {
				s.add(pair.Value)
			}
		}
	case isMapOf(n.Type, "errorKind"):
		for _, e := range n.Elts {
			if pair, ok := e.(*ast.KeyValueExpr); ok {
				if row, ok := pair.Value.(*ast.CompositeLit); ok && len(row.Elts) > 0 {
					s.add(row.Elts[0])
				}
			}
		}
	}
}

func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.ArrayType:
		return ""
	}
	return ""
}

func isMapOf(e ast.Expr, value string) bool {
	m, ok := e.(*ast.MapType)
	return ok && typeName(m.Value) == value
}

func literal(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}
