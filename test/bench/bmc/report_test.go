package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// good are figures of 1,000 hosts within all limits.
func good() *measured {
	return &measured{
		defaults: intervals{look: 15 * time.Minute, reading: 15 * time.Minute, readingWithEvents: 4 * time.Hour},
		bare:     used{cpu: 9 * time.Second, peak: 100 << 20}, full: used{cpu: 20 * time.Second, peak: 190 << 20}, hearing: 210 << 20,
		probed: 41234 * time.Millisecond, requests: 29, events: 1199.6, reaction: 45 * time.Millisecond, look: 2, reading: 10,
	}
}

func TestTheLastLineIsTheFigures(t *testing.T) {
	g := NewWithT(t)
	var out bytes.Buffer
	g.Expect(report(&out, good().result(1000))).To(Succeed())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var last map[string]float64
	g.Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &last)).To(Succeed())
	g.Expect(last).To(Equal(map[string]float64{
		"hosts": 1000, "probe_s": 41.2, "probe_requests": 29, "cpu_s": 11, "peak_mib": 110, "events_per_s": 1200, "event_reaction_p99_s": 0.045,
		"rest_requests_per_host_h": 10.5,
	}))
}

// TestEachMissIsAnError: with 1,000 hosts, for which the limits are.
func TestEachMissIsAnError(t *testing.T) {
	for key, change := range map[string]func(m *measured){
		"probe_s":                  func(m *measured) { m.probed = 61 * time.Second },
		"probe_requests":           func(m *measured) { m.requests = 31 },
		"cpu_s":                    func(m *measured) { m.full.cpu = 25 * time.Second },
		"peak_mib":                 func(m *measured) { m.hearing = 251 << 20 },
		"events_per_s":             func(m *measured) { m.events = 999 },
		"event_reaction_p99_s":     func(m *measured) { m.reaction = 201 * time.Millisecond },
		"rest_requests_per_host_h": func(m *measured) { m.look = 3 },
		"without events":           func(m *measured) { m.reading = 37; m.look = 0 },
	} {
		t.Run(key, func(t *testing.T) {
			g := NewWithT(t)
			m := good()
			change(m)
			var out bytes.Buffer
			g.Expect(report(&out, m.result(1000))).To(MatchError(MatchRegexp("^" + key + " is [0-9.]+: the limit is [0-9.]+$")))
			g.Expect(out.String()).To(MatchRegexp(key + ` +[0-9.]+ +[0-9.]+ +MISSED`))
			g.Expect(report(&out, m.result(100))).To(Succeed())
		})
	}
}

// TestThePageHasTheLimits holds docs/scale.md to the table.
func TestThePageHasTheLimits(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile("../../../docs/scale.md")
	g.Expect(err).NotTo(HaveOccurred())
	line, err := json.Marshal(result{})
	g.Expect(err).NotTo(HaveOccurred())
	rows, keys := "", 1 // hosts
	for _, l := range limits {
		if !strings.Contains(string(line), `"`+l.key+`":`) {
			continue
		}
		most := fmt.Sprintf("at most %g", l.most)
		if l.least > 0 {
			most = fmt.Sprintf("at least %g", l.least)
		}
		rows += "| " + l.key + " | " + l.is + " | " + most + " |\n"
		keys++
	}
	g.Expect(string(page)).To(ContainSubstring(rows))
	g.Expect(strings.Count(string(line), ":")).To(Equal(keys), "each key of the last line is explained")
}

func TestDefaultsOfTheProgram(t *testing.T) {
	g := NewWithT(t)
	help := []byte("Flags:\n      --bmc-events-every duration   time between two looks ($X) (default 15m0s)\n      --bmc-health-every duration   time (default 0s)\n")
	g.Expect(defaultOf(help, "bmc-events-every")).To(Equal(15 * time.Minute))
	_, err := defaultOf(help, "bmc-every")
	g.Expect(err).To(MatchError(ContainSubstring("--bmc-every")))
}
