package policy

import (
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// restartCutOff has Ironic reboot a machine whose deployment was cut off behind its
// back, and reports whether there is something to do for that: only then does it take
// the fresh live image on, in which confirm_install fails with the reason. It is done
// once in a deployment, which the host's mark keeps: whatever follows, Ironic's own
// time-out ends the deployment.
func restartCutOff(o *Observed, d *Decision) bool {
	why, m := whyCutOff(o), MarkOf(o.Host)
	made := m != nil && m.CutOff
	if _, read := o.AsRead(); why == "" || made && !m.TurnedAway && !read {
		return false
	}
	n, ok := o.readNode(d) // the watch does not keep updated_at
	switch {
	case !ok:
	case made && m.TurnedAway && n.Reservation != "":
		d.wait(WaitBusy, view.Note{Step: "restarting the machine", WaitingFor: "whoever holds the node in Ironic"})
	case !made, m.TurnedAway:
		d.do(Announce{Mark: Mark{Hard: true, CutOff: true, Since: n.UpdatedAt, State: n.ProvisionState, Node: n.UUID}})
	case n.UpdatedAt.Equal(m.Since) && n.TargetPowerState == "":
		d.do(n.Power(ironic.PowerRequest{Target: ironic.PowerRebooting}))
		d.warn("AgentLost", why+"; the machine is restarted, once in this deployment, so that it ends with a reason")
	default:
		return false
	}
	return true
}

// whyCutOff says what shows that a deployment was cut off; empty for nothing.
func whyCutOff(o *Observed) string {
	switch {
	case o.LostAgent && !o.Node.DeployStep.IsZero():
		return "the agent in the live image stopped talking to Ironic during " + o.Node.DeployStep.Name
	case restartedInStep(o):
		return "the machine came back in discovery during " + o.Node.DeployStep.Name
	default:
		return ""
	}
}

// restartedInStep reports whether the hub saw the machine come back in discovery
// and cut this deployment's installation off. One that began earlier does not
// count: the hub may learn only from this deployment that it is over.
func restartedInStep(o *Observed) bool {
	return o.Node.DeployStep.Name == names.StartAssistedInstall && o.Progress.CutOff.After(deploymentBegan(o))
}

// cutOffNote says what comes after such a restart.
func cutOffNote(o *Observed) view.Note {
	note := deployNote(o)
	note.WaitingFor = "the fresh live image to say why the installation was cut off"
	return note
}
