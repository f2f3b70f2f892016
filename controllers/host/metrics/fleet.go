package metrics

import (
	"context"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/view"
)

// Names of the figures of the fleet.
const (
	metricHosts  = "ironflow_hosts"
	metricOldest = "ironflow_host_phase_oldest_seconds"
	metricStuck  = "ironflow_hosts_stuck"
)

// fleet counts the hosts when somebody asks: from the cache, so that it is never
// wrong after a restart and costs nothing in between.
type fleet struct {
	client client.Reader
	now    func() time.Time

	hosts, oldest, stuck *prometheus.Desc
}

// fleetTable lists the figures of the fleet.
var fleetTable = []metricRow{
	{metricHosts, "Hosts by phase and operational status.", []string{"phase", "status"}, nil},
	{metricOldest, "Time that the host has been in a phase that has been there longest, for phases that end by themselves.", []string{"phase"}, nil},
	{metricStuck, "Hosts that do not get on: by the reason of their error, or Overdue when they only take longer than usual.", []string{"phase", "reason"}, nil},
}

// newFleet makes the collector; c is a cache.
func newFleet(c client.Reader) *fleet {
	desc := func(i int) *prometheus.Desc {
		row := fleetTable[i]
		return prometheus.NewDesc(row.Name, row.Help, row.Labels, nil)
	}
	return &fleet{client: c, now: time.Now, hosts: desc(0), oldest: desc(1), stuck: desc(2)}
}

// Describe implements prometheus.Collector.
func (f *fleet) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{f.hosts, f.oldest, f.stuck} {
		to <- d
	}
}

// Collect implements prometheus.Collector. A cache that cannot answer (yet) gives
// no figures rather than wrong ones.
func (f *fleet) Collect(to chan<- prometheus.Metric) {
	var list metal3.BareMetalHostList
	if err := f.client.List(context.Background(), &list, client.UnsafeDisableDeepCopy); err != nil {
		return
	}
	now := f.now()
	hosts, stuck, oldest := map[[2]string]int{}, map[[2]string]int{}, map[string]time.Duration{}
	for i := range list.Items {
		h := &list.Items[i]
		phase := phaseLabel(h.Status.Provisioning.State)
		hosts[[2]string{phase, string(h.Status.OperationalStatus)}]++
		if reason := view.Stuck(h, now); reason != "" {
			stuck[[2]string{phase, reason}]++
		}
		if view.Usual(h.Status.Provisioning.State) > 0 {
			oldest[phase] = max(oldest[phase], view.Of(h).InPhase(now))
		}
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	for key, n := range hosts {
		gauge(f.hosts, float64(n), key[:]...)
	}
	for key, n := range stuck {
		gauge(f.stuck, float64(n), key[:]...)
	}
	for phase, d := range oldest {
		gauge(f.oldest, d.Seconds(), phase)
	}
}

// phaseLabel is a phase's name in metrics.
func phaseLabel(s policy.State) string {
	if s == policy.StateNone {
		return "new"
	}
	return string(s)
}
