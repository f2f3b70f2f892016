package operators

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/wire"
)

// maxFile bounds a site's file, in bytes.
const maxFile = 1 << 20

// Load is the builtin table with the rows of a site's file; an empty path is the builtin
// table alone.
func Load(path string) (Table, error) {
	t := Builtin()
	if path == "" {
		return t, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return Table{}, err
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return Table{}, err
	}
	if len(raw) > maxFile {
		return Table{}, fmt.Errorf("%s: larger than %d MiB", path, maxFile>>20)
	}
	if t, err = t.With(raw); err != nil {
		return Table{}, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// With is the table with the rows of another one, in YAML: those of the same names are
// replaced, the others are added. Unknown members are refused.
func (t Table) With(raw []byte) (Table, error) {
	more, err := parse(raw)
	if err != nil {
		return Table{}, err
	}
	out := Table{Operators: slices.Clone(t.Operators), Bundles: slices.Clone(t.Bundles)}
	for i, o := range more.Operators {
		if o.Feature != "" && !slices.ContainsFunc(t.Operators, func(known Operator) bool { return known.Feature == o.Feature }) {
			return Table{}, fmt.Errorf("operators[%d] (%.80q): feature: want that of an operator of the hub's own table, whose place it takes, or none", i, o.Name)
		}
		if old := out.Find(o.Name); old != nil {
			*old = o
		} else {
			out.Operators = append(out.Operators, o)
		}
	}
	for _, b := range more.Bundles {
		if old := out.FindBundle(b.ID); old != nil {
			*old = b
		} else {
			out.Bundles = append(out.Bundles, b)
		}
	}
	return out, out.check()
}

// parse reads a table in YAML, the hub's own as well as a site's. Its error names the row that is wrong, and the
// member. What rows are to one another is looked at when the table is whole ([Table.check]).
func parse(raw []byte) (Table, error) {
	document, err := yaml.YAMLToJSONStrict(raw)
	if err != nil {
		return Table{}, err
	}
	var rows struct {
		Bundles   []json.RawMessage `json:"bundles,omitempty"`
		Operators []json.RawMessage `json:"operators,omitempty"`
	}
	if err := strict(document, &rows); err != nil {
		return Table{}, err
	}
	if len(rows.Operators)+len(rows.Bundles) == 0 {
		return Table{}, errors.New("want a list operators, a list bundles, or both; see docs/operators.md")
	}
	var t Table
	for i, row := range rows.Operators {
		var o Operator
		if err := cmp.Or(strict(row, &o), o.check()); err != nil {
			return Table{}, fmt.Errorf("operators[%d] (%.80q): %w", i, o.Name, err)
		}
		t.Operators = append(t.Operators, o)
	}
	for i, row := range rows.Bundles {
		var b Bundle
		if err := cmp.Or(strict(row, &b), b.check()); err != nil {
			return Table{}, fmt.Errorf("bundles[%d] (%.80q): %w", i, b.ID, err)
		}
		t.Bundles = append(t.Bundles, b)
	}
	if name := twice(t.Names()); name != "" {
		return Table{}, fmt.Errorf("operator %s is there twice", name)
	}
	return t, nil
}

// strict reads JSON whose members are all known, in their exact spelling.
func strict(raw []byte, into any) error {
	unknown, err := kjson.UnmarshalStrict(raw, into)
	return cmp.Or(err, errors.Join(unknown...))
}

func twice(sorted []string) string {
	for i := 1; i < len(sorted); i++ {
		if sorted[i] == sorted[i-1] {
			return sorted[i]
		}
	}
	return ""
}

var (
	label   = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
	named   = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	channel = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]{0,62})?$`)
	release = regexp.MustCompile(`^([0-9]{1,3}\.[0-9]{1,3}(\.[0-9]{1,4})?)?$`)
	vendor  = regexp.MustCompile(`^[0-9a-f]{4}$`)
)

// roles are those that a table gives amounts for.
var roles = []string{string(wire.HostRoleMaster), string(wire.HostRoleWorker), string(wire.HostRoleArbiter), SingleNode}

// check refuses rows that do not go together.
func (t Table) check() error {
	for i := range t.Operators {
		o := &t.Operators[i]
		for _, other := range slices.Concat(o.Needs, o.SingleNodeNeeds, o.Excludes) {
			if t.Find(other) == nil || other == o.Name {
				return fmt.Errorf("operator %s: needs or excludes %.80q, which is no other operator of the table", o.Name, other)
			}
		}
	}
	for _, b := range t.Bundles {
		for _, name := range slices.Concat(b.Operators, b.Optional) {
			if t.Find(name) == nil {
				return fmt.Errorf("bundle %s: %.80q is no operator of the table", b.ID, name)
			}
		}
	}
	return t.checkPairs()
}

func (b *Bundle) check() error {
	switch {
	case !label.MatchString(b.ID):
		return errors.New("id: want lower-case letters, digits and dashes")
	case len(b.Operators) == 0:
		return errors.New("operators: want at least one operator")
	}
	return nil
}

func (o *Operator) check() error {
	for _, one := range []struct {
		ok     bool
		member string
		want   string
	}{
		{label.MatchString(o.Name), "name", "lower-case letters, digits and dashes"},
		{o.Check == "" || label.MatchString(o.Check), "check", "lower-case letters, digits and dashes"},
		{o.ValidationID() != string(wire.ClusterValidationIDOpenshiftAiGpuRequirementsSatisfied), "name, check", "none that another check has, openshift-ai-gpu"},
		{o.Title != "" && !strings.ContainsAny(o.Title, "\n\r"), "title", "its name for people, on one line"},
		{label.MatchString(o.Namespace), "namespace", "the name of a namespace"},
		{named.MatchString(o.Package), "package", "the name of a package"},
		{o.Subscription == "" || named.MatchString(o.Subscription), "subscription", "the name of an object"},
		{channel.MatchString(o.Channel), "channel", "the name of a channel"},
		{o.Catalog == "" || named.MatchString(o.Catalog), "catalog", "the name of a catalog source"},
		{slices.Contains([]string{"", WatchesOwn, WatchesAll, WatchesShared}, o.Watches), "watches", "own, all or shared"},
		{o.Minutes > 0 && o.Minutes <= 24*60, "minutes", "how long it may take to come up, 1 to 1440"},
		{release.MatchString(o.Since) && release.MatchString(o.Until), "since, until", "a release such as 4.20"},
		{!slices.ContainsFunc(o.Hosts.GPUs, func(id string) bool { return !vendor.MatchString(id) }), "hosts.gpus", "PCI vendor ids, each four lower-case hexadecimal digits"},
		{o.Hosts.Disks == nil || o.Hosts.Disks.Each != (o.Hosts.Disks.Hosts > 0) && o.Hosts.Disks.MinGB >= 0, "hosts.disks", "either each: true, or a number of hosts"},
		{o.Hosts.Workers >= 0, "hosts.workers", "0 or more"},
	} {
		if !one.ok {
			return fmt.Errorf("%s: want %s", one.member, one.want)
		}
	}
	for role, amount := range o.Hosts.Roles {
		if !slices.Contains(roles, role) || amount.CPUs < 0 || amount.MemoryMiB < 0 {
			return fmt.Errorf("hosts.roles.%.20s: want one of %v, with cpus and memory_mib of 0 or more", role, roles)
		}
	}
	for _, cpu := range slices.Concat(o.Architectures, o.Preview) {
		if !slices.Contains(architectures, cpu) {
			return fmt.Errorf("architectures: %.20q is none of %v", cpu, architectures)
		}
	}
	return o.checkManifests()
}

// checkPairs refuses two rows that a cluster could get together, and that want one thing in two ways: a check, an object,
// the group of a namespace, of which it has one.
func (t Table) checkPairs() error {
	for i := range t.Operators {
		o := &t.Operators[i]
		for j := range t.Operators[:i] {
			other := &t.Operators[j]
			if o.Feature != "" && o.Feature == other.Feature {
				return fmt.Errorf("operators %s and %s: both have feature %s, which is of one operator", other.Name, o.Name, o.Feature)
			}
			if slices.Contains(o.Excludes, other.Name) || slices.Contains(other.Excludes, o.Name) {
				continue
			}
			if o.ValidationID() == other.ValidationID() {
				return fmt.Errorf("operators %s and %s: both are judged by check %s; give one of them another check", other.Name, o.Name, o.ValidationID())
			}
			if o.Namespace == other.Namespace && o.groupText() != other.groupText() {
				return fmt.Errorf("operators %s and %s: both are in namespace %s, and their groups differ, by watches or an OperatorGroup of theirs; a namespace has one group of operators",
					other.Name, o.Name, o.Namespace)
			}
			if id := inTwoWays(other, o); id != "" {
				return fmt.Errorf("operators %s and %s: their manifests have %s in two ways; let one of them need the other, or exclude it", other.Name, o.Name, id)
			}
		}
	}
	return nil
}

func (o *Operator) watches() string {
	if o.Watches == "" {
		return WatchesOwn
	}
	return o.Watches
}
