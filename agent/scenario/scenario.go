// Package scenario is the one schema that tells what a pretended machine is and
// how it behaves: its hardware, how long each installation stage takes, and
// what goes wrong.
//
// A simulated machine reads it for the BMC's and IPA's side, the agent in dry
// run reads it for the inventory, the stages and the faults, and tests of the
// deploy step start agents from it. Nothing in it is an answer: it describes
// hardware and time, the programs do the talking. Scenario files are YAML and
// live in test/scenario.
package scenario

import (
	"fmt"
	"os"
	"time"

	"sigs.k8s.io/yaml"
)

// Scenario describes one machine.
type Scenario struct {
	// Name is the machine's name, used in logs only.
	Name string `json:"name"`
	// Hostname is what the kernel reports; empty means Name.
	Hostname string `json:"hostname,omitempty"`
	// HostID is the id that the agent registers with (UUID). Empty: made from the hardware as on a real host.
	HostID string `json:"hostID,omitempty"`
	// Hardware is what inspection and the inventory find.
	Hardware Hardware `json:"hardware"`
	// Install tells how an installation goes.
	Install Install `json:"install"`
	// Timing tells how long the machine itself takes.
	Timing Timing `json:"timing"`
	// Faults are what goes wrong, each at most Times times.
	Faults []Fault `json:"faults,omitempty"`
}

// Hardware is the machine's hardware.
type Hardware struct {
	System System `json:"system"`
	CPU    CPU    `json:"cpu"`
	// MemoryMiB is the installed memory.
	MemoryMiB int64 `json:"memoryMiB"`
	// BootMode is uefi (default) or bios.
	BootMode string `json:"bootMode,omitempty"`
	NICs     []NIC  `json:"nics"`
	Disks    []Disk `json:"disks"`
}

// System is the system's manufacturer data.
type System struct {
	Manufacturer string `json:"manufacturer"`
	Product      string `json:"product"`
	Serial       string `json:"serial"`
	// BoardSerial is the board's serial; the host id is made from it. Empty means Serial.
	BoardSerial string `json:"boardSerial,omitempty"`
	// UUID is the SMBIOS product UUID.
	UUID string `json:"uuid,omitempty"`
}

// CPU describes all processors together.
type CPU struct {
	// Architecture is the uname name: x86_64, aarch64.
	Architecture string   `json:"architecture"`
	Model        string   `json:"model"`
	Count        int      `json:"count"`
	MHz          float64  `json:"mhz"`
	Flags        []string `json:"flags,omitempty"`
}

// NIC is one network interface.
type NIC struct {
	Name string `json:"name"`
	MAC  string `json:"mac"`
	// IPv4 and IPv6 are addresses in CIDR form.
	IPv4      []string `json:"ipv4,omitempty"`
	IPv6      []string `json:"ipv6,omitempty"`
	SpeedMbps int      `json:"speedMbps,omitempty"`
	MTU       int      `json:"mtu,omitempty"`
	// Carrier is false when no cable is plugged in; default true.
	Carrier *bool `json:"carrier,omitempty"`
	// Gateway gives the NIC a default route.
	Gateway string `json:"gateway,omitempty"`
	// Vendor and Product are PCI hex ids, e.g. 0x8086.
	Vendor  string `json:"vendor,omitempty"`
	Product string `json:"product,omitempty"`
}

// Disk is one disk.
type Disk struct {
	// Name is the kernel name, e.g. sda, nvme0n1.
	Name string `json:"name"`
	// SizeGiB is the size in GiB.
	SizeGiB int64 `json:"sizeGiB"`
	// Type is HDD, SSD or NVME.
	Type   string `json:"type"`
	Model  string `json:"model,omitempty"`
	Vendor string `json:"vendor,omitempty"`
	Serial string `json:"serial,omitempty"`
	WWN    string `json:"wwn,omitempty"`
	HCTL   string `json:"hctl,omitempty"`
	// ByPath is the name below /dev/disk/by-path.
	ByPath string `json:"byPath,omitempty"`
}

// Install tells how the agent's dry-run installer behaves.
type Install struct {
	// Stages overrides the duration of single stages by their protocol name, e.g. "Writing image to disk": 4s.
	Stages map[string]Duration `json:"stages,omitempty"`
	// DefaultStage is the duration of a stage that Stages does not name; default 200ms.
	DefaultStage Duration `json:"defaultStage"`
	// Disk is the kernel name of the disk expected to be written; empty means the one that the hub asks for.
	Disk string `json:"disk,omitempty"`
}

// Timing is how long the machine takes outside of the installation.
type Timing struct {
	// POST is from power on to the first read of the boot medium.
	POST Duration `json:"post"`
	// Boot is from the read image to the start of IPA.
	Boot Duration `json:"boot"`
	// DiskBoot is from power on to the installed system.
	DiskBoot Duration `json:"diskBoot"`
	// ReadMiBps limits how fast the BMC reads the medium, MiB per second; zero means unlimited.
	ReadMiBps float64 `json:"readMiBps,omitempty"`
	// CleanStep is how long each cleaning step takes.
	CleanStep Duration `json:"cleanStep"`
}

// FaultKind names what goes wrong.
type FaultKind string

// The kinds of faults.
const (
	// FaultNoBoot: the BMC powers on, but the machine never boots its medium.
	FaultNoBoot FaultKind = "noboot"
	// FaultTruncatedRead: the BMC sees the end of the image too early and the boot fails.
	FaultTruncatedRead FaultKind = "truncated-read"
	// FaultAgentDies: the agent's process dies by a signal at the stage (or after registration when Stage is empty).
	FaultAgentDies FaultKind = "agent-dies"
	// FaultAgentExits: the agent's process ends with Code at the stage, without a last word.
	FaultAgentExits FaultKind = "agent-exits"
	// FaultAgentHangs: the agent stops working at the stage and does not hear signals any more.
	FaultAgentHangs FaultKind = "agent-hangs"
	// FaultAgentStatus: the agent sends systemd the status Text as it is, or Count texts with a number behind it.
	FaultAgentStatus FaultKind = "agent-status"
	// FaultInstall: the installation fails for good at the stage, with Text as the reason.
	FaultInstall FaultKind = "install"
	// FaultCleanStep: a cleaning step fails with Text.
	FaultCleanStep FaultKind = "clean-step"
	// FaultRestart: the machine restarts by itself at the stage.
	FaultRestart FaultKind = "restart"
)

// StageMarked is the moment right after the agent has written its done marker, as
// the stage of a fault.
const StageMarked = "done marker"

// Fault is one thing that goes wrong.
type Fault struct {
	Kind FaultKind `json:"kind"`
	// Stage is the installation stage at which it happens, by protocol name; faults of the agent know "done marker" too, right after it was written.
	Stage string `json:"stage,omitempty"`
	// Text is the reason that the machine gives, or the status of agent-status, where \xff and the like stand for single bytes.
	Text string `json:"text,omitempty"`
	// Code is the exit status of agent-exits.
	Code int `json:"code,omitempty"`
	// Count is how many statuses agent-status sends; zero means one without a number.
	Count int `json:"count,omitempty"`
	// Times is how often it happens; zero means once. Occurrences are counted in a file next to the scenario, so that a restarted process remembers.
	Times int `json:"times,omitempty"`
}

// Duration is a time.Duration that reads "1m30s" in YAML.
type Duration struct{ time.Duration }

// UnmarshalJSON accepts Go duration text.
func (d *Duration) UnmarshalJSON(raw []byte) error {
	if len(raw) < 2 || raw[0] != '"' {
		return fmt.Errorf("duration %s: want text such as \"1m30s\"", raw)
	}
	parsed, err := time.ParseDuration(string(raw[1 : len(raw)-1]))
	if err != nil {
		return err
	}
	d.Duration = parsed
	return nil
}

// MarshalJSON writes Go duration text.
func (d Duration) MarshalJSON() ([]byte, error) { return []byte(`"` + d.String() + `"`), nil }

// IsZero reports whether no duration is set.
func (d Duration) IsZero() bool { return d.Duration == 0 }

// Load reads and checks the scenario file.
func Load(path string) (*Scenario, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("scenario: %w", err)
	}
	var s Scenario
	if err := yaml.UnmarshalStrict(raw, &s); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", path, err)
	}
	if err := s.Validate(); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", path, err)
	}
	return &s, nil
}

// Save writes the scenario file.
func (s *Scenario) Save(path string) error {
	raw, err := yaml.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(path, raw, 0o600)
}
