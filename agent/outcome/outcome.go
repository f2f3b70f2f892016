// Package outcome is how the agent ends: the reason file that a person and the
// deploy step read, the done marker that proves an installation, and the exit
// code. The order matters: whoever sees the process end finds the files.
package outcome

import (
	"fmt"
	"os"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
)

// InvocationEnv carries systemd's id of this run of the unit.
const InvocationEnv = "INVOCATION_ID"

// End says why the agent ends.
type End struct {
	// Exit is the exit code, one of exitcode's Agent constants.
	Exit int
	// Text is the reason in one sentence.
	Text string
	// Stage and Percent are where the installation was, empty and 0 before it.
	Stage   string
	Percent int
	// Installed is true for a finished installation, and only then the done
	// marker is written; Disk and ImageDigest describe what was installed.
	Installed         bool
	Disk, ImageDigest string
}

// Write records the end in the reason file, and, for a finished installation,
// in the done marker, which is written last: it is what counts.
func (e *End) Write(dir hostfile.Dir) error {
	boot, err := dir.BootID()
	if err != nil {
		return fmt.Errorf("boot id for the done marker: %w", err)
	}
	now := time.Now().UTC()
	reason := hostfile.Reason{BootID: boot, Stage: e.Stage, Percent: e.Percent, Exit: e.Exit, Text: e.Text, Time: now}
	if err := dir.Write(hostfile.ReasonFile, reason); err != nil {
		return fmt.Errorf("write the reason: %w", err)
	}
	if !e.Installed {
		return nil
	}
	marker := hostfile.Installed{
		BootID: boot, InvocationID: os.Getenv(InvocationEnv),
		Disk: e.Disk, ImageDigest: e.ImageDigest, Time: now,
	}
	var step hostfile.StepState
	if err := dir.Read(hostfile.StepFile, &step); err == nil && step.BootID == boot {
		marker.NodeUUID = step.NodeUUID
	}
	if err := dir.Write(hostfile.InstalledFile, marker); err != nil {
		return fmt.Errorf("write the done marker: %w", err)
	}
	return nil
}

// WriteReason is the program write-reason, the unit's ExecStopPost: it adds
// systemd's view of the end to the reason file. A reason of another boot, or
// none at all (the agent was killed), is replaced by one that says what systemd
// knows.
func WriteReason(dir hostfile.Dir, getenv func(string) string) error {
	boot, err := dir.BootID()
	if err != nil {
		return fmt.Errorf("boot id for the reason: %w", err)
	}
	var reason hostfile.Reason
	if err := dir.Read(hostfile.ReasonFile, &reason); err != nil || reason.BootID != boot {
		reason = hostfile.Reason{BootID: boot, Exit: -1, Text: "the agent ended without a last word"}
	}
	reason.ServiceResult = getenv("SERVICE_RESULT")
	reason.ExitCode = getenv("EXIT_CODE")
	reason.ExitStatus = getenv("EXIT_STATUS")
	if reason.Time.IsZero() {
		reason.Time = time.Now().UTC()
	}
	return dir.Write(hostfile.ReasonFile, reason)
}
