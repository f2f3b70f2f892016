// Package metrics has the figures of the program inside a cluster: one table of what
// there is, registered together.
package metrics

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics are all figures.
type Metrics struct {
	Registry *prometheus.Registry

	requests, hub, kube *prometheus.CounterVec
	reports             *prometheus.CounterVec
	heard               prometheus.Gauge
	hosts               *prometheus.GaugeVec
}

// Row is one of the documented table.
type Row struct{ Name, Kind, Labels, Help string }

// Table is what there is.
var Table = []Row{
	{"ironflow_cluster_signing_requests_total", "counter", "signer, decision, reason", "Signing requests of kubelets that were approved or left alone."},
	{"ironflow_cluster_hub_requests_total", "counter", "code", "Requests to the hub by status code; 0 is no answer."},
	{"ironflow_cluster_kubernetes_requests_total", "counter", "verb, code", "Requests to the Kubernetes API; a watch counts once, when it is opened."},
	{"ironflow_cluster_reports_total", "counter", "what", "What was reported to the hub: hosts, operators, stages and the end."},
	{"ironflow_cluster_hub_heard_timestamp_seconds", "gauge", "-", "When the hub last told of the cluster."},
	{"ironflow_cluster_hosts", "gauge", "stage", "Hosts of the cluster by the stage that the hub has."},
}

// New registers all figures.
func New() *Metrics {
	help := map[string]string{}
	for _, r := range Table {
		help[r.Name] = r.Help
	}
	counter := func(name string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help[name]}, labels)
	}
	m := &Metrics{
		Registry: prometheus.NewRegistry(),
		requests: counter(Table[0].Name, "signer", "decision", "reason"), hub: counter(Table[1].Name, "code"),
		kube: counter(Table[2].Name, "verb", "code"), reports: counter(Table[3].Name, "what"),
		heard: prometheus.NewGauge(prometheus.GaugeOpts{Name: Table[4].Name, Help: Table[4].Help}),
		hosts: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: Table[5].Name, Help: Table[5].Help}, []string{"stage"}),
	}
	m.Registry.MustRegister(m.requests, m.hub, m.kube, m.reports, m.heard, m.hosts, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Request counts a signing request that was decided on.
func (m *Metrics) Request(signer, decision, reason string) {
	m.requests.WithLabelValues(signer, decision, reason).Inc()
}

// Hub counts a request to the hub.
func (m *Metrics) Hub(code int) { m.hub.WithLabelValues(strconv.Itoa(code)).Inc() }

// Kube counts a request to the Kubernetes API.
func (m *Metrics) Kube(verb string, code int) { m.kube.WithLabelValues(verb, strconv.Itoa(code)).Inc() }

// Report counts something that the hub was told.
func (m *Metrics) Report(what string) { m.reports.WithLabelValues(what).Inc() }

// Heard notes when the hub told of the cluster, and how many hosts are at each stage.
func (m *Metrics) Heard(seconds float64, stages map[string]int) {
	m.heard.Set(seconds)
	m.hosts.Reset()
	for stage, n := range stages {
		m.hosts.WithLabelValues(stage).Set(float64(n))
	}
}
