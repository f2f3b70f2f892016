package metrics_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/controllers/bmc/metrics"
)

// TestWhatIsAskedIsCounted: requests and probes, by what became of them.
func TestWhatIsAskedIsCounted(t *testing.T) {
	g := NewWithT(t)
	r := prometheus.NewRegistry()
	m, err := metrics.New(r)
	g.Expect(err).NotTo(HaveOccurred())
	for _, kind := range []client.Kind{"", "", client.Busy} {
		m.Requested(kind)
	}
	m.Probed(12*time.Second, nil)
	m.Probed(time.Second, fmt.Errorf("probe: %w", &client.Error{Kind: client.Credentials}))
	m.Probed(time.Second, errors.New("no system"))
	g.Expect(shown(t, r)).To(ConsistOf(
		"ironflow_bmc_requests_total Busy 1", "ironflow_bmc_requests_total OK 2",
		"ironflow_bmc_probe_seconds OK 1 of 12 s", "ironflow_bmc_probe_seconds Credentials 1 of 1 s", "ironflow_bmc_probe_seconds Error 1 of 1 s",
	))
	var none *metrics.Metrics
	g.Expect(func() { none.Requested(""); none.Probed(0, nil) }).NotTo(Panic())
}

// TestTheFleetIsCountedWhenAsked: how many BMCs are how, and none by its name.
func TestTheFleetIsCountedWhenAsked(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(v1alpha1.AddToScheme(scheme)).To(Succeed())
	bmc := func(name string, status v1alpha1.BMCStatus, conditions ...metav1.Condition) *v1alpha1.BMC {
		status.Conditions = conditions
		return &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}, Status: status}
	}
	is := func(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason}
	}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(
		bmc("well", v1alpha1.BMCStatus{}, is(v1alpha1.Ready, "True", "Ready"), is(v1alpha1.Healthy, "True", "AllWell"), is(v1alpha1.InSync, "True", "InSync")),
		bmc("hot", v1alpha1.BMCStatus{Health: []v1alpha1.DomainHealth{{Domain: "Power", State: v1alpha1.HealthWarning}, {Domain: "Cooling", State: v1alpha1.HealthCritical}}},
			is(v1alpha1.Ready, "True", "Ready"), is(v1alpha1.Healthy, "False", "Critical"), is(v1alpha1.InSync, "False", "Drift")),
		bmc("unfit", v1alpha1.BMCStatus{Preflight: &v1alpha1.PreflightStatus{Mismatches: []v1alpha1.Mismatch{{Reason: "NoSuchLevel"}, {Reason: "NoSuchLevel"}}}},
			is(v1alpha1.Ready, "False", "PreflightFailed")),
		bmc("overruled", v1alpha1.BMCStatus{Preflight: &v1alpha1.PreflightStatus{Overridden: true, Mismatches: []v1alpha1.Mismatch{{Reason: "NoSuchLevel"}}}}),
	).Build()
	r := prometheus.NewRegistry()
	g.Expect(metrics.RegisterFleet(r, kube)).To(Succeed())
	g.Expect(shown(t, r)).To(ConsistOf(
		"ironflow_bmcs PreflightFailed False 1", "ironflow_bmcs Ready True 2",
		"ironflow_bmcs_health  AllWell True 1", "ironflow_bmcs_health Cooling Critical False 1",
		"ironflow_bmcs_in_sync False 1", "ironflow_bmcs_in_sync True 1",
		"ironflow_bmcs_mismatches false NoSuchLevel 2", "ironflow_bmcs_mismatches true NoSuchLevel 1",
	))
}

// shown are the metrics of a registry, each as its name, the values of its labels by
// their names, and its value.
func shown(t *testing.T, r *prometheus.Registry) []string {
	t.Helper()
	families, err := r.Gather()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	var list []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			values := []string{f.GetName()}
			for _, l := range m.GetLabel() {
				values = append(values, l.GetValue())
			}
			if h := m.GetHistogram(); h != nil {
				values = append(values, fmt.Sprintf("%d of %g s", h.GetSampleCount(), h.GetSampleSum()))
			} else {
				values = append(values, fmt.Sprint(m.GetCounter().GetValue()+m.GetGauge().GetValue()))
			}
			list = append(list, strings.Join(values, " "))
		}
	}
	return list
}
