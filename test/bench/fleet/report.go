package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// report is what a run has measured.
type report struct {
	hosts  int
	stages []measurement
}

// result is the last line, with exactly these keys.
type result struct {
	Hosts           int     `json:"hosts"`
	AvailableS      float64 `json:"available_s"`
	ProvisionedS    float64 `json:"provisioned_s"`
	DeletedS        float64 `json:"deleted_s"`
	KubePerHost     float64 `json:"kube_per_host"`
	IronicPerHost   float64 `json:"ironic_per_host"`
	RestIronicPerMi float64 `json:"rest_ironic_per_min"`
	CPUS            float64 `json:"cpu_s"`
	PeakMiB         float64 `json:"peak_mib"`
	ReactionP99S    float64 `json:"reaction_p99_s"`
}

// print writes the tables and the line of JSON.
func (r *report) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "stage\tseconds\tCPU s\tpeak MiB\tKubernetes requests\ta host\tIronic requests\ta host\t")
	for _, m := range r.stages {
		kube, ironic := total(m.kube), total(m.ironic)
		fmt.Fprintf(w, "%s\t%.1f\t%.2f\t%.0f\t%d\t%.2f\t%d\t%.2f\t\n", m.name, m.took.Seconds(), m.cpu.Seconds(), mib(m.peak),
			kube, r.perHost(kube), ironic, r.perHost(ironic))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, m := range r.stages {
		r.printRequests(out, m)
	}
	if err := r.printReactions(out); err != nil {
		return err
	}
	result := r.result()
	if err := printLimits(out, result); err != nil {
		return err
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, string(raw))
	return err
}

// printRequests lists the requests of a stage by verb and kind, the most first.
func (r *report) printRequests(out io.Writer, m measurement) {
	for _, side := range []struct {
		name   string
		counts map[string]int
	}{{"Kubernetes", m.kube}, {"Ironic", m.ironic}} {
		if len(side.counts) == 0 {
			fmt.Fprintf(out, "\n%s requests, stage %s: none\n", side.name, m.name)
			continue
		}
		fmt.Fprintf(out, "\n%s requests, stage %s\n", side.name, m.name)
		keys := slices.SortedFunc(maps.Keys(side.counts), func(a, b string) int {
			if d := side.counts[b] - side.counts[a]; d != 0 {
				return d
			}
			return strings.Compare(a, b)
		})
		for _, key := range keys {
			fmt.Fprintf(out, "%9d %9.2f a host  %s\n", side.counts[key], r.perHost(side.counts[key]), key)
		}
	}
}

// printReactions lists how soon was reacted to the ends of operations, all of them last.
func (r *report) printReactions(out io.Writer) error {
	all := r.stages[len(r.stages)-1].react.Reactions
	fmt.Fprintln(out, "\nseconds from the end of an operation in Ironic to the next call for its node")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "operation\tcount\tp50\tp99\tat most\t")
	operations := slices.Sorted(maps.Keys(all))
	for _, operation := range append(operations[min(1, len(operations)):], "") {
		c := all[operation]
		fmt.Fprintf(w, "%s\t%d\t%.2f\t%.2f\t%.2f\t\n", cmp.Or(operation, "all"), c.Count, c.P50, c.P99, c.Max)
	}
	return w.Flush()
}

// result picks the figures of the last line. CPU seconds are those up to
// available, as they were measured for baremetal-operator.
func (r *report) result() result {
	j := result{Hosts: r.hosts}
	for _, m := range r.stages {
		seconds := round(m.took.Seconds(), 1)
		switch m.name {
		case stageAvailable:
			j.AvailableS, j.CPUS = seconds, round(m.cpu.Seconds(), 2)
			j.KubePerHost, j.IronicPerHost = round(r.perHost(total(m.kube)), 2), round(r.perHost(total(m.ironic)), 2)
		case stageProvisioned:
			j.ProvisionedS = seconds
		case stageRest:
			j.RestIronicPerMi = round(float64(total(m.ironic))*float64(time.Minute)/float64(m.took), 2)
		case stageDeleted:
			j.DeletedS = seconds
		}
		j.ReactionP99S = round(m.react.Reactions[""].P99, 2)
		j.PeakMiB = round(mib(m.peak), 0)
	}
	return j
}

func (r *report) perHost(n int) float64 { return float64(n) / float64(r.hosts) }

// total is the sum of all counts; the bench's own look at the figures is not among them.
func total(counts map[string]int) int {
	sum := 0
	for _, n := range counts {
		sum += n
	}
	return sum
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }

func round(v float64, digits int) float64 {
	unit := math.Pow10(digits)
	return math.Round(v*unit) / unit
}
