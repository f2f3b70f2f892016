package hostfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxStateFile bounds what is read from a state file: a host is not trusted to
// keep its files small. With 15,000 paths of disks, which there are, of which the node
// keeps all, the step file has 2 MiB.
const maxStateFile = 8 << 20

// StepState is the content of [StepFile].
type StepState struct {
	// BootID is the boot in which the step started.
	BootID string `json:"boot_id"`
	// NodeUUID is Ironic's id of this machine.
	NodeUUID string `json:"node_uuid"`
	// Step is the deploy step's name.
	Step string `json:"step"`
	// StartedAt is when the step opened the gate.
	StartedAt time.Time `json:"started_at"`
	// InvocationID is systemd's id of the unit's run, 32 hex digits, empty before the start.
	InvocationID string `json:"invocation_id,omitempty"`
	// Deadlines are those that the step was started with.
	Deadlines StepDeadlines `json:"deadlines,omitzero"`
	// Clocks and Seen let a program that takes the step over go on where the one
	// before it was.
	Clocks StepClocks `json:"clocks,omitzero"`
	Seen   StepSeen   `json:"seen,omitzero"`
	// Kept are the disks and arrays that the node says nobody may touch, with the reason,
	// by their paths.
	Kept map[string]string `json:"kept,omitempty"`
}

// StepClocks are what the step's deadlines count from. Moments are milliseconds
// since the boot (CLOCK_BOOTTIME), because the clock of the day may be set in mid
// step; zero means not yet.
type StepClocks struct {
	Begun        int64   `json:"begun_ms,omitempty"`
	Starting     int64   `json:"starting_ms,omitempty"`
	Sign         int64   `json:"sign_ms,omitempty"`
	Installing   int64   `json:"installing_ms,omitempty"`
	Stage        int64   `json:"stage_ms,omitempty"`
	Marked       int64   `json:"marked_ms,omitempty"`
	Deactivating int64   `json:"deactivating_ms,omitempty"`
	Restarts     []int64 `json:"restarts_ms,omitempty"`
	// Excluded is a duration: the time that does not count towards the total.
	Excluded int64 `json:"excluded_ms,omitempty"`
}

// StepSeen is the unit as the step has seen it last, with systemd's words: only
// what differs from it is news.
type StepSeen struct {
	ActiveState string `json:"active_state,omitempty"`
	SubState    string `json:"sub_state,omitempty"`
	StatusText  string `json:"status_text,omitempty"`
	NRestarts   int    `json:"n_restarts,omitempty"`
	// Status is what the text meant.
	Status Status `json:"status,omitzero"`
}

// AgentStatus is the content of [StatusFile]: the status that the agent shows in
// its unit's StatusText, for whoever decides on it. The sentence is for people.
type AgentStatus struct {
	// BootID and InvocationID tie the status to one run of the unit.
	BootID       string `json:"boot_id"`
	InvocationID string `json:"invocation_id"`
	// Status is what the agent is at.
	Status Status `json:"status"`
}

// Reason is the content of [ReasonFile]: the agent's last word, completed by the
// unit's ExecStopPost with systemd's view.
type Reason struct {
	// BootID is the boot in which it was written.
	BootID string `json:"boot_id,omitempty"`
	// Stage is the installation stage, empty before the installation.
	Stage string `json:"stage,omitempty"`
	// Percent is the progress within the stage, 0 to 100.
	Percent int `json:"percent,omitempty"`
	// Exit is the exit code that the agent is about to end with.
	Exit int `json:"exit"`
	// Text says in one sentence what happened.
	Text string `json:"text,omitempty"`
	// ServiceResult, ExitCode and ExitStatus are systemd's variables of the same meaning.
	ServiceResult string `json:"service_result,omitempty"`
	ExitCode      string `json:"exit_code,omitempty"`
	ExitStatus    string `json:"exit_status,omitempty"`
	// Time is when it was written.
	Time time.Time `json:"time,omitzero"`
}

// Installed is the content of [InstalledFile], the done marker.
type Installed struct {
	// BootID and InvocationID tie the marker to one run of the unit.
	BootID       string `json:"boot_id"`
	InvocationID string `json:"invocation_id"`
	// NodeUUID is Ironic's id of this machine, from the step file.
	NodeUUID string `json:"node_uuid,omitempty"`
	// Disk is the device that was written.
	Disk string `json:"disk,omitempty"`
	// ImageDigest names what was written, empty when unknown.
	ImageDigest string `json:"image_digest,omitempty"`
	// Time is when the installation was done.
	Time time.Time `json:"time"`
}

// StepDeadlines is the content of [Deadlines]. Zero means the program's default.
type StepDeadlines struct {
	// StartSeconds bounds gate open to agent READY.
	StartSeconds int `json:"start_s,omitempty"`
	// IdleSeconds bounds the time without a sign of the agent.
	IdleSeconds int `json:"idle_s,omitempty"`
	// TotalSeconds bounds the installation, from the install step to the done marker.
	TotalSeconds int `json:"total_s,omitempty"`
	// StageSeconds bounds each stage of the installation that does not wait for other machines.
	StageSeconds int `json:"stage_s,omitempty"`
}

// ErrNoState is returned when a state file does not exist.
var ErrNoState = errors.New("no state file")

// Read decodes the JSON file at the absolute host path into v. A missing file
// is [ErrNoState]; a broken one is an error that names the file.
func (d Dir) Read(abs string, v any) error {
	f, err := os.Open(d.Path(abs))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", abs, ErrNoState)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxStateFile))
	if err != nil {
		return fmt.Errorf("read %s: %w", abs, err)
	}
	if err := json.Unmarshal(raw, v); err != nil {
		return fmt.Errorf("%s is not valid JSON: %w", abs, err)
	}
	return nil
}

// Write replaces the JSON file at the absolute host path at once: a reader sees
// the old or the new content, never a part. What [Dir.Read] would cut is an error. The
// file is private to root.
func (d Dir) Write(abs string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", abs, err)
	}
	if len(raw) >= maxStateFile {
		return fmt.Errorf("%s would have %d bytes; it may have %d MiB", abs, len(raw), maxStateFile>>20)
	}
	path := d.Path(abs)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(append(raw, '\n')); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := errors.Join(tmp.Sync(), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
