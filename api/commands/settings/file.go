package settings

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"

	"github.com/ironflow/ironflow/api/nearest"
	"github.com/ironflow/ironflow/api/yamldoc"
)

// Schema is the kind of files that commands read.
type Schema struct {
	APIVersion, Kind string
	// Config is a pointer to the configuration whose fields the rows point to.
	Config any
	// Groups are all that the kind has, which may be more than a command reads: one file serves several commands.
	Groups []Group
}

// Names are the names of the settings in a file, such as hub.publishURL, by their flags. Secrets have none.
func (s Schema) Names() map[string]string {
	fields := map[any]string{}
	config := reflect.ValueOf(s.Config).Elem()
	for i := range config.NumField() {
		group, section := jsonName(config.Type().Field(i)), config.Field(i)
		if group == "" {
			continue
		}
		for k := range section.NumField() {
			if name := jsonName(section.Type().Field(k)); name != "" {
				fields[section.Field(k).Addr().Interface()] = group + "." + name
			}
		}
	}
	names := map[string]string{}
	for _, row := range Rows(s.Groups) {
		if name, has := fields[row.field]; has && !row.secret {
			names[row.Flag] = name
		}
	}
	return names
}

// jsonName is a field's name in a file, empty for none.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.TrimPrefix(name, "-")
}

// Load reads a file into the settings that neither a flag nor the environment gives. All that is wrong
// is said at once, by line.
func (b *Bound) Load(schema Schema, path string) error {
	raw, err := os.ReadFile(path) //nolint:gosec // the user names it
	if err != nil {
		return fmt.Errorf("--%s: %w", ConfigFlag, err)
	}
	if _, err := yamldoc.Decode(raw); err != nil {
		return fmt.Errorf("--%s %s: %w", ConfigFlag, path, err)
	}
	var document yamlv3.Node
	if err := yamlv3.Unmarshal(raw, &document); err != nil {
		return fmt.Errorf("--%s %s: %w", ConfigFlag, path, err)
	}
	if len(document.Content) == 0 {
		return fmt.Errorf("%s is empty: it begins with apiVersion: %s and kind: %s", path, schema.APIVersion, schema.Kind)
	}
	r := &reader{Bound: b, schema: schema, rows: map[string]Row{}}
	names := schema.Names()
	for _, row := range Rows(schema.Groups) {
		if names[row.Flag] != "" {
			r.rows[names[row.Flag]] = row
		}
	}
	r.document(resolve(document.Content[0]))
	slices.SortFunc(r.problems, func(a, b problem) int { return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.text, b.text)) })
	var all []error
	for _, p := range r.problems {
		all = append(all, fmt.Errorf("%s:%d: %s", path, p.line, p.text))
	}
	return errors.Join(all...)
}

// problem is what is wrong in a line.
type problem struct {
	line int
	text string
}

// reader reads one file.
type reader struct {
	*Bound

	schema   Schema
	rows     map[string]Row // by name
	problems []problem
}

func (r *reader) wrong(n *yamlv3.Node, format string, args ...any) {
	r.problems = append(r.problems, problem{n.Line, fmt.Sprintf(format, args...)})
}

// document reads apiVersion, kind and the groups.
func (r *reader) document(n *yamlv3.Node) {
	if n.Kind != yamlv3.MappingNode {
		r.wrong(n, "this is no %s, which is a mapping of topics", r.schema.Kind)
		return
	}
	groups := r.groups()
	head := map[string]string{}
	for key, value := range members(n) {
		switch {
		case key.Value == "apiVersion" || key.Value == "kind":
			head[key.Value] = value.Value
		case !slices.Contains(groups, key.Value):
			r.unknown(key, key.Value, groups)
		case value.Kind == yamlv3.MappingNode:
			r.group(key.Value, value)
		case !isNull(value):
			r.wrong(value, "%s is a topic: its settings go below it, such as %s", key.Value, strings.Join(r.of(key.Value), ", "))
		}
	}
	for field, want := range map[string]string{"apiVersion": r.schema.APIVersion, "kind": r.schema.Kind} {
		if head[field] != want {
			r.wrong(n, "%s is %q: this program reads %s %s", field, head[field], field, want)
		}
	}
}

func (r *reader) group(group string, n *yamlv3.Node) {
	for key, value := range members(n) {
		row, known := r.rows[group+"."+key.Value]
		switch {
		case !known:
			r.unknown(key, group+"."+key.Value, r.of(group))
		case !isNull(value):
			r.set(row, group+"."+key.Value, value)
		}
	}
}

// set takes a value over, unless a flag or the environment has one, or the command has no such setting.
func (r *reader) set(row Row, name string, n *yamlv3.Node) {
	text, why := textOf(row.field, n)
	if why != "" {
		r.wrong(n, "%s %s", name, why)
		return
	}
	f := r.flags.Lookup(row.Flag)
	if f == nil || !slices.ContainsFunc(r.Bound.rows, func(mine Row) bool { return mine.Flag == row.Flag }) {
		return
	}
	before := f.Value.String()
	if err := f.Value.Set(text); err != nil {
		r.wrong(n, "%s is %q, which is no %s", name, text, kinds[f.Value.Type()])
	}
	if f.Changed || r.Bound.set[row.Flag] {
		_ = f.Value.Set(before) // it has come from there
	}
}

// groups and of are the names that a file may have, at the top and in a group.
func (r *reader) groups() (names []string) {
	for name := range r.rows {
		group, _, _ := strings.Cut(name, ".")
		names = append(names, group)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (r *reader) of(group string) (names []string) {
	for name := range r.rows {
		if in, field, _ := strings.Cut(name, "."); in == group {
			names = append(names, field)
		}
	}
	slices.Sort(names)
	return names
}

// unknown names what was probably meant: the setting of that flag or variable, or the nearest name.
func (r *reader) unknown(key *yamlv3.Node, name string, names []string) {
	for _, row := range Rows(r.schema.Groups) {
		if key.Value != row.Flag && key.Value != row.Env {
			continue
		}
		if row.secret {
			r.wrong(key, "%s is a secret, which stays out of this file: set %s, or name the file that has it", name, row.Env)
			return
		}
		for named, other := range r.rows {
			if other.Flag == row.Flag {
				r.wrong(key, "there is no %s: in this file it is %s", name, named)
				return
			}
		}
	}
	in := ""
	if group, _, below := strings.Cut(name, "."); below {
		in = group + "."
		if at := r.elsewhere(key.Value); at != "" {
			r.wrong(key, "there is no %s: did you mean %s?", name, at)
			return
		}
	}
	meant, _ := nearest.Name(key.Value, names)
	r.wrong(key, "there is no %s: did you mean %s%s?", name, in, meant)
}

// elsewhere is a field with just that name in another group; empty for none or several.
func (r *reader) elsewhere(field string) (at string) {
	for name := range r.rows {
		if _, f, _ := strings.Cut(name, "."); f == field {
			if at != "" {
				return ""
			}
			at = name
		}
	}
	return at
}
