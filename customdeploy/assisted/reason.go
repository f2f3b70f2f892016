package assisted

import (
	"fmt"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/api/redact"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

// JournalLines is how many of the unit's last journal lines a report carries.
const JournalLines = 20

// Evidence is what is collected once, when the end is known.
type Evidence struct {
	Unit    string
	Reason  *hostfile.Reason
	Marker  *hostfile.Installed
	Journal []string
	// Foreign is why a foreign installer's container may still be at work.
	Foreign error
	// Error is what went wrong in the step itself, for causes such as StartRefused.
	Error error
}

// report puts the end of the step into words: one line that names what
// happened and where, then what is known around it.
func report(o Observation, c Cause, e Evidence) step.Report {
	r := step.Report{Outcome: c.Outcome()}
	if r.Outcome == step.Done {
		r.Result = result(o, e)
		if warning := warning(o, e); warning != "" {
			r.Reason = warning
			r.Result["warning"] = warning
		}
		return r
	}
	r.Reason = headline(o, c, e)
	r.Detail = detail(o, e)
	return r
}

func result(o Observation, e Evidence) map[string]any {
	res := map[string]any{
		"outcome":       "installed",
		"stage":         o.Status.Stage,
		"seconds":       int(o.Now.Sub(o.Clocks.Begun) / time.Second),
		"restarts":      o.Unit.NRestarts,
		"invocation_id": o.Unit.InvocationID,
	}
	if e.Marker != nil {
		// Of the run that has installed: the unit's last may be a later one.
		res["invocation_id"], res["disk"], res["image_digest"] = e.Marker.InvocationID, e.Marker.Disk, e.Marker.ImageDigest
	}
	return res
}

// warning is for an installation that is done although the unit ended badly.
func warning(o Observation, e Evidence) string {
	switch {
	case e.Error != nil:
		return fmt.Sprintf("installed, but systemd could not be asked how the agent ended: %v", e.Error)
	case o.Cancelled != "" || o.Stopped == CancelledHere:
		return "cancelled by " + o.Cancelled + ", but the installation was already done"
	case e.Marker != nil && o.LastEnd.InvocationID == e.Marker.InvocationID:
		return "installed, but the agent then failed: " + orElse(o.LastEnd.EndInWords(), o.LastEnd.Result)
	case o.Unit.ActiveState == "failed":
		return "installed, but the agent then failed: " + orElse(o.Unit.EndInWords(), o.Unit.Result)
	case !o.Unit.Ended():
		return "installed, but the agent has not ended: " + o.Unit.ActiveState + "/" + o.Unit.SubState
	default:
		return ""
	}
}

// headline is the reason's first line.
func headline(o Observation, c Cause, e Evidence) string {
	unit := e.Unit
	switch c {
	case AgentFailed:
		return "installation failed" + o.where(e) + ": " + o.lastWord(e)
	case AgentCancelled:
		return "installation cancelled" + o.where(e) + ": " + o.lastWord(e)
	case CancelledHere:
		return "cancelled by " + orElse(o.Cancelled, "an earlier request") + o.where(e)
	case UnitFailed:
		return fmt.Sprintf("%s failed%s: the agent %s; %s", unit, o.where(e), failure(o.Unit), o.lastWord(e))
	case CrashLoop:
		return fmt.Sprintf("%s ended badly again and again and was stopped (%d restarts within %v)%s: the agent %s; %s",
			unit, len(o.Clocks.Restarts), o.Now.Sub(o.Clocks.Restarts[0]).Round(time.Second), o.where(e), failure(o.LastEnd), o.lastWord(e))
	case StoppedEarly:
		return fmt.Sprintf("%s was stopped before the installation was done%s: the agent %s", unit, o.where(e), orElse(failure(o.Unit), "did not run"))
	case ConditionUnmet:
		return unit + " did not start: one of its conditions is not met although the step opened its gate; the live image does not fit"
	case GateClosed:
		return unit + " did not start: its gate " + hostfile.Gate + " was removed during the step"
	case NoUnit:
		return "this live image has no " + unit + ": is it an image with the assisted agent?"
	case UnitMasked:
		return unit + " is masked in this live image"
	case UnitBroken:
		return unit + " of this live image cannot be loaded"
	case StartedByHand:
		return unit + " was already running before the step opened its gate: somebody started it by hand; stop it and retry"
	case StartRefused:
		if e.Error == nil {
			return fmt.Sprintf("systemd did not start %s: the result of its job was %q", unit, o.Job)
		}
		return fmt.Sprintf("systemd did not start %s: %v", unit, e.Error)
	case AnotherStep:
		return "another step program is starting the agent on this host; wait for its end"
	case InstallerStays:
		return fmt.Sprintf("another installer may be writing a disk of this host: the container of an earlier attempt's was not removed: %v; nothing was started; restart the machine, then retry", e.Error)
	case HostTrouble:
		return fmt.Sprintf("the host's state files cannot be used: %v", e.Error)
	case StopHangs:
		return fmt.Sprintf("%s does not stop: %s/%s for %v", unit, o.Unit.ActiveState, o.Unit.SubState, o.Now.Sub(o.Clocks.Deactivating).Round(time.Second))
	case SystemdLost:
		return fmt.Sprintf("the connection to systemd was lost and did not come back: %v", e.Error)
	default:
		return deadlineText(o, c, unit) + "; " + o.lastWord(e)
	}
}

func deadlineText(o Observation, c Cause, unit string) string {
	clocks := o.Clocks
	switch c {
	case StartDeadline:
		return fmt.Sprintf("%s was not ready after %v (start deadline)", unit, since(o, clocks.Starting))
	case IdleDeadline:
		return fmt.Sprintf("no sign of the agent for %v%s (idle deadline)", since(o, clocks.Sign), o.where(Evidence{}))
	case StageDeadline:
		return fmt.Sprintf("stage %q took longer than %v (stage deadline)", o.Status.Stage, since(o, clocks.Stage))
	case TotalDeadline:
		if clocks.Installing.IsZero() {
			return fmt.Sprintf("%s was not done after %v and has said nothing (total deadline)", unit, since(o, clocks.Sign))
		}
		fallthrough
	default:
		return fmt.Sprintf("the installation was not done after %v%s (total deadline)", since(o, clocks.Installing)-clocks.Excluded.Round(time.Second), o.where(Evidence{}))
	}
}

// since counts to the moment when the step acted, not when the unit had ended.
func since(o Observation, t time.Time) time.Duration {
	until := o.Now
	if !o.Clocks.Stopped.IsZero() {
		until = o.Clocks.Stopped
	}
	return until.Sub(t).Round(time.Second)
}

// where names the stage and percent, from the reason file or the last status.
func (o Observation) where(e Evidence) string {
	stage, percent := o.Status.Stage, o.Status.Percent
	if e.Reason != nil && e.Reason.Stage != "" {
		stage, percent = e.Reason.Stage, e.Reason.Percent
	}
	switch {
	case stage == "":
		return ""
	case percent > 0:
		return fmt.Sprintf(" at %q (%d %%)", stage, percent)
	default:
		return fmt.Sprintf(" at %q", stage)
	}
}

// lastWord is the best text that the agent has left: its reason file, its last
// status, its last journal line.
func (o Observation) lastWord(e Evidence) string {
	switch {
	case spoken(e.Reason) && e.Reason.Text != "" && !o.obeyed(e.Reason):
		return e.Reason.Text
	case o.LastText != "":
		return "its last status: " + o.LastText
	case len(e.Journal) > 0:
		return "its last line: " + printable(e.Journal[len(e.Journal)-1])
	default:
		return "it has said nothing"
	}
}

// spoken tells whether the reason is the agent's own. One with a negative exit
// code was written for it by the unit's ExecStopPost, which knows less than systemd.
func spoken(r *hostfile.Reason) bool { return r != nil && r.Exit >= 0 }

// obeyed tells whether the agent's reason is only that the step has stopped it. With a
// foreign installer in its container, an agent takes each stop for that installer's.
func (o Observation) obeyed(r *hostfile.Reason) bool {
	return o.Stopped != "" && (r.Exit == exitcode.AgentCancelled || r.Exit == exitcode.AgentInstalled)
}

// failure says how the unit ended, in words.
func failure(u systemd.Properties) string {
	words := u.EndInWords()
	switch {
	case words == "" && (u.Result == "" || u.Result == "success"):
		return ""
	case words == "":
		return "did not run (systemd: " + u.Result + ")"
	case u.Result == "exit-code" || u.Result == "signal" || u.Result == "core-dump" || u.Result == "success" || u.Result == "":
		return words
	default:
		return words + " (systemd: " + u.Result + ")"
	}
}

func detail(o Observation, e Evidence) []string {
	u := o.Unit
	lines := []string{fmt.Sprintf("unit: %s %s/%s, result %s, %d restarts, invocation %s",
		e.Unit, u.ActiveState, u.SubState, orElse(u.Result, "unknown"), u.NRestarts, orElse(u.InvocationID, "none"))}
	end := o.end()
	if words := end.EndInWords(); words != "" {
		lines = append(lines, "main process: "+words+meaning(end))
	}
	if o.Job != "" && o.Job != systemd.JobDone {
		lines = append(lines, "start job: "+o.Job)
	}
	if o.LastText != "" {
		lines = append(lines, "last status: "+o.LastText)
	}
	if r := e.Reason; spoken(r) {
		lines = append(lines, fmt.Sprintf("agent's reason: %s (stage %q, %d %%, exit %d)", orElse(r.Text, "none given"), r.Stage, r.Percent, r.Exit))
	}
	if e.Foreign != nil {
		lines = append(lines, fmt.Sprintf("the container of another hub's installer may still be at work, and write the disk: %v", e.Foreign))
	}
	for _, line := range e.Journal {
		lines = append(lines, "journal: "+printable(line))
	}
	return lines
}

// end is the unit at the end that matters: its own, or of its last bad run
// when the step has stopped it between two runs.
func (o Observation) end() systemd.Properties {
	if o.Unit.ExecMainCode == 0 || o.Stopped == CrashLoop && o.LastEnd.ExecMainCode != 0 {
		return o.LastEnd
	}
	return o.Unit
}

// meaning explains the agent's reserved exit codes.
func meaning(u systemd.Properties) string {
	if u.ExecMainCode != systemd.Exited {
		return ""
	}
	for _, m := range exitcode.Meanings() {
		if m.Program == "ironflow-agent" && m.Code == u.ExecMainStatus && m.Code != exitcode.AgentInstalled {
			return " (" + m.Text + ")"
		}
	}
	return ""
}

// printable makes a journal line safe to show: UTF-8 without control characters
// and secrets.
func printable(line string) string {
	line = string(redact.Secrets([]byte(line)))
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return -1
		}
		return r
	}, strings.ToValidUTF8(line, "\uFFFD"))
}

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
