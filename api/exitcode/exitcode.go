// Package exitcode names the exit codes that Ironflow's host programs end with.
//
// The deploy-step program and the host agent talk to their callers by exit
// code: the IPA plugin reads the step's code, systemd (RestartPreventExitStatus)
// and the step read the agent's. One place holds them, so that the rendered
// unit, the programs and the documentation cannot drift apart.
package exitcode

// Exit codes of ironflow-step, read by the IPA plugin.
const (
	// StepDone means the step did its work; the last line carries the result.
	StepDone = 0
	// StepFailed means the step ran and failed; the last line carries the reason.
	StepFailed = 1
	// StepBadInput means the step's input could not be used; nothing was done.
	StepBadInput = 2
	// StepImageUnfit means that this live image cannot run the step (no unit, no gate, no coreos-installer).
	StepImageUnfit = 3
	// StepDeadline means that a deadline ran out; the reason says which one.
	StepDeadline = 4
	// StepCancelled means that somebody cancelled the step.
	StepCancelled = 5
)

// Exit codes of ironflow-agent, read by systemd and by ironflow-step.
const (
	// AgentInstalled is returned only after a finished installation.
	AgentInstalled = 0
	// AgentFailed means that the installation failed for good: a restart would not help.
	AgentFailed = 90
	// AgentCancelled means that the hub or a person cancelled the installation.
	AgentCancelled = 91
)

// Meaning is one row of the documented exit-code tables.
type Meaning struct {
	// Program is the program that ends with the code.
	Program string
	// Code is the process exit status.
	Code int
	// Text says what the code means, for people.
	Text string
}

// Meanings lists every reserved exit code; the documentation is tested against it.
func Meanings() []Meaning {
	return []Meaning{
		{"ironflow-step", StepDone, "done; the last line holds the result"},
		{"ironflow-step", StepFailed, "failed; the last line holds the reason"},
		{"ironflow-step", StepBadInput, "the input cannot be used; nothing was done"},
		{"ironflow-step", StepImageUnfit, "this live image cannot run the step"},
		{"ironflow-step", StepDeadline, "a deadline ran out; the reason says which"},
		{"ironflow-step", StepCancelled, "cancelled"},
		{"ironflow-agent", AgentInstalled, "installed"},
		{"ironflow-agent", AgentFailed, "failed for good; not restarted"},
		{"ironflow-agent", AgentCancelled, "cancelled; not restarted"},
	}
}
