package standin

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// unit is one service: its properties, who follows them, and the jobs that
// wait. Its life (life.go) runs in one goroutine while it is not ended.
type unit struct {
	m    *Manager
	name string
	log  journal

	mu        sync.Mutex
	svc       service
	props     systemd.Properties
	followers map[chan systemd.Update]struct{}
	alive     bool
	stopAsked chan struct{} // closed when the running life shall end
	startJob  *job
	stopJobs  []*job
	starts    []time.Time // for the start limit
	current   *process    // the process that runs now, for abandon
}

func newUnit(m *Manager, name string) *unit {
	u := &unit{m: m, name: name, log: journal{m.root, name}, followers: map[chan systemd.Update]struct{}{}}
	u.props = systemd.Properties{ActiveState: "inactive", SubState: "dead", Result: resultSuccess}
	if p, ok := recall(m.root, name); ok {
		u.props = p
	}
	return u
}

// reload reads the unit file anew unless the unit runs.
func (u *unit) reload() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.alive {
		return
	}
	u.svc = loadService(u.m.root, u.name)
	u.change(func(p *systemd.Properties) {
		p.LoadState, p.TimeoutStop, p.Restart = u.svc.loadState, u.svc.stopTimeout, u.svc.restart
		p.UnitFileState = ""
		switch u.svc.loadState {
		case loaded:
			p.UnitFileState = "disabled"
		case masked:
			p.UnitFileState = masked
		}
	})
}

func (u *unit) snapshot() systemd.Properties {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.props
}

// update changes the properties and tells the followers.
func (u *unit) update(f func(*systemd.Properties)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.change(f)
}

// change is update with the lock held. Only what a later program would ask for
// is remembered on disk, not each status text.
func (u *unit) change(f func(*systemd.Properties)) {
	before := u.props
	f(&u.props)
	if u.props == before {
		return
	}
	for ch := range u.followers {
		send(ch, systemd.Update{Unit: u.props})
	}
	before.StatusText = u.props.StatusText
	if u.props != before && u.alive || u.props.Ended() != before.Ended() {
		remember(u.m.root, u.name, u.props)
	}
}

// send puts the newest update into a channel of one; an unread older one goes.
func send(ch chan systemd.Update, up systemd.Update) {
	select {
	case <-ch:
	default:
	}
	ch <- up
}

func (u *unit) follow(ctx context.Context) <-chan systemd.Update {
	ch := make(chan systemd.Update, 1)
	u.mu.Lock()
	defer u.mu.Unlock()
	u.followers[ch] = struct{}{}
	ch <- systemd.Update{Unit: u.props}
	context.AfterFunc(ctx, func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		delete(u.followers, ch)
		close(ch)
	})
	return ch
}

// start queues a start job. A job that already waits is joined; a unit that
// runs is started already.
func (u *unit) start() (*job, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.svc.loadState != loaded {
		return nil, u.loadError()
	}
	if u.startJob != nil {
		return u.startJob, nil
	}
	j := newJob()
	switch {
	case u.alive && u.props.ActiveState == "active":
		j.finish(systemd.JobDone)
	case u.alive: // it waits for its automatic restart, or is ending
		u.startJob = j
	default:
		u.starts = nil // ResetFailedUnit
		u.launch(j)
	}
	return j, nil
}

func (u *unit) loadError() error {
	switch u.svc.loadState {
	case notFound:
		return fmt.Errorf("unit %s not found", u.name)
	case masked:
		return fmt.Errorf("unit %s is masked", u.name)
	default:
		return fmt.Errorf("unit %s has a bad unit file setting: %s", u.name, u.svc.loadError)
	}
}

// launch begins a life, with the lock held.
func (u *unit) launch(j *job) {
	u.alive, u.startJob, u.stopAsked = true, j, make(chan struct{})
	l := &life{u: u, svc: u.svc, stop: u.stopAsked}
	u.m.lives.Go(l.run)
}

// stop asks the life to end; a waiting start job is cancelled.
func (u *unit) stop() *job {
	u.mu.Lock()
	defer u.mu.Unlock()
	j := newJob()
	if !u.alive {
		j.finish(systemd.JobDone)
		return j
	}
	if u.startJob != nil {
		u.startJob.finish(systemd.JobCanceled)
		u.startJob = nil
	}
	u.stopJobs = append(u.stopJobs, j)
	select {
	case <-u.stopAsked:
	default:
		close(u.stopAsked)
	}
	return j
}

// finishStart ends the start job, if one waits.
func (u *unit) finishStart(result string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.startJob != nil {
		u.startJob.finish(result)
		u.startJob = nil
	}
}

// ended closes a life with its last properties. A start that was asked for
// while the unit was stopping begins the next one.
func (u *unit) ended(f func(*systemd.Properties)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.change(f)
	u.alive, u.current = false, nil
	for _, j := range u.stopJobs {
		j.finish(systemd.JobDone)
	}
	u.stopJobs = nil
	if j := u.startJob; j != nil {
		u.launch(j)
	}
}

// limited counts a start and tells whether the start limit is hit.
func (u *unit) limited() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.svc.limitInterval == 0 || u.svc.limitBurst == 0 {
		return false
	}
	now := time.Now()
	recent := u.starts[:0]
	for _, t := range u.starts {
		if now.Sub(t) < u.svc.limitInterval {
			recent = append(recent, t)
		}
	}
	u.starts = recent
	if len(recent) >= u.svc.limitBurst {
		return true
	}
	u.starts = append(u.starts, now)
	return false
}

func (u *unit) setCurrent(p *process) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.current = p
}

// abandon kills the running process without ceremony.
func (u *unit) abandon() {
	u.stop()
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.current != nil {
		u.current.signal(syscall.SIGKILL)
	}
}
