package bmcevents

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/bmc/events"
)

// counts are the metrics of the events of all BMCs.
type counts struct {
	wakes, alerts *prometheus.CounterVec
}

// newCounts registers them; read gives those of the receiver.
func newCounts(to prometheus.Registerer, read func() events.Counts) (*counts, error) {
	c := &counts{
		wakes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ironflow_bmc_event_wakes_total", Help: "What BMCs have told that somebody may wait for, by kind.",
		}, []string{"kind"}),
		alerts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ironflow_bmc_event_alerts_total", Help: "Alerts of BMCs that became events of their hosts (told), were too many for that (held), or were about another host of the same BMC (elsewhere).",
		}, []string{"result"}),
	}
	if to == nil {
		return c, nil
	}
	err := errors.Join(to.Register(c.wakes), to.Register(c.alerts), to.Register(&deliveries{
		read: read,
		taken: prometheus.NewDesc("ironflow_bmc_event_deliveries_total",
			"Deliveries of BMCs: taken, taken unread because there were too many (overflowed), and refused because they were nobody's.", []string{"result"}, nil),
		events: prometheus.NewDesc("ironflow_bmc_events_total", "Events in the deliveries that were taken, and how many of them had been told before (repeated).", []string{"result"}, nil),
	}))
	if err != nil {
		return nil, fmt.Errorf("register the metrics of BMC events: %w", err)
	}
	return c, nil
}

// RegisterMetrics registers the metrics without anything behind them, for the list of
// all that there are.
func RegisterMetrics(to prometheus.Registerer) error {
	_, err := newCounts(to, func() events.Counts { return events.Counts{} })
	return err
}

// deliveries shows the counts of the receiver.
type deliveries struct {
	read          func() events.Counts
	taken, events *prometheus.Desc
}

// Describe implements prometheus.Collector.
func (d *deliveries) Describe(to chan<- *prometheus.Desc) { to <- d.taken; to <- d.events }

// Collect implements prometheus.Collector.
func (d *deliveries) Collect(to chan<- prometheus.Metric) {
	c := d.read()
	for _, row := range []struct {
		desc   *prometheus.Desc
		n      int64
		result string
	}{
		{d.taken, c.Taken, "taken"},
		{d.taken, c.Overflowed, "overflowed"},
		{d.taken, c.Refused, "refused"},
		{d.events, c.Events - c.Repeated, "new"},
		{d.events, c.Repeated, "repeated"},
	} {
		to <- prometheus.MustNewConstMetric(row.desc, prometheus.CounterValue, float64(row.n), row.result)
	}
}
