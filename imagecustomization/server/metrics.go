package server

import (
	"maps"
	"slices"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// counter is a counter that many connections add to at little cost.
type counter struct{ n atomic.Int64 }

func (c *counter) add(n int64) { c.n.Add(n) }

func (c *counter) value() float64 { return float64(c.n.Load()) }

// metrics are all that the server tells about itself; none is per host.
type metrics struct {
	bytes    counter
	readers  counter // a gauge: entries are taken out again
	stalled  counter
	answers  map[int]*counter
	rejected map[string]*counter
	refused  map[string]*counter
}

// Reasons why a request is turned away.
const (
	rejectHost      = "host_limit"
	rejectTotal     = "total_limit"
	rejectArtifacts = "artifact_limit"
	rejectMedium    = "base_written"
)

// Reasons why a connection is closed at once.
const (
	refuseTotal   = "total_limit"
	refuseAddress = "address_limit"
)

// rejections are what such an answer says.
var rejections = map[string]string{
	rejectHost: "too many readers", rejectTotal: "too many readers", rejectArtifacts: "too many readers",
	rejectMedium: "the file of the medium was written to: images over it are made anew",
}

// answerCodes are the status codes that the server gives.
var answerCodes = map[int]string{200: "200", 206: "206", 304: "304", 400: "400", 401: "401", 404: "404", 405: "405", 412: "412", 416: "416", 500: "500", 503: "503"}

func newMetrics(reg prometheus.Registerer, images func() (int, int64)) *metrics {
	m := &metrics{answers: map[int]*counter{}, rejected: map[string]*counter{}, refused: map[string]*counter{}}
	value := func(name, help string, c *counter, gauge bool, labels prometheus.Labels) prometheus.Collector {
		if gauge {
			return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help, ConstLabels: labels}, c.value)
		}
		return prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help, ConstLabels: labels}, c.value)
	}
	all := []prometheus.Collector{
		value("ironflow_images_sent_bytes_total", "Bytes of live images that were sent to readers.", &m.bytes, false, nil),
		value("ironflow_images_readers", "Connections that read a live image now.", &m.readers, true, nil),
		value("ironflow_images_stalled_readers_total", "Readers that were dropped because they took too little for too long.", &m.stalled, false, nil),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ironflow_images", Help: "Live images that can be read."},
			func() float64 { n, _ := images(); return float64(n) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ironflow_images_memory_bytes", Help: "Memory that live images hold beyond their medium."},
			func() float64 { _, n := images(); return float64(n) }),
	}
	for code, text := range answerCodes {
		m.answers[code] = &counter{}
		all = append(all, value("ironflow_images_requests_total", "Requests to the image server by status code.",
			m.answers[code], false, prometheus.Labels{"code": text}))
	}
	for _, reason := range slices.Sorted(maps.Keys(rejections)) {
		m.rejected[reason] = &counter{}
		all = append(all, value("ironflow_images_rejected_total", "Requests that were turned away with 503.",
			m.rejected[reason], false, prometheus.Labels{"reason": reason}))
	}
	for _, reason := range []string{refuseAddress, refuseTotal} {
		m.refused[reason] = &counter{}
		all = append(all, value("ironflow_images_refused_connections_total", "Connections that were closed at once, because there were too many.",
			m.refused[reason], false, prometheus.Labels{"reason": reason}))
	}
	if reg != nil {
		for _, c := range all {
			reg.MustRegister(c)
		}
	}
	return m
}

func (m *metrics) answered(code int) {
	if c := m.answers[code]; c != nil {
		c.add(1)
	}
}
