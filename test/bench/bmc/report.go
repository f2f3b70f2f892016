package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
	"time"
)

// result is the last line, with exactly these keys.
type result struct {
	Hosts          int     `json:"hosts"`
	ProbeS         float64 `json:"probe_s"`
	ProbeRequests  float64 `json:"probe_requests"`
	CPUS           float64 `json:"cpu_s"`
	PeakMiB        float64 `json:"peak_mib"`
	EventsPerS     float64 `json:"events_per_s"`
	EventReactionS float64 `json:"event_reaction_p99_s"`
	RestPerHostH   float64 `json:"rest_requests_per_host_h"`
	// RestWithoutH is the same of a BMC that pushes no events.
	RestWithoutH float64 `json:"-"`
}

// limit is what a figure of 1,000 hosts may be, on two cores that do nothing else.
type limit struct {
	key string
	is  string
	of  func(result) float64
	// most is the greatest value; least the smallest, for those that must be large.
	most, least float64
}

// limits are those of the figures, in the order of the last line. docs/scale.md has the same.
var limits = []limit{
	{key: "probe_s", is: "seconds from the first host to the report of the last BMC", of: func(r result) float64 { return r.ProbeS }, most: 60},
	{key: "probe_requests", is: "requests for the largest report", of: func(r result) float64 { return r.ProbeRequests }, most: 30},
	{key: "cpu_s", is: "CPU seconds of the program until all hosts are available, beyond those without BMCs", of: func(r result) float64 { return r.CPUS }, most: 15},
	{key: "peak_mib", is: "resident memory of the program at most, events included, beyond that without BMCs", of: func(r result) float64 { return r.PeakMiB }, most: 150},
	{key: "events_per_s", is: "events of BMCs that are taken, none of them lost", of: func(r result) float64 { return r.EventsPerS }, least: 1000},
	{key: "event_reaction_p99_s", is: "seconds from an event to the question to Ironic for its host; 99 % are faster", of: func(r result) float64 { return r.EventReactionS }, most: 0.2},
	{key: "rest_requests_per_host_h", is: "requests an hour to a BMC that pushes events, while nothing happens", of: func(r result) float64 { return r.RestPerHostH }, most: 12},
	{key: "without events", is: "the same to a BMC that pushes none: 12 in 5 minutes", of: func(r result) float64 { return r.RestWithoutH }, most: 144},
}

// result are the figures of the last line.
func (m *measured) result(hosts int) result {
	say("a look at a subscription takes %.1f requests, a reading %.1f", m.look, m.reading)
	return result{
		Hosts: hosts, ProbeS: round(m.probed.Seconds(), 1), ProbeRequests: float64(m.requests),
		CPUS: round((m.full.cpu - m.bare.cpu).Seconds(), 2), PeakMiB: round(float64(max(m.full.peak, m.hearing)-m.bare.peak)/(1<<20), 0),
		EventsPerS: round(m.events, 0), EventReactionS: round(m.reaction.Seconds(), 3),
		RestPerHostH: round(m.look*perHour(m.defaults.look)+m.reading*perHour(m.defaults.readingWithEvents), 1),
		RestWithoutH: round(m.reading*perHour(m.defaults.reading), 1),
	}
}

// report shows the figures beside their limits, and the last line. Each limit that is
// missed is an error; they are for 1,000 hosts.
func report(out io.Writer, r result) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "figure\tis\tlimit\t\t")
	var missed []error
	for _, l := range limits {
		is, verdict := l.of(r), ""
		if r.Hosts == hostsOfLimits && l.missed(is) {
			verdict = "MISSED"
			missed = append(missed, fmt.Errorf("%s is %g: the limit is %g", l.key, is, max(l.most, l.least)))
		}
		fmt.Fprintf(w, "%s\t%g\t%g\t%s\t\n", l.key, is, max(l.most, l.least), verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, string(raw))
	return errors.Join(append(missed, err)...)
}

// hostsOfLimits is how many hosts the limits are for.
const hostsOfLimits = 1000

func (l limit) missed(is float64) bool { return l.most > 0 && is > l.most || is < l.least }

func round(v float64, digits int) float64 {
	unit := math.Pow10(digits)
	return math.Round(v*unit) / unit
}

// String is for people.
func (u used) String() string { return fmt.Sprintf("%s of CPU and %d MiB", seconds(u.cpu), u.peak>>20) }

// seconds is a duration for people.
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
