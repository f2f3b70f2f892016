// Package hostfile is the contract between the programs of a live image: which
// files they share, who writes them, and what is in them.
//
// Configuration lies below /etc/ironflow and is rendered by
// imagecustomization; run-time state lies below /run/ironflow and is gone after
// a reboot. Every path is resolved below a root directory, which is "/" on a
// host and a folder of its own for a simulated machine. All state carries the
// boot id, so that a file that outlived its boot is never believed.
package hostfile

import (
	"os"
	"path/filepath"
	"strings"
)

// RootEnv is the environment variable that moves the root directory.
const RootEnv = "IRONFLOW_ROOT"

// Absolute paths as a host sees them; resolve them with [Dir.Path].
const (
	// ConfigDir holds what the live image brings along.
	ConfigDir = "/etc/ironflow"
	// HubCA is the PEM bundle that the agent trusts for the hub.
	HubCA = ConfigDir + "/hub-ca.crt"
	// IronicCA is the PEM bundle that IPA trusts for Ironic.
	IronicCA = ConfigDir + "/ironic-ca.crt"
	// AgentEnv is the agent unit's EnvironmentFile (mode 0600, holds the token).
	AgentEnv = ConfigDir + "/agent.env"
	// Deadlines holds the step's deadlines as JSON, see [StepDeadlines].
	Deadlines = ConfigDir + "/deadlines.json"

	// RunDir holds the run-time state of this boot.
	RunDir = "/run/ironflow"
	// Gate is the file without which agent.service does not start. Writer: step.
	Gate = RunDir + "/agent.gate"
	// StepFile tells which step runs. Writer: step.
	StepFile = RunDir + "/step.json"
	// StopFile asks the step to cancel. Writer: whoever cancels on the host.
	StopFile = RunDir + "/stop"
	// ReasonFile is the agent's last word. Writers: agent, and the unit's ExecStopPost.
	ReasonFile = RunDir + "/reason.json"
	// StatusFile is what the agent is at, see [AgentStatus]. Writer: agent.
	StatusFile = RunDir + "/status.json"
	// HostToken is the host's own token at the hub, with the boot that it is of, see
	// [OwnToken]. Writer: agent.
	HostToken = RunDir + "/host-token.json"
	// InstalledFile is the done marker. Writer: agent, before it ends.
	InstalledFile = RunDir + "/installed.json"
	// NmstateFolder has what NmstateUnit sets up, and lists of the cards that it is for, with
	// this ending.
	NmstateFolder = "/etc/ironflow/nmstate"
	CardsSuffix   = ".cards"
	// NmstateIssue says on the console why NmstateUnit has not set up the network, behind
	// NmstateTrouble; it is not there when it has.
	NmstateIssue   = "/run/issue.d/70-ironflow-network.issue"
	NmstateTrouble = "The network is not set up: "

	// IPAConfig is where ironic-python-agent reads its configuration.
	IPAConfig = "/etc/ironic-python-agent.conf"
	// UnitDir is where systemd units of the live image lie.
	UnitDir = "/etc/systemd/system"
	// AgentUnit, IPAUnit and NmstateUnit are names that other programs rely on.
	AgentUnit   = "agent.service"
	IPAUnit     = "ironic-agent.service"
	NmstateUnit = "ironflow-nmstate.service"
	// AgentBinary and StepBinary are where the live image keeps our programs.
	AgentBinary = "/usr/local/bin/ironflow-agent"
	StepBinary  = "/usr/local/bin/ironflow-step"

	bootID = "/proc/sys/kernel/random/boot_id"
)

// Dir resolves the shared paths below a root directory. The zero value is "/".
type Dir struct {
	// Root is the directory that plays "/".
	Root string
}

// FromEnv returns the Dir that [RootEnv] names, or "/".
func FromEnv() Dir { return Dir{Root: os.Getenv(RootEnv)} }

// Path returns where the absolute host path lies below the root. A path that
// already lies below the root is returned as it is.
func (d Dir) Path(abs string) string {
	if d.Root == "" || d.Root == "/" {
		return abs
	}
	if abs == d.Root || strings.HasPrefix(abs, strings.TrimSuffix(d.Root, "/")+"/") {
		return abs
	}
	return filepath.Join(d.Root, abs)
}

// BootID returns the kernel's id of this boot, trimmed.
func (d Dir) BootID() (string, error) {
	raw, err := os.ReadFile(d.Path(bootID))
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(raw)), nil
}

// BootIDPath is the host path of the boot id, for whoever simulates a kernel.
func BootIDPath() string { return bootID }
