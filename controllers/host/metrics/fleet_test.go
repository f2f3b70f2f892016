package metrics

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/view"
)

// scraped returns what a scrape of the metrics shows, "name{label=value,…}" by value.
func scraped(t *testing.T, r *prometheus.Registry) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var labels []string
			for _, l := range m.GetLabel() {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			value := m.GetCounter().GetValue() + m.GetGauge().GetValue()
			all[fmt.Sprintf("%s{%s}", f.GetName(), strings.Join(labels, ","))] = value
		}
	}
	return all
}

func TestFleetIsCountedWhenAsked(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	host := func(name string, state policy.State, begun time.Duration, change func(*metal3.BareMetalHost)) client.Object {
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}}
		h.Status.Provisioning.State, h.Status.OperationalStatus = state, metal3.OperationalStatusOK
		h.Status.OperationHistory.Inspect.Start = metav1.NewTime(noon.Add(-begun))
		if change != nil {
			change(h)
		}
		return h
	}
	failing := func(h *metal3.BareMetalHost) {
		h.Status.OperationalStatus = metal3.OperationalStatusError
		h.Status.Conditions = []metav1.Condition{{Type: view.StalledCondition, Status: "True", Reason: "InspectionError"}}
	}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		host("a", metal3.StateInspecting, time.Minute, nil), host("b", metal3.StateInspecting, 2*time.Hour, nil),
		host("c", metal3.StateInspecting, time.Minute, failing), host("d", metal3.StateAvailable, time.Hour, nil), host("e", policy.StateNone, 0, nil),
	).Build()
	registry := prometheus.NewRegistry()
	f := newFleet(kube)
	f.now = func() time.Time { return noon }
	g.Expect(registry.Register(f)).To(Succeed())
	g.Expect(scraped(t, registry)).To(Equal(map[string]float64{
		"ironflow_hosts{phase=inspecting,status=OK}":                    2,
		"ironflow_hosts{phase=inspecting,status=error}":                 1,
		"ironflow_hosts{phase=available,status=OK}":                     1,
		"ironflow_hosts{phase=new,status=OK}":                           1,
		"ironflow_host_phase_oldest_seconds{phase=inspecting}":          7200,
		"ironflow_hosts_stuck{phase=inspecting,reason=Overdue}":         1,
		"ironflow_hosts_stuck{phase=inspecting,reason=InspectionError}": 1,
	}))
}

// TestMetricsAreThereFromTheStart registers everything on a fresh registry: rows
// without labels show as 0, and nothing is registered twice.
func TestMetricsAreThereFromTheStart(t *testing.T) {
	g := NewWithT(t)
	registry := prometheus.NewRegistry()
	scheme := runtime.NewScheme()
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	g.Expect(Register(registry, fake.NewClientBuilder().WithScheme(scheme).Build())).To(Succeed())
	shown := scraped(t, registry)
	for _, row := range metricTable {
		if row.Buckets == nil && len(row.Labels) == 0 {
			g.Expect(shown).To(HaveKeyWithValue(row.Name+"{}", 0.0))
		}
	}
	var twice prometheus.AlreadyRegisteredError
	g.Expect(errors.As(Register(registry, nil), &twice)).To(BeTrue())
}

// TestSeriesPerHostOnRequest gives baremetal-operator's labels to those whose
// dashboards need them, and ends a host's series with the host.
func TestSeriesPerHostOnRequest(t *testing.T) {
	g := NewWithT(t)
	registry := prometheus.NewRegistry()
	m, err := New(registry, true)
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range []string{"a", "b"} {
		key := types.NamespacedName{Namespace: "lab", Name: name}
		m.AddFor(key, policy.Count{Metric: Reconciles}, policy.Count{Metric: policy.MetricPowerChange, Labels: []string{"on"}}, policy.CountError("x"))
	}
	g.Expect(scraped(t, registry)).To(And(
		HaveKeyWithValue("metal3_reconcile_total{host=a,namespace=lab}", 1.0),
		HaveKeyWithValue("metal3_operation_power_change_total{host=b,namespace=lab,on_off=on}", 1.0),
		HaveKeyWithValue("metal3_host_error_total{error_type=x}", 2.0),
	))
	m.Forget(types.NamespacedName{Namespace: "lab", Name: "a"})
	g.Expect(scraped(t, registry)).NotTo(HaveKey(ContainSubstring("host=a")))
	g.Expect(scraped(t, registry)).To(HaveKey(ContainSubstring("host=b")))
}
