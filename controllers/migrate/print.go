package migrate

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/ironflow/ironflow/api/names"
)

// JSON writes the report for programs.
func (r *Report) JSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// verdicts are what a person reads.
var verdicts = map[string]string{
	ready:           "ready: the fleet can be handed over; only status and the annotation " + names.Deployed + " would be written",
	string(Warning): "warning: the fleet can be handed over; look at the warnings first, these hosts would be written to or need somebody",
	string(Blocker): "blocker: fix what is named before the fleet is handed over",
}

// Text writes the report for people.
func (r *Report) Text(w io.Writer) error {
	var counts []string
	for _, state := range slices.Sorted(maps.Keys(r.States)) {
		counts = append(counts, fmt.Sprintf("%d %s", r.States[state], state))
	}
	table := tabwriter.NewWriter(w, 0, 4, 2, ' ', 0)
	fmt.Fprintf(table, "baremetal-operator:\t%s\n", orNone(r.Operator, "does not hold its lease"))
	fmt.Fprintf(table, "Ironic:\t%s\n", orNone(r.IronicVersion, "not reached"))
	fmt.Fprintf(table, "hosts:\t%d (%s)\n", len(r.Hosts), strings.Join(counts, ", "))
	if len(r.Hosts) > 0 {
		fmt.Fprintln(table, "\nHOST\tSTATE\tSTATUS\tNODE\tNODE STATE\tFOUND BY\tWOULD BE WRITTEN")
	}
	for _, h := range r.Hosts {
		fmt.Fprintln(table, strings.Join([]string{
			h.key(), orNone(h.State, "new"), orNone(h.Status, "-"), orNone(h.Node, "-"), orNone(h.NodeState, "-"), h.FoundBy, writesText(h.Writes),
		}, "\t"))
	}
	if len(r.Findings) > 0 {
		fmt.Fprintln(table, "\nSEVERITY\tCHECK\tOBJECT\tFOUND")
	}
	for _, f := range r.Findings {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", f.Severity, f.Check, orNone(f.Object, "-"), f.Text)
	}
	fmt.Fprintf(table, "\n%s\n", verdicts[r.Verdict])
	return table.Flush()
}

func orNone(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

// writesText is a cell: the details are among the findings.
func writesText(writes []string) string {
	if len(writes) == 0 {
		return "status only"
	}
	return fmt.Sprintf("%d, see below", len(writes))
}
