package upgrade_test

import (
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/config/topics"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/test/catalog"
	"github.com/ironflow/ironflow/test/upgrade/promise"
)

// update records the release in the newest folder of testdata.
var update = flag.Bool("update", false, "record what this release promises and leaves behind")

// root is the repository.
const root = "../.."

func kept(t *testing.T, topic promise.Topic, have []string) {
	t.Helper()
	promise.Kept(t, root, topic, have, *update)
}

// TestValuesOfTheChartStay: a file of values that was written for a release is taken by the next.
func TestValuesOfTheChartStay(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile(filepath.Join(root, "config", "chart", "values.schema.json"))
	g.Expect(err).NotTo(HaveOccurred())
	var schema map[string]any
	g.Expect(json.Unmarshal(raw, &schema)).To(Succeed())
	definitions, _ := schema["definitions"].(map[string]any)
	kept(t, promise.Values, valuesOf("", schema, definitions))
}

// valuesOf lists the values below one, by path, each with its type and those of its list.
func valuesOf(path string, schema, definitions map[string]any) (names []string) {
	if name, is := schema["$ref"].(string); is {
		schema, _ = definitions[strings.TrimPrefix(name, "#/definitions/")].(map[string]any)
	}
	if kind, is := schema["type"].(string); is && path != "" {
		names = append(names, path+" "+kind)
	}
	list, _ := schema["enum"].([]any)
	for _, value := range list {
		text, _ := json.Marshal(value)
		names = append(names, path+" = "+string(text))
	}
	below, _ := schema["properties"].(map[string]any)
	for name, value := range below {
		v, _ := value.(map[string]any)
		names = append(names, valuesOf(strings.TrimPrefix(path+"."+name, "."), v, definitions)...)
	}
	if items, is := schema["items"].(map[string]any); is {
		names = append(names, valuesOf(path+"[]", items, definitions)...)
	}
	return names
}

// TestTheRESTAPIStays: agents in live images and scripts of users call it.
func TestTheRESTAPIStays(t *testing.T) {
	g := NewWithT(t)
	operations, err := protocol.Operations()
	g.Expect(err).NotTo(HaveOccurred())
	var calls, members []string
	for _, o := range operations {
		calls = append(calls, o.Method+" "+protocol.Base+o.Path+" "+o.ID)
		for _, p := range o.Params {
			calls = append(calls, o.Method+" "+protocol.Base+o.Path+" "+p.Name)
		}
	}
	kept(t, promise.Operations, calls)
	models, err := protocol.Models()
	g.Expect(err).NotTo(HaveOccurred())
	for name, m := range models {
		if m.Self != nil {
			members = append(members, ofField(name, *m.Self)...)
		}
		for _, f := range m.Fields {
			members = append(members, ofField(name+"."+f.JSON, f)...)
		}
	}
	kept(t, promise.Models, members)
}

// ofField is a member with its type and the values of its list.
func ofField(path string, f protocol.Field) []string {
	names := []string{path + " " + f.Type}
	for _, value := range f.Enum {
		names = append(names, path+" = "+strconv.Quote(value))
	}
	return names
}

// TestConditionsAndEventsStay: people wait for them, and alerts are made of them.
func TestConditionsAndEventsStay(t *testing.T) {
	var conditions, events []string
	for _, c := range catalog.Conditions {
		conditions = append(conditions, strings.Join([]string{c.Kind, c.Type, c.Status, c.Reason}, " "))
	}
	for _, e := range catalog.Events {
		events = append(events, e.Kind+" "+e.Reason)
	}
	kept(t, promise.Conditions, conditions)
	kept(t, promise.Events, events)
	var words []string
	for _, dir := range []string{"agentinstall/v1beta1", "hive/v1", "hiveext/v1beta1", "ironflow/v1alpha1"} {
		for value := range constants(t, "api/"+dir) {
			words = append(words, dir+" "+value)
		}
	}
	kept(t, promise.Words, words)
}

// TestSettingsStay under their names in the environment and in files; flags are looked at with their programs.
func TestSettingsStay(t *testing.T) {
	var c v1alpha1.IronflowConfiguration
	names := []string{"file apiVersion: " + v1alpha1.APIVersion, "file kind: " + v1alpha1.Kind}
	for _, group := range topics.All(&c) {
		for _, row := range group.Rows {
			names = append(names, "environment "+row.Env)
		}
	}
	for _, path := range topics.Schema(&c).Names() {
		if path != "" {
			names = append(names, "file "+path)
		}
	}
	kept(t, promise.Variables, names)
}

// TestNamesOnObjectsStay: objects of before have them.
func TestNamesOnObjectsStay(t *testing.T) {
	kept(t, promise.Names, slices.Collect(maps.Keys(constants(t, "api/names"))))
	kept(t, promise.HostFiles, slices.Collect(maps.Keys(constants(t, "api/hostfile"))))
}

// constants are the texts of a package's exported constants.
func constants(t *testing.T, dir string) map[string]bool {
	t.Helper()
	g := NewWithT(t)
	files, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	g.Expect(err).NotTo(HaveOccurred())
	named := map[string]ast.Expr{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(filepath.Base(name), "zz_") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		g.Expect(err).NotTo(HaveOccurred())
		for _, d := range file.Decls {
			if general, is := d.(*ast.GenDecl); is && general.Tok == token.CONST {
				for _, spec := range general.Specs {
					value := spec.(*ast.ValueSpec)
					for i := range value.Values {
						named[value.Names[i].Name] = value.Values[i]
					}
				}
			}
		}
	}
	texts := map[string]bool{}
	for name, value := range named {
		if text, known := textOf(value, named); known && ast.IsExported(name) {
			texts[text] = true
		}
	}
	return texts
}

// textOf is the text of a constant, which may be put together of others.
func textOf(e ast.Expr, named map[string]ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING && text != ""
	case *ast.Ident:
		if value, known := named[e.Name]; known {
			return textOf(value, named)
		}
	case *ast.BinaryExpr:
		left, first := textOf(e.X, named)
		right, second := textOf(e.Y, named)
		return left + right, first && second
	}
	return "", false
}
