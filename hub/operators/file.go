package operators

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

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
	var more Table
	if err := yaml.UnmarshalStrict(raw, &more); err != nil {
		return Table{}, err
	}
	if len(more.Operators)+len(more.Bundles) == 0 {
		return Table{}, errors.New("want a list operators, a list bundles, or both; see docs/operators.md")
	}
	if name := twice(more.Names()); name != "" {
		return Table{}, fmt.Errorf("operator %s is there twice", name)
	}
	out := Table{Operators: slices.Clone(t.Operators), Bundles: slices.Clone(t.Bundles)}
	for _, o := range more.Operators {
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
	object  = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	channel = regexp.MustCompile(`^([A-Za-z0-9][A-Za-z0-9._-]{0,62})?$`)
	release = regexp.MustCompile(`^([0-9]{1,3}\.[0-9]{1,3}(\.[0-9]{1,4})?)?$`)
	vendor  = regexp.MustCompile(`^[0-9a-f]{4}$`)
)

// roles are those that a table gives amounts for.
var roles = []string{string(wire.HostRoleMaster), string(wire.HostRoleWorker), string(wire.HostRoleArbiter), SingleNode}

// check refuses rows that nobody could install.
func (t Table) check() error {
	for i := range t.Operators {
		o := &t.Operators[i]
		if err := o.check(); err != nil {
			return fmt.Errorf("operator %.80q: %w", o.Name, err)
		}
		for _, other := range slices.Concat(o.Needs, o.SingleNodeNeeds, o.Excludes) {
			if t.Find(other) == nil || other == o.Name {
				return fmt.Errorf("operator %s: needs or excludes %.80q, which is no other operator of the table", o.Name, other)
			}
		}
	}
	for _, b := range t.Bundles {
		if !label.MatchString(b.ID) || len(b.Operators) == 0 {
			return fmt.Errorf("bundle %.80q: want an id of lower-case letters, digits and dashes, and at least one operator", b.ID)
		}
		for _, name := range slices.Concat(b.Operators, b.Optional) {
			if t.Find(name) == nil {
				return fmt.Errorf("bundle %s: %.80q is no operator of the table", b.ID, name)
			}
		}
	}
	return t.checkNamespaces()
}

func (o *Operator) check() error {
	for _, one := range []struct {
		ok     bool
		member string
		want   string
	}{
		{label.MatchString(o.Name), "name", "lower-case letters, digits and dashes"},
		{o.Check == "" || label.MatchString(o.Check), "check", "lower-case letters, digits and dashes"},
		{o.Title != "" && !strings.ContainsAny(o.Title, "\n\r"), "title", "its name for people, on one line"},
		{label.MatchString(o.Namespace), "namespace", "the name of a namespace"},
		{object.MatchString(o.Package), "package", "the name of a package"},
		{o.Subscription == "" || object.MatchString(o.Subscription), "subscription", "the name of an object"},
		{channel.MatchString(o.Channel), "channel", "the name of a channel"},
		{o.Catalog == "" || object.MatchString(o.Catalog), "catalog", "the name of a catalog source"},
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
	return nil
}

// checkNamespaces refuses two ways to watch from one namespace: it can have one group only.
func (t Table) checkNamespaces() error {
	seen := map[string]*Operator{}
	for i := range t.Operators {
		o := &t.Operators[i]
		if first, ok := seen[o.Namespace]; ok && first.watches() != o.watches() {
			return fmt.Errorf("operators %s and %s: both are in namespace %s, and watch %s and %s; a namespace has one group of operators",
				first.Name, o.Name, o.Namespace, first.watches(), o.watches())
		}
		seen[o.Namespace] = o
	}
	return nil
}

func (o *Operator) watches() string {
	if o.Watches == "" {
		return WatchesOwn
	}
	return o.Watches
}
