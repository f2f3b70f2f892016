package main

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// limit is the most that a figure may be with so many hosts, on two cores that do nothing else; 0 is no limit.
type limit struct {
	key             string
	is              string
	of              func(result) float64
	with1k, with10k float64
}

// limits are those of the figures, in the order of the last line. docs/scale.md has the same.
var limits = []limit{
	{"available_s", "seconds until all hosts are available and on", func(r result) float64 { return r.AvailableS }, 80, 0},
	{"provisioned_s", "seconds until all have their image", func(r result) float64 { return r.ProvisionedS }, 50, 0},
	{"deleted_s", "seconds until all are gone", func(r result) float64 { return r.DeletedS }, 60, 0},
	{"kube_per_host", "Kubernetes requests a host to available", func(r result) float64 { return r.KubePerHost }, 14, 0},
	{"ironic_per_host", "Ironic requests a host to available, the watch's included", func(r result) float64 { return r.IronicPerHost }, 9, 0},
	{"rest_ironic_per_min", "Ironic requests a minute for the whole fleet at rest", func(r result) float64 { return r.RestIronicPerMi }, 0, 0},
	{"cpu_s", "CPU seconds of the controller until all are available", func(r result) float64 { return r.CPUS }, 15, 0},
	{"peak_mib", "resident memory of the controller at most, over the whole run", func(r result) float64 { return r.PeakMiB }, 120, 600},
	{"reaction_p99_s", "seconds from the end of an operation in Ironic to the next request for its node; 99 % are faster", func(r result) float64 { return r.ReactionP99S }, 2, 0},
}

// most is the limit with so many hosts.
func (l limit) most(hosts int) float64 {
	switch hosts {
	case 1000:
		return l.with1k
	case 10_000:
		return l.with10k
	default:
		return 0
	}
}

// printLimits shows the figures that have a limit beside it.
func printLimits(out io.Writer, r result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nfigure\t\tlimit\t\t")
	for _, l := range limits {
		most, is := l.most(r.Hosts), l.of(r)
		if most == 0 {
			continue
		}
		verdict := ""
		if is > most {
			verdict = "OVER"
		}
		fmt.Fprintf(w, "%s\t%g\t%g\t%s\t\n", l.key, is, most, verdict)
	}
	return w.Flush()
}
