package policy

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// Mark stands on a host, in the place of the annotations that asked for a restart or
// beside the one that asked for it, from before Ironic is asked until that is known to be
// done. A restart shows in nothing that can be looked up afterwards: the mark's Since is a
// time of the node's own that any request moves, so that a controller that dies at any moment
// neither asks twice nor forgets to ask. The mark of a restart that nobody asked for
// stays until the deployment ends in which it was made.
type Mark struct {
	// Hard is true when the machine is not asked to shut its system down first.
	Hard bool `json:"hard,omitempty"`
	// Since is the node's updated_at, or its provision_updated_at where an operation
	// is started over.
	Since time.Time `json:"since"`
	// State is the node's: in another one, what the mark is about is over.
	State ironic.ProvisionState `json:"state"`
	// Node is its id: a node that was enrolled since, as after a detachment, says nothing of
	// what was asked of the one before. Empty in marks of earlier versions.
	Node string `json:"node,omitempty"`
	// TurnedAway means that Ironic did not take the request, because somebody else had
	// the node locked, who may have moved it meanwhile.
	TurnedAway bool `json:"turnedAway,omitempty"`
	// Off means that the machine is switched off for the restart: the annotation that asks
	// for it stays beside the mark until it was, and both go together.
	Off bool `json:"off,omitempty"`
	// CutOff means that nobody asked for the restart: an installation was cut off, and
	// Ironic is to learn why. It is made once in a deployment.
	CutOff bool `json:"cutOff,omitempty"`
	// Failed is when the error was recorded that the host showed as the mark was put on
	// it; zero for none. That one is not of the restart, whatever came of it since.
	Failed time.Time `json:"failed,omitzero"`
}

// MarkOf reads a host's mark; nil for none. One that cannot be read is older than
// any node, so that nothing comes of it.
func MarkOf(h *metal3.BareMetalHost) *Mark {
	raw, there := h.Annotations[names.Rebooting]
	if !there {
		return nil
	}
	m := &Mark{}
	if json.Unmarshal([]byte(raw), m) != nil {
		return &Mark{}
	}
	return m
}

// markNow is a mark of what is about to be asked of a node.
func markNow(o *Observed, n nodeaction.Read) Mark {
	return Mark{Since: n.UpdatedAt, State: n.ProvisionState, Node: n.UUID, Failed: failingSince(o)}
}

// ofAnotherNode reports a mark that is about another node than the host has.
func (m Mark) ofAnotherNode(id string) bool { return m.Node != "" && m.Node != id }

// Value is the mark as the annotation holds it.
func (m Mark) Value() string {
	raw, err := json.Marshal(m)
	if err != nil {
		return "" // not reached: a mark holds plain values
	}
	return string(raw)
}

// Announce puts a mark on the host and takes the annotations off that asked for it.
type Announce struct {
	Mark Mark
	Drop []string
}

// Name implements Action.
func (Announce) Name() string { return "announce restart" }

// dropMark takes the mark off.
func dropMark(d *Decision) {
	d.DropAnnotations = append(d.DropAnnotations, names.Rebooting)
	d.Again = true
}

// neverOff looks after a running machine that must not be switched off, and reports
// whether it has something to do or to say: a reboot is one request to Ironic, and
// what would hold the machine off is not done.
func neverOff(o *Observed, d *Decision, r reboot) bool {
	switch {
	case !o.Host.Spec.DisablePowerOff:
		return false
	case r.plain:
		n, ok := o.readNode(d) // the watch does not keep updated_at
		if ok && mediaSettled(o, d, true) {
			m := markNow(o, n)
			m.Hard = r.hard || o.Host.Status.ErrorCount > 0
			d.do(Announce{m, []string{names.Reboot}})
			if r.problem != "" {
				d.warn("InvalidAnnotationValue", r.problem)
			}
		}
	case r.asked:
		settle(o, d)
		d.wait(0, view.Note{
			Step: "on although an annotation " + names.Reboot + "/… would have it off", Text: "spec.disablePowerOff is set",
			WaitingFor: "somebody to remove the annotation (" + names.Reboot + " restarts the machine), or to allow power-off",
		})
	default:
		settle(o, d)
		d.wait(0, view.Note{
			Step: "on although spec.online is false", Text: "spec.disablePowerOff is set", WaitingFor: "somebody to change one of them",
		})
	}
	return true
}

// restart carries out what a mark has announced, until the machine is up again.
func restart(o *Observed, d *Decision, m Mark) {
	if moving := o.Node.TargetPowerState; moving != "" {
		d.wait(lookAgain, view.Note{Step: "restarting the machine", Text: string(moving)})
		return
	}
	n, ok := o.readNode(d)
	switch {
	case !ok:
	case m.TurnedAway && n.Reservation != "":
		d.wait(WaitBusy, view.Note{Step: "restarting the machine", WaitingFor: "whoever holds the node in Ironic"})
	case m.TurnedAway:
		// Whoever had locked the node may have moved it since.
		again := markNow(o, n)
		again.Hard = m.Hard
		d.do(Announce{Mark: again})
	case m.ofAnotherNode(n.UUID):
		dropMark(d) // Ironic was asked, and nobody can tell any more what came of it
	case failedSince(o, m):
		// It failed and is due again, or was refused. The error is told apart from one of
		// the next request: a controller that dies after that has not stored its end.
		again := markNow(o, n)
		again.Hard = m.Hard || !n.UpdatedAt.Equal(m.Since)
		d.do(Announce{Mark: again})
	case n.UpdatedAt.Equal(m.Since):
		askRestart(o, d, m)
	case ironic.LostSight(n.LastError):
		restartNotKnown(d)
		dropMark(d)
	case n.LastError != "":
		fail(o, d, metal3.PowerManagementError, "", "Ironic could not restart the machine: "+n.LastError)
	default:
		dropMark(d)
	}
}

// offOnce switches a machine off for the one restart that the annotation without a key
// asks for. A machine that runs again after it was switched off, seen off or not, has had
// its restart: it is not switched off a second time.
func offOnce(o *Observed, d *Decision, r reboot, m *Mark) {
	n, ok := o.readNode(d) // the watch does not keep updated_at
	switch {
	case !ok:
	case n.Reservation != "" && m != nil:
		d.wait(WaitBusy, view.Note{Step: "restarting the machine", WaitingFor: "whoever holds the node in Ironic"})
	case m != nil && m.ofAnotherNode(n.UUID) && !m.TurnedAway:
		settle(o, d)
		restarted(d, m) // it was switched off for it, or nobody can tell
	case m == nil, m.TurnedAway, failedSince(o, *m):
		off := markNow(o, n)
		off.Off = true
		d.do(Announce{Mark: off})
	case n.UpdatedAt.Equal(m.Since), n.LastError != "" && !ironic.LostSight(n.LastError):
		if !neverOff(o, d, r) {
			switchOff(o, d, r)
		}
	default:
		if ironic.LostSight(n.LastError) {
			restartNotKnown(d)
		}
		settle(o, d)
		restarted(d, m)
	}
}

// restartNotKnown tells of a restart that was asked for before Ironic lost sight of the machine's power.
func restartNotKnown(d *Decision) {
	d.warn("RestartNotKnown", "Ironic was asked to restart the machine, and has lost sight of its power since: whether it was restarted is not known, "+
		"and it is not restarted again. Set the annotation "+names.Reboot+" anew if it is to be")
}

// restarted takes off the host what asked for a restart that is made: in one write, so
// that neither is taken for another one.
func restarted(d *Decision, m *Mark) {
	d.DropAnnotations, d.Again = []string{names.Reboot}, true
	if m != nil {
		dropMark(d)
	}
}

// restartFirst reports that a restart was announced, which is carried out before the node is
// brought to what is new in the spec: that would move the time by which it is told whether
// Ironic was asked. Where something fails, or Ironic has an old password, that comes first; and a machine that is off
// by then, and may be kept so for long, was asked to be.
func restartFirst(o *Observed) bool {
	m := MarkOf(o.Host)
	return m != nil && m.State == o.Node.ProvisionState && (!m.Off || !o.saidOff()) && o.phase().steady && !o.Failing() && !NewCredentials(o)
}

// failedSince reports that the host shows an error of switching power that is not from
// before a mark was put on it. Another error says nothing about the restart.
func failedSince(o *Observed, m Mark) bool {
	return o.Host.Status.ErrorType == metal3.PowerManagementError && !failingSince(o).Equal(m.Failed)
}

// failingSince is when the error was recorded that the host shows; zero for none.
func failingSince(o *Observed) time.Time {
	if !o.Failing() {
		return time.Time{}
	}
	return failedAt(o)
}

// askRestart makes the request.
func askRestart(o *Observed, d *Decision, m Mark) {
	request := ironic.PowerRequest{Target: ironic.PowerRebooting}
	if !m.Hard && !o.SoftRefused {
		request = ironic.PowerRequest{Target: ironic.PowerSoftRebooting, Timeout: softTimeout}
	}
	power(o, d, request)
	d.event("PowerOff", "Host is asked to do: "+string(request.Target))
	d.count(Count{MetricPowerChange, []string{"off"}})
}

// startOver ends an inspection or deployment that waits for the machine, on
// request of a forced reboot, and reports whether it does. The phase then starts
// the operation anew, with a restart of the machine.
func startOver(o *Observed, d *Decision) bool {
	forced, m := ForcedReboots(o.Host), MarkOf(o.Host)
	if m != nil && m.CutOff {
		m = nil // of a restart that nobody asked for
	}
	if m == nil && len(forced) == 0 {
		return false
	}
	n, ok := o.readNode(d)
	switch {
	case !ok:
	case m == nil:
		d.do(Announce{Mark{Hard: true, Since: n.ProvisionUpdatedAt, State: n.ProvisionState, Node: n.UUID}, ours(forced)})
	case m.State != n.ProvisionState, !m.Since.Equal(n.ProvisionUpdatedAt):
		dropMark(d) // it was asked for: this is the operation that it led to
	default:
		switch {
		case n.ProvisionState == ironic.StateInspectWait:
			target(o, d, ironic.TargetAbort)
		case wouldClean(o, n):
			startDeprovisioning(o, d) // which tells the node before it is torn down
		default:
			target(o, d, ironic.TargetDeleted)
		}
		d.DropAnnotations = []string{names.Rebooting}
		d.event("ForcedReboot", "what the machine was doing ("+string(n.ProvisionState)+") is started over on request of a reboot annotation with force")
	}
	return true
}

// notBefore keeps an operation from being begun that boots the machine, and reports
// whether it is not: while an annotation with a key and force would have the machine
// off, and before the annotation without a key is off the host. That was not meant for
// the operation, nor for what comes after, and goes before it is asked for, so that it is
// not taken for a request to start it over.
func notBefore(o *Observed, d *Decision) bool {
	outdated := ours(rebootAnnotations(o.Host))
	if len(outdated) == 0 {
		return heldByKey(o, d)
	}
	d.DropAnnotations, d.Again = outdated, true
	return true
}

// heldByKey waits while an annotation with a key and force would have the machine off,
// and reports whether one does.
func heldByKey(o *Observed, d *Decision) bool {
	held := ForcedReboots(o.Host)
	if len(held) == 0 {
		return false
	}
	d.wait(0, view.Note{
		Step: "not begun, since the machine would boot", Text: "annotation " + held[0] + " with force",
		WaitingFor: "the client that has set the annotation to remove it",
	})
	return true
}

// ours are those of some reboot annotations that are ours to remove: one with a key is its
// client's, who has the machine off for as long as it is there.
func ours(keys []string) []string {
	if slices.Contains(keys, names.Reboot) {
		return []string{names.Reboot}
	}
	return nil
}

// rebootAnnotations names the annotations of a host that ask for a reboot, sorted.
func rebootAnnotations(h *metal3.BareMetalHost) []string {
	var list []string
	for key := range h.Annotations {
		if key == names.Reboot || strings.HasPrefix(key, names.RebootPrefix) {
			list = append(list, key)
		}
	}
	slices.Sort(list)
	return list
}
