package health

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/health/rules"
	"github.com/ironflow/ironflow/bmc/quirks"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// simulated is a BMC of the simulator with a host that is on.
func simulated(t *testing.T, habits ...simulator.Quirk) (*simulator.Server, *watch) {
	t.Helper()
	g := NewWithT(t)
	sim := simulator.New(simulator.Options{Username: "admin", Password: "password"})
	t.Cleanup(sim.Close)
	g.Expect(sim.AddSystem(simulator.System{ID: "1", Storage: []simulator.Storage{{
		ID: "RAID", Drives: []simulator.Drive{{ID: "Disk.0", CapacityBytes: 1 << 40}, {ID: "Disk.1", CapacityBytes: 1 << 40}},
	}}})).To(Succeed())
	g.Expect(sim.SetPower("1", simulator.On)).To(Succeed())
	for _, habit := range habits {
		g.Expect(sim.SetQuirk("1", habit, simulator.Always)).To(Succeed())
	}
	return sim, newWatch(t, sim)
}

// TestSimulatorWell: all is well, with each habit in how it is shown.
func TestSimulatorWell(t *testing.T) {
	for _, habit := range []simulator.Quirk{
		"", simulator.NoThermalSubsystem, simulator.HealthMissing, simulator.LogAbsentWhenEmpty, simulator.LogNewestFirst,
		simulator.SeverityNormal, simulator.Sparse, simulator.OddTimes, simulator.NoStorage,
	} {
		t.Run("with "+string(habit), func(t *testing.T) {
			g := NewWithT(t)
			var habits []simulator.Quirk
			if habit != "" {
				habits = append(habits, habit)
			}
			_, w := simulated(t, habits...)
			for domain, row := range w.pass(2) {
				if habit == simulator.NoStorage && domain == rules.Storage {
					g.Expect(row.Message).To(Equal("the BMC shows nothing of it"))
					continue
				}
				g.Expect(row.State).To(Equal(ok), "%s: %s", domain, row.Message)
			}
			g.Expect(w.alerts).To(BeEmpty())
		})
	}
}

// TestSimulatorFaults: each part that fails is named after two reads, told once, and
// taken back when it is well again.
func TestSimulatorFaults(t *testing.T) {
	for name, c := range map[string]struct {
		part      simulator.Part
		condition simulator.Condition
		domain    rules.Domain
		state     v1alpha1.HealthState
		says      string
	}{
		"fan":       {simulator.Part{Kind: simulator.PartFan, ID: "Fan2"}, simulator.Condition{Health: "Critical"}, rules.Cooling, critical, "Fan 2"},
		"supply":    {simulator.Part{Kind: simulator.PartSupply, ID: "PSU2"}, simulator.Condition{Health: "Critical"}, rules.Power, critical, "PSU2"},
		"heat":      {simulator.Part{Kind: simulator.PartSensor, ID: "CPU1"}, simulator.Condition{Health: "OK", Reading: new(99.0)}, rules.Cooling, critical, "CPU 1 temperature reads 99 Cel"},
		"memory":    {simulator.Part{Kind: simulator.PartMemory, ID: "DIMM2"}, simulator.Condition{Health: "Warning"}, rules.Memory, warning, "DIMM2"},
		"processor": {simulator.Part{Kind: simulator.PartProcessor, ID: "CPU1"}, simulator.Condition{Health: "Critical"}, rules.Processor, critical, "CPU1"},
		"drive":     {simulator.Part{Kind: simulator.PartDrive, ID: "Disk.1"}, simulator.Condition{Health: "Critical"}, rules.Storage, critical, "Disk.1"},
		"drive that predicts": {
			simulator.Part{Kind: simulator.PartDrive, ID: "Disk.0"}, simulator.Condition{Health: "OK", Predicted: true}, rules.Storage, warning, "Disk.0 predicts its failure",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			sim, w := simulated(t)
			w.pass(1)
			g.Expect(sim.SetPart("1", c.part, c.condition)).To(Succeed())
			g.Expect(w.pass(1)[c.domain].State).To(Equal(ok), "one read is none")
			g.Expect(w.past.Pending()).To(BeTrue())
			rows := w.pass(1)
			g.Expect(rows[c.domain].State).To(Equal(c.state), rows[c.domain].Message)
			g.Expect(rows[c.domain].Message).To(ContainSubstring(c.says))
			g.Expect(rows[rules.System].State).To(Equal(ok), "no row repeats another: %s", rows[rules.System].Message)
			w.pass(2)
			told := 0
			for _, a := range w.alerts {
				if a.Domain == c.domain {
					told++
				}
			}
			g.Expect(told).To(Equal(1))
			g.Expect(sim.SetPart("1", c.part, simulator.Condition{Health: "OK"})).To(Succeed())
			g.Expect(w.pass(2)[c.domain].State).To(Equal(ok))
		})
	}
}

// TestSimulatorHarmful: the chassis that restarts the BMC is not read, by a pass or by a
// person who looks; neither where the BMC's kind could not be found out.
func TestSimulatorHarmful(t *testing.T) {
	for name, c := range map[string]struct {
		report v1alpha1.BMCReport
		reads  bool
	}{
		"an iDRAC8":        {report: v1alpha1.BMCReport{Vendor: "Dell", ManagerModel: "iDRAC8"}},
		"an unknown iDRAC": {report: v1alpha1.BMCReport{Vendor: "Dell"}},
		"nobody knows":     {},
		"an iDRAC9":        {report: v1alpha1.BMCReport{Vendor: "Dell", ManagerModel: "iDRAC9"}, reads: true},
		"another vendor":   {report: v1alpha1.BMCReport{Vendor: "HPE"}, reads: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			sim, _ := simulated(t, simulator.RAIDChassis)
			var asked atomic.Int64
			w := newWatch(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "/Chassis/Enclosure.") {
					asked.Add(1)
				}
				sim.ServeHTTP(w, r)
			}))
			w.report.Vendor, w.report.ManagerModel = c.report.Vendor, c.report.ManagerModel
			w.report.Quirks = quirks.New().Match(quirks.Identity{Vendor: c.report.Vendor, Manager: c.report.ManagerModel})
			w.pass(2)
			_, _ = List(t.Context(), w.c, w.report)
			g.Expect(asked.Load() > 0).To(Equal(c.reads), "%d reads of the chassis", asked.Load())
		})
	}
}

// TestSimulatorList: a person sees the parts and the log.
func TestSimulatorList(t *testing.T) {
	g := NewWithT(t)
	sim, w := simulated(t)
	g.Expect(sim.SetPart("1", simulator.Part{Kind: simulator.PartFan, ID: "Fan1"}, simulator.Condition{Health: "Critical"})).To(Succeed())
	reading, err := List(t.Context(), w.c, w.report)
	g.Expect(err).NotTo(HaveOccurred())
	rows := Parts(reading)
	for _, kind := range []rules.Kind{rules.Supply, rules.Fan, rules.Temperature, rules.Drive, rules.Module, rules.CPU, rules.Whole} {
		g.Expect(rows).To(ContainElement(HaveField("Kind", kind)))
	}
	var text strings.Builder
	g.Expect(WriteParts(&text, rows)).To(Succeed())
	g.Expect(text.String()).To(MatchRegexp(`DOMAIN +PART +STATE +READING +SHOWS\n`))
	g.Expect(text.String()).To(MatchRegexp(`\nCooling +Fan 1 +Critical +\d+ RPM +reports Critical\nCooling +Fan 2 +OK +\d+ RPM +-\n`), "the worst first")
	text.Reset()
	g.Expect(WriteEntries(&text, Entries(reading, 1))).To(Succeed())
	g.Expect(text.String()).To(MatchRegexp(`CREATED +SEVERITY +ID +MESSAGE\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +Critical +\d+ +Fan Fan1 .*\n$`))
}
