// Package metrics has the figures of installations by the names that dashboards and alerts
// of this protocol read. [Metrics.Counted] is a store that they are taken from: what is
// stored is what has happened, once, whoever asked for it. [Table] says what each of the
// known names is here, and why some are not.
//
// No label names a host, a cluster or an image: hosts may send anything. Figures of this
// hub itself, such as those of its requests, have names of their own (hub/rest).
package metrics

import (
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/ironflow/ironflow/hub/store"
)

// prefix is before all known names.
const prefix = "service_assisted_installer_"

// Metrics are the figures of one replica since it started.
type Metrics struct {
	registry *prometheus.Registry
	counters map[string]*prometheus.CounterVec
	spans    map[string]*prometheus.HistogramVec

	mu sync.Mutex
	// stages are those that hosts are in, with when they began; of hosts that are being installed alone.
	stages map[store.HostKey]stage
}

type stage struct {
	name  string
	since time.Time
}

// New makes them. usage tells how full the file system with the hub's files is, in
// percent; nil where that is somebody else's.
func New(usage func() (float64, error)) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(), counters: map[string]*prometheus.CounterVec{}, spans: map[string]*prometheus.HistogramVec{},
		stages: map[store.HostKey]stage{},
	}
	for _, row := range Table {
		switch {
		case row.Not != "":
		case row.Buckets != nil:
			v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: prefix + row.Name, Help: row.Help, Buckets: row.Buckets}, row.Labels)
			m.registry.MustRegister(v)
			m.spans[row.Name] = v
		case row.Name != filesystemUsage:
			v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: prefix + row.Name, Help: row.Help}, row.Labels)
			m.registry.MustRegister(v)
			m.counters[row.Name] = v
		case usage != nil:
			m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: prefix + row.Name, Help: row.Help}, func() float64 {
				percent, err := usage()
				if err != nil {
					return -1
				}
				return percent
			}))
		}
	}
	return m
}

// Handler answers with all figures.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}

// Operation notes how long a call took.
func (m *Metrics) Operation(id string, took time.Duration) {
	m.observe("operation_duration_miliseconds", milliseconds(took), id)
}

// Looked notes how long a look at a host or a cluster took that was due.
func (m *Metrics) Looked(of store.Kind, took time.Duration) {
	name := "monitored_hosts_duration_ms"
	if of == store.KindCluster {
		name = "monitored_clusters_duration_ms"
	}
	m.observe(name, milliseconds(took))
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

func (m *Metrics) count(name string, labels ...string) {
	m.counters[name].WithLabelValues(labels...).Inc()
}

func (m *Metrics) observe(name string, value float64, labels ...string) {
	m.spans[name].WithLabelValues(labels...).Observe(value)
}
