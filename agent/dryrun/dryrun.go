// Package dryrun makes an agent pretend: the hardware, the time that stages
// take and what goes wrong come from a scenario file, and the identity can be
// forced, so that many agents run on one machine. Everything that talks to the
// hub or to systemd is the real code. Its main type is [Settings].
package dryrun

import (
	"os"
	"strconv"

	"github.com/ironflow/ironflow/agent/scenario"
)

// Settings of a dry run; each has a flag and a DRY_ variable as its default.
type Settings struct {
	// Enabled switches the dry run on (--dry-run, DRY_ENABLE).
	Enabled bool
	// HostID is registered instead of the computed id (--force-id, DRY_HOST_ID).
	HostID string
	// MAC, Hostname and IPv4 (CIDR) replace those of the first interface and the
	// host (--force-mac, --force-hostname, --forced-ipv4).
	MAC, Hostname, IPv4 string
	// RebootMarker is created at the end; if it exists, the agent ends at once
	// (--fake-reboot-marker-path, DRY_FAKE_REBOOT_MARKER_PATH).
	RebootMarker string
	// Scenario is the scenario file's path (--dry-scenario, DRY_SCENARIO).
	Scenario string
}

// Environment variables of the dry run.
const (
	EnableEnv   = "DRY_ENABLE"
	HostIDEnv   = "DRY_HOST_ID"
	MACEnv      = "DRY_FORCED_MAC_ADDRESS"
	HostnameEnv = "DRY_FORCED_HOSTNAME"
	IPv4Env     = "DRY_FORCED_HOST_IPV4"
	MarkerEnv   = "DRY_FAKE_REBOOT_MARKER_PATH"
	ScenarioEnv = "DRY_SCENARIO"
)

// FromEnv returns the settings of the environment.
func FromEnv() Settings {
	enabled, _ := strconv.ParseBool(os.Getenv(EnableEnv))
	return Settings{
		Enabled: enabled, HostID: os.Getenv(HostIDEnv),
		MAC: os.Getenv(MACEnv), Hostname: os.Getenv(HostnameEnv), IPv4: os.Getenv(IPv4Env),
		RebootMarker: os.Getenv(MarkerEnv), Scenario: os.Getenv(ScenarioEnv),
	}
}

// Machine loads the scenario; nil without an error when the dry run has none
// and keeps the real hardware.
func (s Settings) Machine() (*scenario.Scenario, error) {
	if !s.Enabled || s.Scenario == "" {
		return nil, nil
	}
	return scenario.Load(s.Scenario)
}

// Faults returns the counted faults of the machine; none without a scenario.
func (s Settings) Faults(machine *scenario.Scenario) scenario.Faults {
	if machine == nil {
		return scenario.Faults{}
	}
	return scenario.FaultsOf(s.Scenario, machine)
}
