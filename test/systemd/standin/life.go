package standin

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// life is one activation of a unit with all its automatic restarts, from a
// start job to inactive or failed.
type life struct {
	u    *unit
	svc  service
	stop <-chan struct{} // closed when a stop job was queued

	invocation string
	env        []string
	startBy    <-chan time.Time // start timeout, nil for none
}

func (l *life) run() {
	if !l.svc.conditionsMet(l.u.m.root) {
		l.u.finishStart(systemd.JobDone)
		l.u.ended(func(p *systemd.Properties) { p.ConditionResult = false })
		return
	}
	l.u.update(func(p *systemd.Properties) { p.NRestarts = 0 })
	var e end
	for {
		if l.u.limited() {
			// The result of the runs before says more, and systemd keeps it.
			if e.result == "" {
				e.result = resultStart
			}
			l.finish(e)
			return
		}
		e = l.once()
		if !l.svc.mayRestart(e) || l.stopping() {
			l.finish(e)
			return
		}
		l.u.finishStart(systemd.JobFailed)
		l.u.update(func(p *systemd.Properties) {
			p.ActiveState, p.SubState, p.Result, p.MainPID = "activating", "auto-restart", e.result, 0
		})
		select {
		case <-l.stop:
			l.finish(e)
			return
		case <-time.After(l.svc.restartAfter):
		}
		l.u.update(func(p *systemd.Properties) { p.NRestarts++ })
		if !l.svc.conditionsMet(l.u.m.root) {
			l.u.finishStart(systemd.JobDone)
			l.u.ended(func(p *systemd.Properties) {
				p.ConditionResult, p.ActiveState, p.SubState = false, "inactive", "dead"
			})
			return
		}
	}
}

func (l *life) stopping() bool {
	select {
	case <-l.stop:
		return true
	default:
		return false
	}
}

// finish enters the last state.
func (l *life) finish(e end) {
	active, sub := "failed", "failed"
	if e.result == resultSuccess {
		active, sub = "inactive", "dead"
	}
	job := systemd.JobFailed
	if e.result == resultSuccess && l.svc.typ == "oneshot" {
		job = systemd.JobDone
	}
	l.u.finishStart(job)
	l.u.ended(func(p *systemd.Properties) { p.ActiveState, p.SubState, p.Result, p.MainPID = active, sub, e.result, 0 })
}

// once runs the unit's commands one time and returns the end of that run.
func (l *life) once() end {
	l.invocation = newInvocationID()
	l.startBy = nil
	if l.svc.startTimeout > 0 {
		l.startBy = time.After(l.svc.startTimeout)
	}
	l.u.update(func(p *systemd.Properties) {
		p.ConditionResult, p.InvocationID, p.Result, p.StatusText = true, l.invocation, resultSuccess, ""
		p.ExecMainCode, p.ExecMainStatus = 0, 0
		p.ActiveState, p.SubState = "activating", "start-pre"
		if len(l.svc.startPre) == 0 {
			p.SubState = "start"
		}
	})
	socket, err := newNotifySocket()
	if err != nil {
		return end{result: resultResources}
	}
	defer socket.close()
	l.env, err = l.svc.environ(l.u.m.root, "INVOCATION_ID="+l.invocation, "NOTIFY_SOCKET="+socket.address())
	if err != nil {
		l.say("Failed to load environment files: " + err.Error())
		return end{result: resultResources}
	}
	e := l.pre()
	if e.result == resultSuccess && !l.stopping() {
		e = l.main(socket)
	}
	return l.post(e)
}

func (l *life) say(text string) { l.u.log.add(l.invocation, text) }

// pre runs ExecStartPre one after the other.
func (l *life) pre() end {
	for _, c := range l.svc.startPre {
		p, err := l.spawn(c, l.env)
		if err != nil {
			if c.ignoreFailure {
				continue
			}
			return end{result: resultExitCode}
		}
		e := l.waitControl(p, l.startBy, l.stop)
		if e.result != resultSuccess && !c.ignoreFailure {
			return end{result: e.result}
		}
		if l.stopping() {
			break
		}
	}
	return end{result: resultSuccess}
}

func isZero(n int) bool { return n == 0 }

// waitControl waits for a command other than the main process; on a stop or
// when its time is over it is killed.
func (l *life) waitControl(p *process, limit <-chan time.Time, stop <-chan struct{}) end {
	defer p.reap()
	select {
	case <-p.exited:
		return p.end(isZero, false)
	case <-stop:
		l.terminate(p)
		return p.end(isZero, false)
	case <-limit:
		l.terminate(p)
		return end{result: resultTimeout}
	}
}

// main runs ExecStart until it has ended, following what it notifies.
func (l *life) main(socket *notifySocket) end {
	p, err := l.spawn(l.svc.start[0], l.env)
	if err != nil {
		l.u.update(func(pr *systemd.Properties) { pr.ExecMainCode, pr.ExecMainStatus = exitedCode, statusExec })
		return end{resultExitCode, exitedCode, statusExec}
	}
	defer p.reap()
	ready := l.svc.typ == "simple" || l.svc.typ == "exec" || l.svc.typ == "idle"
	l.u.update(func(pr *systemd.Properties) { pr.MainPID, pr.SubState = p.pid(), "start" })
	if ready {
		l.becomeActive()
	}
	limit := l.startBy
	if ready {
		limit = nil
	}
	heard := func(n notification) {
		l.heardStatus(n)
		if n.ready && !ready {
			ready, limit = true, nil
			l.becomeActive()
		}
		if n.stopping {
			l.u.update(func(pr *systemd.Properties) { pr.ActiveState, pr.SubState = "deactivating", "stop-sigterm" })
			limit = l.stopLimit()
		}
	}
	for {
		select {
		case <-p.exited:
			socket.flush(heard)
			return l.mainEnd(p, ready, "")
		case n := <-socket.messages:
			heard(n)
		case <-l.stop:
			forced := ""
			if !l.terminateFollowing(p, socket) {
				forced = resultTimeout
			}
			socket.flush(l.heardStatus)
			return l.mainEnd(p, ready, forced)
		case <-limit:
			l.terminateFollowing(p, socket)
			return l.mainEnd(p, ready, resultTimeout)
		}
	}
}

func (l *life) heardStatus(n notification) {
	if n.status != nil {
		l.u.update(func(pr *systemd.Properties) { pr.StatusText = *n.status })
	}
}

func (l *life) becomeActive() {
	l.u.update(func(pr *systemd.Properties) { pr.ActiveState, pr.SubState = "active", "running" })
	l.u.finishStart(systemd.JobDone)
}

// mainEnd says how the main process ended. A Type=notify service that ends
// cleanly before it was ready broke the protocol.
func (l *life) mainEnd(p *process, ready bool, forced string) end {
	e := p.end(func(n int) bool { return n == 0 || slices.Contains(l.svc.successStatus, n) }, true)
	l.u.update(func(pr *systemd.Properties) { pr.ExecMainCode, pr.ExecMainStatus, pr.MainPID = e.code, e.status, 0 })
	switch {
	case forced != "":
		e.result = forced
	case e.result == resultSuccess && !ready && l.svc.typ == "notify" && !l.stopping():
		e.result = resultProtocol
	}
	return e
}

func (l *life) stopLimit() <-chan time.Time {
	if l.svc.stopTimeout == 0 {
		return nil
	}
	return time.After(l.svc.stopTimeout)
}

// terminate ends a process as KillMode=control-group does: SIGTERM, and SIGKILL
// when the stop timeout is over.
func (l *life) terminate(p *process) { l.terminateFollowing(p, &notifySocket{}) }

// terminateFollowing is terminate while status texts still arrive. It returns
// whether SIGTERM was enough.
func (l *life) terminateFollowing(p *process, socket *notifySocket) bool {
	l.u.update(func(pr *systemd.Properties) { pr.ActiveState, pr.SubState = "deactivating", "stop-sigterm" })
	p.signal(syscall.SIGTERM)
	limit, clean := l.stopLimit(), true
	for {
		select {
		case <-p.exited:
			return clean
		case n := <-socket.messages:
			l.heardStatus(n)
		case <-limit:
			limit, clean = nil, false
			l.u.update(func(pr *systemd.Properties) { pr.SubState = "stop-sigkill" })
			p.signal(syscall.SIGKILL)
		}
	}
}

// post runs ExecStopPost, which always happens, with the result in its environment.
func (l *life) post(e end) end {
	if len(l.svc.stopPost) == 0 {
		return e
	}
	l.u.update(func(pr *systemd.Properties) {
		pr.ActiveState, pr.SubState, pr.Result = "deactivating", "stop-post", e.result
	})
	env := append(slices.Clone(l.env), "SERVICE_RESULT="+e.result)
	switch e.code {
	case exitedCode:
		env = append(env, "EXIT_CODE=exited", "EXIT_STATUS="+strconv.Itoa(e.status))
	case killedCode, dumpedCode:
		word := map[int]string{killedCode: "killed", dumpedCode: "dumped"}[e.code]
		env = append(env, "EXIT_CODE="+word, "EXIT_STATUS="+strings.TrimPrefix(unix.SignalName(syscall.Signal(e.status)), "SIG"))
	}
	for _, c := range l.svc.stopPost {
		p, err := l.spawn(c, env)
		if err != nil {
			continue // spawn has told the journal
		}
		got := l.waitControl(p, l.stopLimit(), nil)
		if e.result == resultSuccess && got.result != resultSuccess && !c.ignoreFailure {
			e.result = got.result
		}
	}
	return e
}

// spawn starts one command of the unit.
func (l *life) spawn(c command, env []string) (*process, error) {
	path, err := program(l.u.m.root, l.u.m.binDir, c.argv[0])
	if err == nil {
		var p *process
		argv := c.expand(env)
		if p, err = startProcess(l.u.m.thread, path, argv, env, l.u.m.root.Path(l.workDir()), l.say); err == nil {
			l.u.setCurrent(p)
			return p, nil
		}
	}
	l.say(fmt.Sprintf("%s: Failed at step EXEC spawning %s: %v", filepath.Base(c.argv[0]), c.argv[0], err))
	return nil, err
}

func (l *life) workDir() string {
	if l.svc.workDir == "" {
		return "/"
	}
	return strings.TrimPrefix(l.svc.workDir, "-")
}
