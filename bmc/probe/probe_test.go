package probe_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/probe"
)

var update = flag.Bool("update", false, "write the golden reports and the table of docs/bmc.md")

// examine probes a fixture with the built-in budget.
func examine(t testing.TB, f *fixture, o probe.Options) (*v1alpha1.BMCReport, error) {
	t.Helper()
	o.Now = func() time.Time { return f.Now }
	return probe.Probe(t.Context(), connect(t, f, "", ""), o)
}

// BenchmarkProbe is what a probe itself costs, without network and TLS.
func BenchmarkProbe(b *testing.B) {
	f := load(b, "dell-idrac9")
	for b.Loop() {
		r := &reader{f, 0}
		if _, err := probe.Probe(b.Context(), r, probe.Options{Now: func() time.Time { return f.Now }}); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(r.n), "requests")
	}
}

// TestReports holds the report of each vendor's shape against its golden copy.
func TestReports(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "bmcs", "*.yaml"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(len(files)).To(BeNumerically(">=", 9))
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			f := load(t, name)
			report, err := examine(t, f, probe.Options{Address: "https://bmc.example"})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(report.Requests).To(BeNumerically("<=", probe.DefaultRequests))
			report.Certificate = nil // the test server's
			got, err := yaml.Marshal(report)
			g.Expect(err).NotTo(HaveOccurred())
			golden := filepath.Join("testdata", "reports", name+".yaml")
			if *update {
				g.Expect(os.WriteFile(golden, got, 0o644)).To(Succeed())
			}
			want, err := os.ReadFile(golden)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(got)).To(Equal(string(want)), "not current: look at the difference, then run go test ./bmc/probe -update")
		})
	}
}
