// Package contract holds whatever claims to behave like systemd to one table of
// cases: the D-Bus implementation in front of a booted systemd, and the stand-in.
// The table is run by [Run]; the actor of package systemdtest plays the services.
package contract

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // a table of tests that two packages share

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// patience bounds how long a case waits for what must come.
const patience = 60 * time.Second

// Target is one implementation under test with the machine that it manages.
type Target struct {
	Units systemd.Manager
	Host  hostfile.Dir
	// Reload makes the implementation read changed unit files.
	Reload func()
}

// end is what a case expects of the unit at its end; zero members are compared too.
type end struct {
	active, sub, result string
	code, status        int
	text                string
	restarts            int
}

// testCase runs a unit, does something to it, and compares its end.
type testCase struct {
	name string
	// unit holds lines of [Service] besides ExecStart; "[Unit]" lines are marked with "U:".
	unit []string
	// script is what the actor plays.
	script []string
	// job is the expected result of the start job.
	job string
	// during happens after the start job was answered.
	during func(t *testing.T, g *WithT, c *running)
	want   end
}

// restarts is the case's Restart=, or systemd's default.
func (c testCase) restarts() string {
	for _, line := range c.unit {
		if value, ok := strings.CutPrefix(line, "Restart="); ok {
			return value
		}
	}
	return "no"
}

// running is one case in progress.
type running struct {
	Target
	name    string
	updates <-chan systemd.Update
	last    systemd.Properties
}

const (
	notify   = "Type=notify"
	noLimit  = "U:StartLimitIntervalSec=0"
	restart  = "Restart=on-failure"
	reserved = "RestartPreventExitStatus=90 91"
	soon     = "RestartSec=100ms"
	// report prints what a stop-post command learns. It lives on for a moment: the journal finds out which unit a line
	// belongs to from the process that wrote it, and on a busy machine only after the line has come.
	report = "ExecStopPost=/bin/sh -c 'echo $$SERVICE_RESULT $$EXIT_CODE $$EXIT_STATUS; sleep 1'"
)

// cases are what every implementation must do alike. A case that is stopped when it is ready says before that what it
// has to say: whoever waits for it stops it at once, and a word after "ready" may come too late.
var cases = []testCase{
	{
		name: "clean end", unit: []string{notify, restart}, script: []string{"ready", "status=hello", "sleep=50ms", "exit=0"},
		job: "done", want: end{"inactive", "dead", "success", systemd.Exited, 0, "hello", 0},
	},
	{
		name: "reserved exit", unit: []string{notify, restart, reserved}, script: []string{"ready", "status=last words", "exit=90"},
		job: "done", want: end{"failed", "failed", "exit-code", systemd.Exited, 90, "last words", 0},
	},
	{
		name: "fails before ready", unit: []string{notify}, script: []string{"exit=3"},
		job: "failed", want: end{"failed", "failed", "exit-code", systemd.Exited, 3, "", 0},
	},
	{
		name: "ends cleanly before ready", unit: []string{notify}, script: []string{"exit=0"},
		job: "failed", want: end{"failed", "failed", "protocol", systemd.Exited, 0, "", 0},
	},
	{
		name: "killed", unit: []string{notify}, script: []string{"ready", "kill=9"},
		job: "done", want: end{"failed", "failed", "signal", systemd.Killed, 9, "", 0},
	},
	{
		name: "killed by SIGTERM is clean", unit: []string{notify}, script: []string{"ready", "sleep=50ms", "kill=15"},
		job: "done", want: end{"inactive", "dead", "success", systemd.Killed, 15, "", 0},
	},
	{
		name: "ready comes late", unit: []string{notify}, script: []string{"status=pulling", "sleep=300ms", "ready", "exit=0"},
		job: "done", want: end{"inactive", "dead", "success", systemd.Exited, 0, "pulling", 0},
	},
	{
		name: "never ready", unit: []string{notify, "TimeoutStartSec=1", "TimeoutStopSec=5"}, script: []string{"sleep=1m"},
		job: "failed", want: end{"failed", "failed", "timeout", systemd.Exited, 0, "", 0},
	},
	{
		name: "pre-start fails", unit: []string{notify, "ExecStartPre=/bin/false"}, script: []string{"ready"},
		job: "failed", want: end{"failed", "failed", "exit-code", 0, 0, "", 0},
	},
	{
		name: "pre-start failure ignored", unit: []string{notify, "ExecStartPre=-/bin/false"}, script: []string{"ready", "exit=0"},
		job: "done", want: end{"inactive", "dead", "success", systemd.Exited, 0, "", 0},
	},
	{
		name: "program missing", unit: []string{"Type=exec", "ExecStart=", "ExecStart=/usr/bin/not-there"},
		job: "failed", want: end{"failed", "failed", "exit-code", systemd.Exited, 203, "", 0},
	},
	{
		name: "condition not met", unit: []string{notify, "U:ConditionPathExists=/run/not-there"}, script: []string{"ready"},
		job: "done", during: conditionUnmet, want: end{active: "inactive", sub: "dead", result: "success"},
	},
	{
		name: "stopped", unit: []string{notify}, script: []string{"status=working", "ready"},
		job: "done", during: stopIt, want: end{"inactive", "dead", "success", systemd.Exited, 0, "working", 0},
	},
	{
		name: "stopped, deaf", unit: []string{notify, "TimeoutStopSec=1"}, script: []string{"deaf", "ready"},
		job: "done", during: stopIt, want: end{"failed", "failed", "timeout", systemd.Killed, 9, "", 0},
	},
	{
		name: "says that it stops", unit: []string{notify}, script: []string{"ready", "stopping", "sleep=200ms", "exit=0"},
		job: "done", want: end{"inactive", "dead", "success", systemd.Exited, 0, "", 0},
	},
	{
		name: "restarts, then ends", unit: []string{notify, restart, soon, noLimit}, script: []string{"status=x", "ready", "once=/run/$n", "exit=7"},
		job: "done", during: secondRunStops, want: end{"inactive", "dead", "success", systemd.Exited, 0, "x", 1},
	},
	{
		name: "start limit", unit: []string{notify, restart, "RestartSec=10ms", "U:StartLimitIntervalSec=30", "U:StartLimitBurst=3"}, script: []string{"ready", "exit=7"},
		job: "done", want: end{"failed", "failed", "exit-code", systemd.Exited, 7, "", 3},
	},
	{
		name: "simple is active at once", unit: []string{"Type=simple"}, script: []string{"sleep=50ms", "exit=0"},
		job: "done", want: end{"inactive", "dead", "success", systemd.Exited, 0, "", 0},
	},
	{
		name: "status that is not UTF-8 counts as none", unit: []string{notify}, script: []string{"ready", "status=good", `status=\xff\xfe`, "sleep=50ms", "exit=0"},
		job: "done", want: end{"inactive", "dead", "success", systemd.Exited, 0, "", 0},
	},
	{
		name: "flood of status texts", unit: []string{notify}, script: []string{"ready", "flood=5000", "sleep=100ms", "exit=0"},
		job: "done", want: end{"inactive", "dead", "success", systemd.Exited, 0, "flood 5000", 0},
	},
	{
		name: "what a stop-post command learns", unit: []string{notify, report}, script: []string{"ready", "print=from the agent", "exit=90"},
		job: "done", during: stopPostEnvironment, want: end{"failed", "failed", "exit-code", systemd.Exited, 90, "", 0},
	},
	{
		name: "stop-post after a signal", unit: []string{notify, report}, script: []string{"ready", "kill=9"},
		job: "done", during: stopPostSignal, want: end{"failed", "failed", "signal", systemd.Killed, 9, "", 0},
	},
	{
		name: "environment", unit: []string{notify, `Environment="A=one two" B=3`, "ExecStart=", `ExecStart=` + systemdtest.ActorPath + ` "status=$A/${B}/${C}" ready "env=INVOCATION_ID=/run/$n" exit=0`},
		job: "done", during: invocation, want: end{"inactive", "dead", "success", systemd.Exited, 0, "$A/3/", 0},
	},
	{
		name: "children die with the unit", unit: []string{notify, "TimeoutStopSec=1"}, script: []string{"child", "ready", "exit=0"},
		job: "done", want: end{"inactive", "dead", "success", systemd.Exited, 0, "", 0},
	},
	{
		name: "success status", unit: []string{notify, "SuccessExitStatus=7"}, script: []string{"ready", "exit=7"},
		job: "done", want: end{"inactive", "dead", "success", systemd.Exited, 7, "", 0},
	},
}

// Run runs every case against a target. The actor must be installed at systemdtest.ActorPath.
func Run(t *testing.T, target Target) {
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			r := &running{Target: target, name: fmt.Sprintf("contract-%d.service", i)}
			r.write(t, c.unit, c.script)
			var err error
			r.updates, err = r.Units.Follow(t.Context(), r.name)
			g.Expect(err).NotTo(HaveOccurred())
			ctx, done := context.WithTimeout(t.Context(), patience)
			defer done()
			job, err := r.Units.Start(ctx, r.name)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(job).To(Equal(c.job), "result of the start job")
			if c.during != nil {
				c.during(t, g, r)
			}
			p := r.ended(t, g)
			got := end{p.ActiveState, p.SubState, p.Result, p.ExecMainCode, p.ExecMainStatus, p.StatusText, p.NRestarts}
			g.Expect(got).To(Equal(c.want))
			g.Expect(p.Restart).To(Equal(c.restarts()), "Restart= of the unit")
		})
	}
	t.Run("unit without a file", func(t *testing.T) { withoutFile(t, target) })
	t.Run("masked unit", func(t *testing.T) { maskedUnit(t, target) })
}

// write makes the unit file. "$n" in a script is the unit's name, so that cases
// do not share files.
func (r *running) write(t *testing.T, lines, script []string) {
	t.Helper()
	var unit, service strings.Builder
	fmt.Fprintf(&unit, "[Unit]\nDescription=contract case\n")
	fmt.Fprintf(&service, "[Service]\nNotifyAccess=all\nExecStart=%s", systemdtest.ActorPath)
	for _, word := range script {
		fmt.Fprintf(&service, " %q", strings.ReplaceAll(word, "%", "%%"))
	}
	service.WriteString("\n")
	for _, line := range lines {
		if text, ok := strings.CutPrefix(line, "U:"); ok {
			unit.WriteString(text + "\n")
		} else {
			service.WriteString(line + "\n")
		}
	}
	path := r.Host.Path(filepath.Join(hostfile.UnitDir, r.name))
	text := strings.ReplaceAll(unit.String()+service.String(), "$n", r.name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	r.Reload()
}

// ended waits until what was followed is what is read, and an end. The signal
// alone is not enough: on its way to an automatic restart a unit passes through
// "failed", and before its start it is "inactive".
func (r *running) ended(t *testing.T, g *WithT) systemd.Properties {
	t.Helper()
	r.await(t, g, func(p systemd.Properties) bool {
		if !p.Ended() {
			return false
		}
		read, err := r.Units.Unit(t.Context(), r.name)
		g.Expect(err).NotTo(HaveOccurred())
		return p == read
	})
	return r.last
}

// await reads updates until one fits; the last one may fit already.
func (r *running) await(t *testing.T, g *WithT, fits func(systemd.Properties) bool) {
	t.Helper()
	limit := time.After(patience)
	if fits(r.last) {
		return
	}
	for {
		select {
		case up, ok := <-r.updates:
			g.Expect(ok).To(BeTrue(), "the channel was closed")
			g.Expect(up.Err).NotTo(HaveOccurred())
			r.last = up.Unit
			if fits(up.Unit) {
				return
			}
		case <-limit:
			t.Fatalf("nothing that fits came within %v; last: %+v", patience, r.last)
		}
	}
}

func stopIt(t *testing.T, g *WithT, r *running) {
	job, err := r.Units.Stop(t.Context(), r.name)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(job).To(Equal(systemd.JobDone))
}

func secondRunStops(t *testing.T, g *WithT, r *running) {
	r.await(t, g, func(p systemd.Properties) bool { return p.NRestarts == 1 && p.ActiveState == "active" })
	stopIt(t, g, r)
}

func conditionUnmet(t *testing.T, g *WithT, r *running) {
	p, err := r.Units.Unit(t.Context(), r.name)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.ConditionResult).To(BeFalse())
}

func stopPostEnvironment(t *testing.T, g *WithT, r *running) {
	r.ended(t, g)
	g.Eventually(func() ([]string, error) {
		return r.Units.Journal(t.Context(), r.name, r.last.InvocationID, 100)
	}, patience).Should(ContainElements("from the agent", "exit-code exited 90"))
}

func stopPostSignal(t *testing.T, g *WithT, r *running) {
	r.ended(t, g)
	g.Eventually(func() ([]string, error) {
		return r.Units.Journal(t.Context(), r.name, r.last.InvocationID, 100)
	}, patience).Should(ContainElement("signal killed KILL"))
}

func invocation(t *testing.T, g *WithT, r *running) {
	r.ended(t, g)
	raw, err := os.ReadFile(r.Host.Path("/run/" + r.name))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(raw)).To(Equal(r.last.InvocationID))
}

func withoutFile(t *testing.T, target Target) {
	g := NewWithT(t)
	p, err := target.Units.Unit(t.Context(), "not-there.service")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.LoadState).To(Equal("not-found"))
	g.Expect(p.Ended()).To(BeTrue())
	_, err = target.Units.Start(t.Context(), "not-there.service")
	g.Expect(err).To(MatchError(ContainSubstring("not found")))
	g.Expect(target.Units.Stop(t.Context(), "not-there.service")).To(Equal(systemd.JobDone))
}

func maskedUnit(t *testing.T, target Target) {
	g := NewWithT(t)
	path := target.Host.Path(filepath.Join(hostfile.UnitDir, "masked.service"))
	g.Expect(os.Symlink(os.DevNull, path)).To(Succeed())
	target.Reload()
	p, err := target.Units.Unit(t.Context(), "masked.service")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(p.LoadState).To(Equal("masked"))
	_, err = target.Units.Start(t.Context(), "masked.service")
	g.Expect(err).To(MatchError(ContainSubstring("masked")))
}
