package assisted

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

const fakeBoot = "11111111-2222-3333-4444-555555555555"

// fakeUnits is a systemd with one unit that the test moves by hand.
type fakeUnits struct {
	mu        sync.Mutex
	unit      systemd.Properties
	followers []chan systemd.Update
	// onStart and onStop play what systemd does; nil leaves the unit alone.
	onStart, onStop func() (string, error)
	stopping        chan struct{} // closed by the first Stop
	started         int
	stopped         int
	stoppedAt       time.Time
	journal         []string
}

func newFakeUnits() *fakeUnits {
	return &fakeUnits{stopping: make(chan struct{}), unit: systemd.Properties{
		LoadState: "loaded", ActiveState: "inactive", SubState: "dead", Result: "success", TimeoutStop: 20 * time.Second,
	}}
}

// set changes the unit and tells the followers.
func (f *fakeUnits) set(change func(*systemd.Properties)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.unit)
	for _, ch := range f.followers {
		select {
		case <-ch:
		default:
		}
		ch <- systemd.Update{Unit: f.unit}
	}
}

// quiet changes the unit while nobody follows it.
func (f *fakeUnits) quiet(change func(*systemd.Properties)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&f.unit)
}

// state is set for the states that most tests need.
func (f *fakeUnits) state(active, sub string) {
	f.set(func(p *systemd.Properties) {
		p.ActiveState, p.SubState, p.InvocationID, p.ConditionResult = active, sub, "aa", true
	})
}

func (f *fakeUnits) status(text string) {
	f.set(func(p *systemd.Properties) { p.StatusText = text })
}

func (f *fakeUnits) disconnect(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, ch := range f.followers {
		ch <- systemd.Update{Err: err}
	}
}

func (f *fakeUnits) Start(ctx context.Context, _ string) (string, error) {
	f.mu.Lock()
	f.started++
	play := f.onStart
	f.mu.Unlock()
	if play == nil {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return play()
}

func (f *fakeUnits) Stop(context.Context, string) (string, error) {
	f.mu.Lock()
	f.stopped++
	f.stoppedAt = time.Now()
	if f.stopped == 1 {
		close(f.stopping)
	}
	play := f.onStop
	f.mu.Unlock()
	if play == nil {
		f.state("inactive", "dead")
		return systemd.JobDone, nil
	}
	return play()
}

func (f *fakeUnits) Unit(context.Context, string) (systemd.Properties, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.unit, nil
}

func (f *fakeUnits) Follow(ctx context.Context, _ string) (<-chan systemd.Update, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	ch := make(chan systemd.Update, 1)
	ch <- systemd.Update{Unit: f.unit}
	f.followers = append(f.followers, ch)
	return ch, nil
}

func (f *fakeUnits) Journal(context.Context, string, string, int) ([]string, error) {
	return f.journal, nil
}

// fakeContainer is a foreign installer's container.
type fakeContainer struct {
	mu        sync.Mutex
	installed bool
	fails     error // what Stop and Remove say
	did       []string
	began     time.Time // what was asked for
	units     *fakeUnits
}

func (c *fakeContainer) note(what string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	unit, _ := c.units.Unit(context.Background(), "")
	c.did = append(c.did, what+" while the unit is "+unit.ActiveState)
	return c.fails
}

func (c *fakeContainer) Stop(context.Context) error   { return c.note("stopped") }
func (c *fakeContainer) Remove(context.Context) error { return c.note("removed") }
func (c *fakeContainer) Installed(_ context.Context, began time.Time) bool {
	_ = c.note("asked")
	c.began = began
	return c.installed
}

// scene is one run of the step against a fake systemd and real files.
type scene struct {
	t       *testing.T
	units   *fakeUnits
	host    Host
	changed chan struct{}
	step    *Step
	req     *step.Request
	stages  []string
	cancel  context.CancelCauseFunc
	ended   chan step.Report

	container *fakeContainer
}

func newScene(t *testing.T) *scene {
	t.Helper()
	dir := hostfile.Dir{Root: t.TempDir()}
	path := dir.Path(hostfile.BootIDPath())
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(fakeBoot+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	host, err := OpenHost(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{t: t, units: newFakeUnits(), host: host, changed: make(chan struct{}, 1), ended: make(chan step.Report, 1)}
	s.container = &fakeContainer{units: s.units}
	booted := time.Now().Add(-time.Hour)
	s.step = &Step{
		Units: s.units, Foreign: s.container, Watch: func(context.Context) (<-chan struct{}, error) { return s.changed, nil },
		Uptime: func() time.Duration { return time.Since(booted) },
	}
	s.req = &step.Request{
		Input: step.Input{Node: step.Node{UUID: "node-1"}}, Host: dir, Log: slog.New(slog.DiscardHandler),
		Progress: func(stage string, _ int, text string) { s.stages = append(s.stages, stage+": "+text) },
	}
	return s
}

// run starts the step; its report comes out of ended.
func (s *scene) run() {
	ctx, cancel := context.WithCancelCause(s.t.Context())
	s.cancel = cancel
	go func() { s.ended <- s.step.Run(ctx, s.req) }()
}

// becomesReady makes the start job succeed after the given time.
func (s *scene) becomesReady(after time.Duration) {
	s.units.onStart = func() (string, error) {
		s.units.state("activating", "start")
		select {
		case <-time.After(after):
			s.units.state("active", "running")
			return systemd.JobDone, nil
		case <-s.units.stopping:
			return systemd.JobCanceled, nil
		}
	}
}

// mark writes a valid done marker.
func (s *scene) mark() {
	s.t.Helper()
	if err := s.host.Write(hostfile.InstalledFile, hostfile.Installed{BootID: fakeBoot, InvocationID: "aa", Disk: "/dev/vda", Time: time.Now()}); err != nil {
		s.t.Fatal(err)
	}
	s.changed <- struct{}{}
}

func (s *scene) fail(code int) {
	s.units.set(func(p *systemd.Properties) {
		p.ActiveState, p.SubState, p.Result = "failed", "failed", "exit-code"
		p.ExecMainCode, p.ExecMainStatus = systemd.Exited, code
	})
}
