package metrics

import (
	"fmt"
	"slices"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/view"
)

// metricRow is one metric of this controller.
type metricRow struct {
	// Name is the full name. The metal3_ ones are those of baremetal-operator.
	Name string
	// Help is one sentence.
	Help string
	// Labels are its label names; none is a host unless the host series are asked for.
	Labels []string
	// Buckets makes it a histogram, in seconds; nil for a counter.
	Buckets []float64
}

var (
	slowBuckets  = []float64{10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200}
	phaseBuckets = []float64{0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200}
)

// Names of the metrics that are not raised by a decision.
const (
	Reconciles           = "metal3_reconcile_total"
	ReconcileErrors      = "metal3_reconcile_error_total"
	CredentialsUnhandled = "metal3_credentials_unhandled_error_total" //nolint:gosec // a name, no secret
	NotReady             = "metal3_provisioner_not_ready_total"
	phaseSeconds         = "ironflow_host_phase_seconds"
	Actions              = "ironflow_host_actions_total"
)

// metricTable lists every metric of this controller; all of it is registered.
var metricTable = []metricRow{
	{Reconciles, "Passes of the host controller.", nil, nil},
	{ReconcileErrors, "Passes that ended in an error.", nil, nil},
	{policy.MetricHostError, "Errors recorded on hosts.", []string{"error_type"}, nil},
	{policy.MetricPowerChange, "Power requests to Ironic.", []string{"on_off"}, nil},
	{policy.MetricStateChange, "Changes of the provisioning state.", []string{"prev_state", "new_state"}, nil},
	{policy.MetricRegistration, "Nodes that had to be enrolled.", nil, nil},
	{policy.MetricUnmanaged, "Hosts found without BMC details.", nil, nil},
	{policy.MetricCredentials, "BMC credentials sent to Ironic.", nil, nil},
	{policy.MetricCredMissing, "Hosts found without their BMC Secret.", nil, nil},
	{policy.MetricCredInvalid, "Hosts found with an unusable BMC Secret or address.", nil, nil},
	{CredentialsUnhandled, "Passes that could not read a BMC Secret from the API server.", nil, nil},
	{policy.MetricCredRefused, "BMCs that Ironic could not verify.", nil, nil},
	{policy.MetricDelayProvision, "Hosts that had to wait for capacity before an inspection or a deployment.", nil, nil},
	{policy.MetricDelayDeprov, "Hosts that had to wait for capacity before deprovisioning.", nil, nil},
	{policy.MetricWaitImage, "Passes that wait for a live image.", nil, nil},
	{NotReady, "Passes that found Ironic unavailable.", nil, nil},
	{policy.MetricDeleteNoDeprov, "Hosts deleted although deprovisioning failed.", nil, nil},
	{policy.MetricDeleteNoPower, "Hosts deleted although powering off failed.", nil, nil},
	{policy.MetricDeleteDelayed, "Deletions that wait for a detached host.", nil, nil},
	{policy.MetricHostConfigError, "User, network and meta data that could not be read.", []string{"host_data_type"}, nil},
	{"metal3_operation_register_duration_seconds", "Time from the first look to a verified BMC.", nil, slowBuckets},
	{"metal3_operation_inspect_duration_seconds", "Time that inspection took.", nil, slowBuckets},
	{"metal3_operation_provision_duration_seconds", "Time that provisioning took.", nil, slowBuckets},
	{"metal3_operation_deprovision_duration_seconds", "Time that deprovisioning took.", nil, slowBuckets},
	{phaseSeconds, "Time that hosts spent in a phase, by phase left.", []string{"phase"}, phaseBuckets},
	{Actions, "Actions of the host controller by outcome.", []string{"action", "outcome"}, nil},
	{policy.MetricRetries, "Attempts made again, by what asked for them.", []string{"cause"}, nil},
}

// perHost are the metrics that baremetal-operator has for each host. Here they
// are, when that is asked for: a series per host costs a large fleet its monitoring.
var perHost = map[string]bool{
	Reconciles: true, ReconcileErrors: true, policy.MetricPowerChange: true,
	operationMetric[metal3.StateRegistering]: true, operationMetric[metal3.StateInspecting]: true,
	operationMetric[metal3.StateProvisioning]: true, operationMetric[metal3.StateDeprovisioning]: true,
}

// hostLabels come first where a metric has them.
var hostLabels = []string{"namespace", "host"}

// Metrics holds the registered collectors by name.
type Metrics struct {
	perHost    bool // as asked for
	counters   map[string]*prometheus.CounterVec
	histograms map[string]*prometheus.HistogramVec
}

// Register registers every metric that the controller has, with those of
// the fleet, whose hosts are read with c. It is what [Setup] does.
func Register(r prometheus.Registerer, c client.Reader) error {
	if _, err := New(r, false); err != nil {
		return err
	}
	return RegisterFleet(r, c)
}

// RegisterFleet registers the figures that are counted when they are asked for.
func RegisterFleet(r prometheus.Registerer, c client.Reader) error {
	if r == nil {
		return nil
	}
	if err := r.Register(newFleet(c)); err != nil {
		return fmt.Errorf("register metrics of the fleet: %w", err)
	}
	return nil
}

// New registers the whole table; a nil registerer keeps it private. series
// asks for those per host.
func New(r prometheus.Registerer, series bool) (*Metrics, error) {
	m := &Metrics{perHost: series, counters: map[string]*prometheus.CounterVec{}, histograms: map[string]*prometheus.HistogramVec{}}
	for _, row := range metricTable {
		if series && perHost[row.Name] {
			row.Labels = slices.Concat(hostLabels, row.Labels)
		}
		var c prometheus.Collector
		if row.Buckets == nil {
			v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: row.Name, Help: row.Help}, row.Labels)
			m.counters[row.Name], c = v, v
			if len(row.Labels) == 0 {
				v.WithLabelValues() // shown as 0, so that alerts see the first increment
			}
		} else {
			v := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: row.Name, Help: row.Help, Buckets: row.Buckets}, row.Labels)
			m.histograms[row.Name], c = v, v
		}
		if r == nil {
			continue
		}
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("register metric %s: %w", row.Name, err)
		}
	}
	return m, nil
}

// Add raises counters that are not about one host.
func (m *Metrics) Add(list ...policy.Count) { m.AddFor(types.NamespacedName{}, list...) }

// AddFor raises counters for a host.
func (m *Metrics) AddFor(host types.NamespacedName, list ...policy.Count) {
	for _, c := range list {
		if v := m.counters[c.Metric]; v != nil {
			v.WithLabelValues(m.labels(c.Metric, host, c.Labels)...).Inc()
		}
	}
}

// observe records a duration in seconds.
func (m *Metrics) observe(name string, host types.NamespacedName, seconds float64, labels ...string) {
	if v := m.histograms[name]; v != nil {
		v.WithLabelValues(m.labels(name, host, labels)...).Observe(seconds)
	}
}

// labels are the values of a metric's labels.
func (m *Metrics) labels(name string, host types.NamespacedName, own []string) []string {
	if !m.perHost || !perHost[name] {
		return own
	}
	return append([]string{host.Namespace, host.Name}, own...)
}

// Forget ends the series of a host that is gone.
func (m *Metrics) Forget(host types.NamespacedName) {
	if !m.perHost {
		return
	}
	which := prometheus.Labels{hostLabels[0]: host.Namespace, hostLabels[1]: host.Name}
	for name := range perHost {
		if v := m.counters[name]; v != nil {
			v.DeletePartialMatch(which)
		}
		if v := m.histograms[name]; v != nil {
			v.DeletePartialMatch(which)
		}
	}
}

// operationMetric is the upstream histogram of a phase's operation.
var operationMetric = map[policy.State]string{
	metal3.StateRegistering:    "metal3_operation_register_duration_seconds",
	metal3.StateInspecting:     "metal3_operation_inspect_duration_seconds",
	metal3.StateProvisioning:   "metal3_operation_provision_duration_seconds",
	metal3.StateDeprovisioning: "metal3_operation_deprovision_duration_seconds",
}

// Left records how long a host was in the phase that it leaves at now.
func (m *Metrics) Left(h *metal3.BareMetalHost, from policy.State, now time.Time) {
	since := view.Of(h).Since
	if since.IsZero() || now.Before(since) {
		return
	}
	seconds := now.Sub(since).Seconds()
	key := client.ObjectKeyFromObject(h)
	m.observe(phaseSeconds, key, seconds, phaseLabel(from))
	if name := operationMetric[from]; name != "" {
		m.observe(name, key, seconds)
	}
}
