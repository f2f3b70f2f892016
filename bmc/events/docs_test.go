package events

import (
	"fmt"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/events/meaning"
	"github.com/ironflow/ironflow/test/pages"
)

// TestDocsLimits holds the limits of docs/bmc-watch.md against the code.
func TestDocsLimits(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile("../../docs/bmc-watch.md")
	g.Expect(err).NotTo(HaveOccurred())
	var o Options
	o.complete()
	thousands := func(n int) string {
		if n < 10_000 {
			return fmt.Sprint(n)
		}
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	want := map[string]string{
		"a body":                                fmt.Sprintf("%d MiB, within %.0f s", o.MaxBody>>20, o.BodyTime.Seconds()),
		"deliveries of one host":                fmt.Sprintf("%g a second, %d at once", o.HostRate, o.HostBurst),
		"deliveries of all hosts":               fmt.Sprintf("%g a second, %s at once", o.Rate, thousands(o.Burst)),
		"deliveries to unknown URLs":            fmt.Sprintf("%g a second, %d at once, %d at a time", o.GuessRate, o.GuessBurst, guessBodies),
		"bodies that are read at the same time": fmt.Sprintf("%d, of one host %d", o.Bodies, hostBodies),
		"events of one delivery":                fmt.Sprint(meaning.MaxEvents),
		"events that wait to be processed":      fmt.Sprintf("%d, of one host %d", o.Queue, o.Queue/hostShare),
	}
	got := map[string]string{}
	for _, row := range pages.Table(t, string(raw), "Limits of the receiver") {
		got[row["limit"]] = row["default"]
	}
	g.Expect(got).To(Equal(want))
}
