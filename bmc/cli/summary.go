package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// group are the BMCs of one vendor and model.
type group struct {
	Vendor string `json:"vendor"`
	Model  string `json:"model"`
	BMCs   int    `json:"bmcs"`
	// Can says by capability how many can, cannot, or do not tell.
	Can map[string]*count `json:"can"`
}

type count struct {
	Yes     int `json:"yes"`
	No      int `json:"no"`
	Unknown int `json:"unknown"`
}

// summarize counts by vendor and model, the most frequent first.
func summarize(results []result) []group {
	groups := []group{}
	for _, r := range results {
		if r.report == nil {
			continue
		}
		i := slices.IndexFunc(groups, func(g group) bool { return g.Vendor == r.report.Vendor && g.Model == r.report.Model })
		if i < 0 {
			g := group{Vendor: r.report.Vendor, Model: r.report.Model, Can: map[string]*count{}}
			for _, c := range counted {
				g.Can[c.title] = &count{}
			}
			i, groups = len(groups), append(groups, g)
		}
		groups[i].add(r.report)
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		return cmp.Or(b.BMCs-a.BMCs, strings.Compare(a.Vendor, b.Vendor), strings.Compare(a.Model, b.Model))
	})
	return groups
}

func (g *group) add(r *v1alpha1.BMCReport) {
	g.BMCs++
	for _, c := range counted {
		n := g.Can[c.title]
		switch stateOf(r, c.name) {
		case v1alpha1.Yes:
			n.Yes++
		case v1alpha1.No:
			n.No++
		case v1alpha1.Unknown:
			n.Unknown++
		}
	}
}

func printSummary(out io.Writer, groups []group) error {
	if len(groups) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(out, "\nHow many can:"); err != nil {
		return err
	}
	t := newTable(out, "VENDOR", "MODEL", "BMCS", strings.ToUpper(strings.Join(titles(), "\t")))
	for _, g := range groups {
		row := []string{g.Vendor, g.Model, strconv.Itoa(g.BMCs)}
		for _, c := range counted {
			row = append(row, g.Can[c.title].String())
		}
		t.row(row...)
	}
	return t.end()
}

// String is the number of those that can, with those that do not tell.
func (c *count) String() string {
	if c.Unknown == 0 {
		return strconv.Itoa(c.Yes)
	}
	return fmt.Sprintf("%d (%d unknown)", c.Yes, c.Unknown)
}
