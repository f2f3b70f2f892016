package metrics

import (
	"slices"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host/policy"
)

func TestMetricsAreRegisteredAndRaised(t *testing.T) {
	g := NewWithT(t)
	registry := prometheus.NewRegistry()
	m, err := New(registry, false)
	g.Expect(err).NotTo(HaveOccurred())
	for _, row := range metricTable {
		labels := make([]string, len(row.Labels))
		if row.Buckets == nil {
			m.Add(policy.Count{Metric: row.Name, Labels: labels})
		} else {
			m.observe(row.Name, types.NamespacedName{}, 1, labels...)
		}
	}
	families, err := registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(families).To(HaveLen(len(metricTable)), "each row has a series")
	for _, c := range []policy.Count{policy.CountDeleteDelayed, policy.CountUnmanaged, policy.CountRegistration, policy.CountError("x"), policy.CountStateChange("a", "b")} {
		index := slices.IndexFunc(metricTable, func(r metricRow) bool { return r.Name == c.Metric })
		g.Expect(index).To(BeNumerically(">=", 0), c.Metric)
		g.Expect(c.Labels).To(HaveLen(len(metricTable[index].Labels)))
	}
	h := &metal3.BareMetalHost{Status: metal3.BareMetalHostStatus{Provisioning: metal3.ProvisionStatus{State: metal3.StateInspecting}}}
	h.Status.OperationHistory.Inspect.Start = metav1.NewTime(noon.Add(-time.Minute))
	m.Left(h, metal3.StateInspecting, noon)
	families, err = registry.Gather()
	g.Expect(err).NotTo(HaveOccurred())
	for _, f := range families {
		if f.GetName() == "metal3_operation_inspect_duration_seconds" {
			g.Expect(f.GetMetric()[0].GetHistogram().GetSampleSum()).To(BeNumerically("==", 61))
		}
	}
}

// noon is when the tests take place.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
