package metrics

import (
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/bmc/client"
)

// Outcomes of requests and probes, besides the kinds of bmc/client.
const (
	outcomeOK    = "OK"
	outcomeError = "Error"
)

// probeBuckets are in seconds: a probe is paced, and ends after two minutes.
var probeBuckets = []float64{1, 2, 5, 10, 15, 20, 30, 60, 120}

// Metrics are the figures of what is asked of BMCs. A nil pointer counts nothing.
type Metrics struct {
	requests *prometheus.CounterVec
	probes   *prometheus.HistogramVec
}

// New registers the figures.
func New(r prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ironflow_bmc_requests_total", Help: "Requests to BMCs by outcome: OK, or what was wrong, such as Unreachable, Credentials or Busy.",
		}, []string{"outcome"}),
		probes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ironflow_bmc_probe_seconds", Help: "Time that probes of BMCs took, by outcome: OK for a report, or what was wrong.", Buckets: probeBuckets,
		}, []string{"outcome"}),
	}
	m.requests.WithLabelValues(outcomeOK) // shown as 0, so that alerts see the first increment
	for _, c := range []prometheus.Collector{m.requests, m.probes} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register metrics of BMCs: %w", err)
		}
	}
	return m, nil
}

// Requested counts a request to a BMC; the kind is that of its error, empty for none.
func (m *Metrics) Requested(kind client.Kind) {
	if m == nil {
		return
	}
	outcome := string(kind)
	if kind == "" {
		outcome = outcomeOK
	}
	m.requests.WithLabelValues(outcome).Inc()
}

// Probed counts a probe.
func (m *Metrics) Probed(took time.Duration, err error) {
	if m == nil {
		return
	}
	outcome := outcomeOK
	if e, is := errors.AsType[*client.Error](err); is {
		outcome = string(e.Kind)
	} else if err != nil {
		outcome = outcomeError
	}
	m.probes.WithLabelValues(outcome).Observe(took.Seconds())
}
