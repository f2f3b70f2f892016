package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// PrintReport shows one report to people.
func PrintReport(out io.Writer, r *v1alpha1.BMCReport) error {
	t := newTable(out, "ADDRESS", r.Address)
	for _, line := range facts(r) {
		if line[1] != "" {
			t.row(line[0], line[1])
		}
	}
	if err := t.end(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	t = newTable(out, "CAPABILITY", "STATE", "DETAIL", "PROOF")
	for _, c := range r.Capabilities {
		t.row(c.Name, string(c.State), cut(c.Detail, widestDetail), cut(c.Proof, widestProof))
	}
	if err := t.end(); err != nil {
		return err
	}
	if err := printStorage(out, r.Storage); err != nil {
		return err
	}
	if err := printFirmware(out, r.Firmware); err != nil {
		return err
	}
	return printNotes(out, r)
}

// The widest columns of the table of capabilities; JSON and YAML have all of it.
const (
	widestDetail = 48
	widestProof  = 120
)

// cut shortens a text for a table.
func cut(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return text
}

// facts are the lines above the capabilities.
func facts(r *v1alpha1.BMCReport) [][2]string {
	out := [][2]string{
		{"Vendor", r.Vendor},
		{"Model", r.Model},
		{"Serial number", r.SerialNumber},
		{"BMC", bmcOf(r)},
		{"BIOS", r.BIOSVersion},
		{"Redfish", r.RedfishVersion},
		{"System", r.System},
		{"Manager", r.Manager},
		{"Power", r.PowerState},
	}
	if skew := r.ClockSkewSeconds; skew != nil {
		out = append(out, [2]string{"Clock", fmt.Sprintf("%+d s against ours", *skew)})
	}
	if c := r.Certificate; c != nil {
		kind := "issued by " + c.Issuer
		if c.SelfSigned {
			kind = "self-signed"
		}
		out = append(out,
			[2]string{"Certificate", fmt.Sprintf("%s, %s, until %s, %s, %s", c.Subject, kind, c.NotAfter.UTC().Format(time.DateOnly), c.Key, c.TLS)},
			[2]string{"Pin", c.SHA256})
	}
	if b := r.BIOS; b != nil {
		out = append(out, [2]string{"BIOS settings", fmt.Sprintf("%d, %d of them wait for a restart", b.Attributes, b.Pending)})
	}
	return append(out,
		[2]string{"Licences", strings.Join(r.Licences, ", ")},
		[2]string{"Requests", fmt.Sprint(r.Requests)})
}

func printStorage(out io.Writer, all []v1alpha1.StorageReport) error {
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	t := newTable(out, "STORAGE", "CONTROLLER", "RAID", "NEW VOLUMES", "VOLUMES", "DRIVES", "PROBLEMS")
	for _, s := range all {
		raid := "not said"
		if s.RAIDTypes != nil {
			raid = strings.Join(*s.RAIDTypes, ", ")
		}
		var problems []string
		for _, d := range s.Drives {
			if d.Problem != "" {
				problems = append(problems, d.ID+": "+d.Problem)
			}
		}
		t.row(s.ID, s.Name, raid, string(s.CreatesVolumes), fmt.Sprint(len(s.Volumes)), fmt.Sprint(len(s.Drives)), strings.Join(problems, "; "))
	}
	return t.end()
}

func printFirmware(out io.Writer, all []v1alpha1.FirmwareReport) error {
	if len(all) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	t := newTable(out, "FIRMWARE", "NAME", "VERSION")
	for _, f := range all {
		t.row(f.ID, f.Name, f.Version)
	}
	return t.end()
}

// printNotes shows quirks, what waits to be done, and what was left out.
func printNotes(out io.Writer, r *v1alpha1.BMCReport) error {
	if len(r.Quirks) > 0 {
		fmt.Fprintln(out)
		t := newTable(out, "QUIRK", "EFFECT", "ADVICE")
		for _, q := range r.Quirks {
			t.row(q.ID, strings.TrimSpace(q.Effect+" "+q.Value), q.Advice)
		}
		if err := t.end(); err != nil {
			return err
		}
	}
	for _, list := range []struct {
		title string
		lines []string
	}{{"Waits to be done", r.PendingJobs}, {"Remarks", r.Remarks}} {
		if len(list.lines) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(out, "\n%s:\n  %s\n", list.title, strings.Join(list.lines, "\n  ")); err != nil {
			return err
		}
	}
	return nil
}
