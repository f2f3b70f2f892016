package main

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	bmcmetrics "github.com/ironflow/ironflow/controllers/bmc/metrics"
	"github.com/ironflow/ironflow/controllers/bmcevents"
	"github.com/ironflow/ironflow/controllers/host/metrics"
	"github.com/ironflow/ironflow/controllers/parts/hub"
	"github.com/ironflow/ironflow/controllers/parts/images"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/ironic/configured"
	"github.com/ironflow/ironflow/test/media"
)

// metric is one metric as the program registers it.
type metric struct {
	name, kind, help string
	labels           []string
}

// listing is a registerer that takes notes.
type listing struct{ metrics map[string]metric }

// Register implements prometheus.Registerer.
func (l *listing) Register(c prometheus.Collector) error {
	descs := make(chan *prometheus.Desc, 100)
	c.Describe(descs)
	close(descs)
	for d := range descs {
		m, err := describe(d, c)
		if err != nil {
			return err
		}
		l.metrics[m.name] = m
	}
	return nil
}

// MustRegister implements prometheus.Registerer.
func (l *listing) MustRegister(all ...prometheus.Collector) {
	for _, c := range all {
		if err := l.Register(c); err != nil {
			panic(err)
		}
	}
}

// Unregister implements prometheus.Registerer.
func (l *listing) Unregister(prometheus.Collector) bool { return false }

// descPattern reads the text of a description, which has no accessors.
var descPattern = regexp.MustCompile(`fqName: "([^"]+)", help: "([^"]*)",(?: unit: "[^"]*",)? constLabels: \{([^}]*)\}, variableLabels: \{([^}]*)\}`)

func describe(d *prometheus.Desc, c prometheus.Collector) (metric, error) {
	found := descPattern.FindStringSubmatch(d.String())
	if found == nil {
		return metric{}, fmt.Errorf("unknown form of description: %s", d)
	}
	m := metric{name: found[1], help: found[2], kind: kindOf(c)}
	for pair := range strings.SplitSeq(found[3], ",") {
		if name, _, ok := strings.Cut(pair, "="); ok {
			m.labels = append(m.labels, name)
		}
	}
	for name := range strings.SplitSeq(found[4], ",") {
		if name != "" {
			m.labels = append(m.labels, name)
		}
	}
	return m, nil
}

// kindOf is the type of a collector's metrics: by its Go type, or by what it shows
// where many types have that one.
func kindOf(c prometheus.Collector) string {
	switch c.(type) {
	case *prometheus.CounterVec:
		return "counter"
	case *prometheus.HistogramVec:
		return "histogram"
	}
	scratch := prometheus.NewRegistry()
	if scratch.Register(c) == nil {
		if families, err := scratch.Gather(); err == nil && len(families) > 0 {
			return strings.ToLower(families[0].GetType().String())
		}
	}
	return "gauge"
}

// registered lists everything that the program's parts register.
func registered(t *testing.T) map[string]metric {
	t.Helper()
	g := NewWithT(t)
	l := &listing{metrics: map[string]metric{}}
	scheme := runtime.NewScheme()
	g.Expect(metal3v1.AddToScheme(scheme)).To(Succeed())
	g.Expect(bmcevents.RegisterMetrics(l)).To(Succeed())
	_, err := bmcmetrics.New(l)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bmcmetrics.RegisterFleet(l, fake.NewClientBuilder().Build())).To(Succeed())
	g.Expect(metrics.Register(l, fake.NewClientBuilder().WithScheme(scheme).Build())).To(Succeed())
	iso := filepath.Join(t.TempDir(), "live.iso")
	g.Expect(media.WriteFile(iso, media.Options{RootfsBytes: 1 << 20})).To(Succeed())
	s := defaults(t.TempDir())
	s.Images.BaseImage, s.Images.PublishURL = iso, "http://192.0.2.1:8080"
	s.Ironic.Endpoint = "http://192.0.2.1:6385"
	config := configured.One(s.Ironic)
	config.Registerer = l
	_, err = ironic.New(t.Context(), config)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = images.New(t.Context(), &s, pki.Files{}, l, logr.Discard())
	g.Expect(err).NotTo(HaveOccurred())
	core, err := hub.New(t.Context(), hub.Options{Settings: s, Metrics: l, Log: slog.New(slog.DiscardHandler)})
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(core.Close()).To(Succeed()) })
	return l.metrics
}

// TestDocumentationHasEveryMetric registers all metrics as the program does: each
// has its row, with its type and labels, and each row is a metric.
func TestDocumentationHasEveryMetric(t *testing.T) {
	g := NewWithT(t)
	all := registered(t)
	var want strings.Builder
	want.WriteString("| metric | type | labels | is |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m := all[name]
		g.Expect(name).To(MatchRegexp(`^(metal3|ironflow)_`))
		g.Expect(m.help).To(HaveSuffix("."), name)
		labels := strings.Join(m.labels, ", ")
		if labels == "" {
			labels = "-"
		}
		fmt.Fprintf(&want, "| `%s` | %s | %s | %s |\n", name, m.kind, labels, m.help)
	}
	generated("metrics.md").Hold(t, "metrics", want.String())
}

// upstreamMetrics are those of baremetal-operator that dashboards and alerts use.
var upstreamMetrics = []string{
	"metal3_reconcile_total", "metal3_reconcile_error_total", "metal3_host_error_total", "metal3_operation_power_change_total",
	"metal3_delayed__provisioning_total", "metal3_delayed__deprovisioning_total",
	"metal3_operation_register_duration_seconds", "metal3_operation_inspect_duration_seconds",
	"metal3_operation_provision_duration_seconds", "metal3_operation_deprovision_duration_seconds",
	"metal3_credentials_missing_total", "metal3_credentials_invalid_total", "metal3_credentials_unhandled_error_total",
	"metal3_credentials_updated_total", "metal3_credentials_no_management_access_total",
	"metal3_host_config_data_error_total", "metal3_provisioning_state_change_total", "metal3_host_registration_required_total",
	"metal3_host_unmanaged_total", "metal3_delete_without_deprovisioning_total", "metal3_provisioner_not_ready_total",
	"metal3_delete_delayed_for_detached_total", "metal3_waiting_for_preprov_image_total", "metal3_delete_without_powering_off_total",
}

func TestUpstreamMetricsKeepTheirNames(t *testing.T) {
	g := NewWithT(t)
	all := registered(t)
	for _, name := range upstreamMetrics {
		g.Expect(all).To(HaveKey(name))
	}
	for name := range all {
		if strings.HasPrefix(name, "metal3_") {
			g.Expect(upstreamMetrics).To(ContainElement(name), "the prefix metal3_ is for upstream's metrics")
		}
	}
}
