package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/probe"
)

// document is the output for programs when several BMCs are probed.
type document struct {
	Reports  []*v1alpha1.BMCReport `json:"reports"`
	Failures []*failure            `json:"failures"`
	Summary  []group               `json:"summary"`
}

// print writes the results in the form that was asked for.
func (j *job) print(out io.Writer, results []result) error {
	if j.output == outputTable {
		return j.printTable(out, results)
	}
	var content any
	if j.single {
		content = results[0].report
	} else {
		d := document{Reports: []*v1alpha1.BMCReport{}, Failures: []*failure{}, Summary: summarize(results)}
		for _, r := range results {
			if r.report != nil {
				d.Reports = append(d.Reports, r.report)
			} else {
				d.Failures = append(d.Failures, r.failure)
			}
		}
		content = d
	}
	if j.output == outputYAML {
		text, err := yaml.Marshal(content)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(content)
}

func (j *job) printTable(out io.Writer, results []result) error {
	if j.single {
		return PrintReport(out, results[0].report)
	}
	t := newTable(out, "ADDRESS", "VENDOR", "MODEL", "SERIAL", "BMC", "BIOS", strings.ToUpper(strings.Join(titles(), "\t")), "QUIRKS")
	for _, r := range results {
		if r.report == nil {
			continue
		}
		row := []string{r.report.Address, r.report.Vendor, r.report.Model, r.report.SerialNumber, bmcOf(r.report), r.report.BIOSVersion}
		for _, c := range counted {
			row = append(row, string(stateOf(r.report, c.name)))
		}
		t.row(append(row, fmt.Sprint(len(r.report.Quirks)))...)
	}
	if err := t.end(); err != nil {
		return err
	}
	if err := printSummary(out, summarize(results)); err != nil {
		return err
	}
	return printFailures(out, results)
}

func printFailures(out io.Writer, results []result) error {
	title := "\nNot probed:\n"
	for _, r := range results {
		if r.failure == nil {
			continue
		}
		if _, err := fmt.Fprintf(out, "%s  %s: %s\n    %s\n    next: %s\n", title, r.failure.Address, r.failure.Kind, r.failure.Message, r.failure.Next); err != nil {
			return err
		}
		title = ""
	}
	return nil
}

func bmcOf(r *v1alpha1.BMCReport) string {
	return strings.TrimSpace(r.ManagerModel + " " + r.BMCVersion)
}

// table writes aligned columns. An empty cell shows as a dash.
type table struct {
	w   *tabwriter.Writer
	err error
}

func newTable(out io.Writer, titles ...string) *table {
	t := &table{w: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)}
	t.row(titles...)
	return t
}

func (t *table) row(cells ...string) {
	for i := range cells {
		cells[i] = cmp.Or(cells[i], "-")
	}
	if _, err := fmt.Fprintln(t.w, strings.Join(cells, "\t")); err != nil {
		t.err = cmp.Or(t.err, err)
	}
}

func (t *table) end() error { return cmp.Or(t.err, t.w.Flush()) }

// stateOf is the state of a capability in a report.
func stateOf(r *v1alpha1.BMCReport, name string) v1alpha1.CapabilityState {
	for _, c := range r.Capabilities {
		if c.Name == name {
			return c.State
		}
	}
	return v1alpha1.Unknown
}

// counted are the capabilities that lists and summaries show.
var counted = []struct{ name, title string }{
	{probe.VirtualMediaCD, "media"},
	{probe.HTTPBoot, "httpBoot"},
	{probe.SecureBoot, "secureBoot"},
	{probe.VolumeCreation, "raid"},
	{probe.Events, "events"},
}

func titles() []string {
	out := make([]string, 0, len(counted))
	for _, c := range counted {
		out = append(out, c.title)
	}
	return out
}
