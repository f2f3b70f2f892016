package ironic

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metric describes one metric of this package, for documentation and its test.
type Metric struct {
	Name   string
	Type   string // "histogram", "counter" or "gauge"
	Labels []string
	Help   string
}

// metricTable is the one list of this package's metrics.
var metricTable = []Metric{
	{
		"ironflow_ironic_request_duration_seconds", "histogram",
		[]string{"endpoint", "call"},
		"Time from sending a request to Ironic until its answer was read.",
	},
	{
		"ironflow_ironic_request_errors_total", "counter",
		[]string{"endpoint", "call", "kind"},
		"Requests that Ironic did not accept, by kind: busy, rejected, gone, unavailable.",
	},
	{
		"ironflow_ironic_up", "gauge",
		[]string{"endpoint"},
		"1 when the last request got an answer from Ironic, 0 when it did not.",
	},
	{
		"ironflow_ironic_api_minor_version", "gauge",
		[]string{"endpoint"},
		"Minor part of the negotiated API version, for example 110 for 1.110.",
	},
	{
		"ironflow_ironic_watch_reads_total", "counter",
		[]string{"endpoint", "reader"},
		"Requests of the node watch, by reader: feed, inflight, sweep.",
	},
	{
		"ironflow_ironic_watch_changes_total", "counter",
		[]string{"endpoint", "reader", "kind"},
		"Node changes that the watch reported, by the reader that saw them first and by kind.",
	},
	{
		"ironflow_ironic_watch_nodes", "gauge",
		[]string{"endpoint"},
		"Nodes that the watch knows.",
	},
}

// Metrics lists every metric that gateways and watches register; a test holds
// docs/metrics.md to it.
func Metrics() []Metric { return append([]Metric(nil), metricTable...) }

// metrics are the live collectors behind metricTable, shared by all endpoints
// of one registry.
type metrics struct {
	duration *prometheus.HistogramVec
	errors   *prometheus.CounterVec
	up       *prometheus.GaugeVec
	version  *prometheus.GaugeVec
	reads    *prometheus.CounterVec
	changes  *prometheus.CounterVec
	nodes    *prometheus.GaugeVec
}

// requestBuckets cover Ironic's 8 ms answers and its 30 s time-outs.
var requestBuckets = []float64{.005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30}

func newMetrics(r prometheus.Registerer) (*metrics, error) {
	if r == nil {
		r = prometheus.NewRegistry()
	}
	next := 0
	row := func() Metric { next++; return metricTable[next-1] }
	counter := func() *prometheus.CounterVec {
		m := row()
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: m.Name, Help: m.Help}, m.Labels)
	}
	gauge := func() *prometheus.GaugeVec {
		m := row()
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: m.Name, Help: m.Help}, m.Labels)
	}
	h := row()
	m := &metrics{duration: prometheus.NewHistogramVec(
		prometheus.HistogramOpts{Name: h.Name, Help: h.Help, Buckets: requestBuckets}, h.Labels)}
	m.errors, m.up, m.version, m.reads, m.changes, m.nodes = counter(), gauge(), gauge(), counter(), counter(), gauge()
	var err error
	m.duration, err = registered(r, m.duration, err)
	m.errors, err = registered(r, m.errors, err)
	m.up, err = registered(r, m.up, err)
	m.version, err = registered(r, m.version, err)
	m.reads, err = registered(r, m.reads, err)
	m.changes, err = registered(r, m.changes, err)
	m.nodes, err = registered(r, m.nodes, err)
	return m, err
}

// registered registers a collector, or returns the one that another gateway of
// the same registry registered before.
func registered[C prometheus.Collector](r prometheus.Registerer, c C, err error) (C, error) {
	if err != nil {
		return c, err
	}
	err = r.Register(c)
	if there, ok := errors.AsType[prometheus.AlreadyRegisteredError](err); ok {
		if same, ok := there.ExistingCollector.(C); ok {
			return same, nil
		}
	}
	return c, err
}
