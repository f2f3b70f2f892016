package rest

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	known "github.com/ironflow/ironflow/hub/metrics"
)

// metrics are the figures of requests, by operation and never by host.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	// known has the same by the protocol's name.
	known *known.Metrics
}

func newMetrics(r prometheus.Registerer, protocols *known.Metrics) *metrics {
	m := &metrics{
		known: protocols,
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "ironflow_hub_requests_total", Help: "Requests of the REST API by operation and status code.",
		}, []string{"operation", "code"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "ironflow_hub_request_seconds", Help: "Time to answer a request of the REST API, in seconds.",
			Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10},
		}, []string{"operation"}),
	}
	if r != nil {
		r.MustRegister(m.requests, m.seconds)
	}
	return m
}

// count wraps the handler of an operation.
func (m *metrics) count(operation string, handle http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		counted := &statusWriter{ResponseWriter: w, code: http.StatusOK}
		handle(counted, r)
		m.requests.WithLabelValues(operation, strconv.Itoa(counted.code)).Inc()
		took := time.Since(start)
		m.seconds.WithLabelValues(operation).Observe(took.Seconds())
		m.known.Operation(operation, took)
	})
}

// statusWriter remembers the status code.
type statusWriter struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements [http.ResponseWriter].
func (s *statusWriter) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Unwrap lets net/http reach the connection's deadlines.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }
