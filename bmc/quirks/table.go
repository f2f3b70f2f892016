package quirks

import (
	_ "embed"
	"path"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

//go:embed quirks.yaml
var builtIn []byte

// Table is a list of rows: those that are built in, with a site's over them.
type Table struct {
	rows []Row
}

// Identity is what decides which rows apply, in the words of a report: Vendor,
// Model, ManagerModel and BMCVersion. What is not known stays empty, and rows that
// ask for it do not apply.
type Identity struct {
	Vendor, Model, Manager, Version string
}

// New returns the built-in table with rows of a site. A row replaces an earlier one
// with the same ID; the others come last. The rows are those of [Parse].
func New(site ...[]Row) *Table {
	rows, err := parse(builtIn)
	if err != nil {
		panic("quirks.yaml: " + err.Error()) //nolint:forbidigo // the file is part of the program, and a test reads it
	}
	for _, list := range site {
		for _, row := range list {
			if i := slices.IndexFunc(rows, func(r Row) bool { return r.ID == row.ID }); i >= 0 {
				rows[i] = row
			} else {
				rows = append(rows, row)
			}
		}
	}
	return &Table{rows: rows}
}

// Rows are the rows of the table, in its order.
func (t *Table) Rows() []Row { return slices.Clone(t.rows) }

// Match returns the rows that apply to a BMC, in the order of the table. Applied are
// those that nobody has to care for, whether Ironflow or Ironic does.
func (t *Table) Match(id Identity) []v1alpha1.AppliedQuirk {
	var list []v1alpha1.AppliedQuirk
	for i := range t.rows {
		if r := &t.rows[i]; !r.General() && r.matches(id) {
			list = append(list, v1alpha1.AppliedQuirk{
				ID: r.ID, Applied: r.By != You, Effect: string(r.Effect), Value: r.Value, Advice: r.Advice,
			})
		}
	}
	return list
}

func (r *Row) matches(id Identity) bool {
	return r.vendor.matches(id.Vendor) && r.model.matches(id.Model) && r.manager.matches(id.Manager) && r.firmware.contains(id.Version)
}

// Has reports whether one of the quirks has the effect.
func Has(list []v1alpha1.AppliedQuirk, e Effect) bool {
	return slices.ContainsFunc(list, func(q v1alpha1.AppliedQuirk) bool { return q.Effect == string(e) })
}

// Values are the values of all quirks with the effect; lists are taken apart.
func Values(list []v1alpha1.AppliedQuirk, e Effect) []string {
	var values []string
	for _, q := range list {
		if q.Effect == string(e) && q.Value != "" {
			values = append(values, strings.Split(q.Value, ",")...)
		}
	}
	return values
}

// NotSupported returns the quirk because of which a capability does not work;
// nil if there is none.
func NotSupported(list []v1alpha1.AppliedQuirk, capability string) *v1alpha1.AppliedQuirk {
	for i, q := range list {
		if q.Effect == string(NotSupportedFor) && q.Value == capability {
			return &list[i]
		}
	}
	return nil
}

// BadVersion is a fault of a BMC's version.
type BadVersion struct {
	v1alpha1.AppliedQuirk

	// Mends is the version without the fault.
	Mends string
	// Capability is what does not work; empty is everything.
	Capability string
}

// BadVersions are the faults of the BMC's version.
func BadVersions(list []v1alpha1.AppliedQuirk) []BadVersion {
	var bad []BadVersion
	for _, q := range list {
		if found := badForm.FindStringSubmatch(q.Value); q.Effect == string(KnownBadVersion) && found != nil {
			bad = append(bad, BadVersion{AppliedQuirk: q, Mends: found[1], Capability: found[2]})
		}
	}
	return bad
}

// Skips reports whether a path must not be read.
func Skips(list []v1alpha1.AppliedQuirk, resource string) bool {
	return slices.ContainsFunc(Values(list, SkipPath), func(pattern string) bool {
		for part := path.Clean(resource); len(part) > 1; part = path.Dir(part) {
			if ok, err := path.Match(pattern, part); err == nil && ok {
				return true
			}
		}
		return false
	})
}

// MayRestart reports whether reading a path may restart a BMC of which no more than the
// vendor is known, or not even that: older iDRACs do not stand it when the chassis of
// RAID controllers and enclosures are read. What is known better has a row in the table.
func MayRestart(vendor, resource string) bool {
	if vendor != "" && vendor != "Dell" {
		return false
	}
	_, chassis, is := strings.Cut(strings.ToLower(resource), "/chassis/")
	return is && (strings.Contains(chassis, "raid") || strings.Contains(chassis, "enclosure"))
}
