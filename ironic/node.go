package ironic

import (
	"encoding/json"
	"slices"
	"time"
)

// Masked is what Ironic shows in place of a secret value of driver_info or
// instance_info.
const Masked = "******"

// FaultPower is the fault of a node whose BMC Ironic does not reach any more. It puts the
// node into maintenance with it, and takes both back when the BMC answers again.
const FaultPower = "power failure"

// Node is a snapshot of one Ironic node: plain values, no client types. Times
// are UTC and zero where Ironic has null.
type Node struct {
	Row // what the watch keeps as well

	MaintenanceReason string

	CreatedAt time.Time
	UpdatedAt time.Time
	// InspectionFinishedAt is when the last inspection ended.
	InspectionFinishedAt time.Time

	InstanceUUID   string
	Driver         string
	Owner          string
	Conductor      string
	ConductorGroup string

	DriverInfo         map[string]any // secrets read back as Masked
	InstanceInfo       map[string]any
	Properties         map[string]any
	Extra              map[string]any
	DriverInternalInfo map[string]any
	NetworkData        map[string]any
	RAIDConfig         map[string]any
	TargetRAIDConfig   map[string]any

	CleanStep   Step
	ServiceStep Step
	Interfaces  Interfaces

	AutomatedClean  *bool // nil: as configured in Ironic
	DisablePowerOff bool
	BootMode        string // "uefi", "bios" or empty: as last seen on the machine
	SecureBoot      *bool  // as last seen on the machine
}

// Step is one deploy, clean or service step. The zero Step means that none runs.
type Step struct {
	Interface string         `json:"interface,omitempty"`
	Name      string         `json:"step,omitempty"`
	Args      map[string]any `json:"args,omitempty"`
	Priority  *int           `json:"priority,omitempty"` // deploy steps only: the higher runs first, 0 not at all
}

// IsZero reports whether no step is named.
func (s Step) IsZero() bool { return s.Name == "" }

// String returns "interface.step", or an empty text for no step.
func (s Step) String() string {
	if s.IsZero() {
		return ""
	}
	return s.Interface + "." + s.Name
}

// Interfaces names the hardware interfaces of a node. An empty field means
// Ironic's default in an Enrolment and "leave as it is" in a Desired.
type Interfaces struct {
	BIOS       string `json:"bios_interface,omitempty"`
	Boot       string `json:"boot_interface,omitempty"`
	Deploy     string `json:"deploy_interface,omitempty"`
	Firmware   string `json:"firmware_interface,omitempty"`
	Inspect    string `json:"inspect_interface,omitempty"`
	Management string `json:"management_interface,omitempty"`
	Network    string `json:"network_interface,omitempty"`
	Power      string `json:"power_interface,omitempty"`
	RAID       string `json:"raid_interface,omitempty"`
	Vendor     string `json:"vendor_interface,omitempty"`
}

// AgentInfo is what the node's driver_internal_info says about the ramdisk
// that runs, or last ran, on the machine.
type AgentInfo struct {
	URL             string    // callback URL; empty before the first heartbeat of this boot
	LastHeartbeat   time.Time // by Ironic's clock; compare it with other values of itself only
	Version         string
	Status          string // "start", "end", "error" or empty
	StatusMessage   string // free text, survives its deployment: it carries the deployment's id
	DeploySteps     []Step // the whole list of the running deployment
	DeployStepIndex int    // index of the running step in DeploySteps, -1 when none
}

// wireNode is the JSON of a node as Ironic sends it.
type wireNode struct {
	wireRow
	MaintenanceReason    string         `json:"maintenance_reason"`
	CreatedAt            time.Time      `json:"created_at"`
	UpdatedAt            time.Time      `json:"updated_at"`
	InspectionFinishedAt time.Time      `json:"inspection_finished_at"`
	InstanceUUID         string         `json:"instance_uuid"`
	Driver               string         `json:"driver"`
	Owner                string         `json:"owner"`
	Conductor            string         `json:"conductor"`
	ConductorGroup       string         `json:"conductor_group"`
	DriverInfo           map[string]any `json:"driver_info"`
	InstanceInfo         map[string]any `json:"instance_info"`
	Properties           map[string]any `json:"properties"`
	Extra                map[string]any `json:"extra"`
	NetworkData          map[string]any `json:"network_data"`
	RAIDConfig           map[string]any `json:"raid_config"`
	TargetRAIDConfig     map[string]any `json:"target_raid_config"`
	CleanStep            Step           `json:"clean_step"`
	ServiceStep          Step           `json:"service_step"`
	AutomatedClean       *bool          `json:"automated_clean"`
	DisablePowerOff      bool           `json:"disable_power_off"`
	BootMode             string         `json:"boot_mode"`
	SecureBoot           *bool          `json:"secure_boot"`
	Interfaces
}

// node turns the wire form into a snapshot.
func (w *wireNode) node() *Node {
	row := w.row()
	row.DeployStep, row.Agent, row.Wish = w.DeployStep, agentInfo(w.DriverInternalInfo), WishDigest(w.Extra[KeyWish])
	row.Credentials, _ = w.Extra[KeyCredentials].(string)
	row.Machine, _ = w.Extra[KeyMachine].(string)
	row.Told, _ = w.Extra[KeyTold].(string)
	return &Node{
		Row: row, MaintenanceReason: Redact(w.MaintenanceReason),
		CreatedAt: w.CreatedAt, UpdatedAt: w.UpdatedAt, InspectionFinishedAt: w.InspectionFinishedAt,
		InstanceUUID: w.InstanceUUID, Driver: w.Driver, Owner: w.Owner,
		Conductor: w.Conductor, ConductorGroup: w.ConductorGroup,
		DriverInfo: w.DriverInfo, InstanceInfo: w.InstanceInfo, Properties: w.Properties, Extra: w.Extra,
		DriverInternalInfo: w.DriverInternalInfo, NetworkData: w.NetworkData,
		RAIDConfig: w.RAIDConfig, TargetRAIDConfig: w.TargetRAIDConfig,
		CleanStep: w.CleanStep, ServiceStep: w.ServiceStep,
		Interfaces: w.Interfaces, AutomatedClean: w.AutomatedClean, DisablePowerOff: w.DisablePowerOff,
		BootMode: w.BootMode, SecureBoot: w.SecureBoot,
	}
}

// agentInfo reads the ramdisk's part of driver_internal_info. Missing or
// oddly typed values are left zero: they are hints, never the truth.
func agentInfo(info map[string]any) AgentInfo {
	text := func(key string) string { s, _ := info[key].(string); return s }
	a := AgentInfo{
		URL:             text("agent_url"),
		LastHeartbeat:   ironicTime(text("agent_last_heartbeat")),
		Version:         text("agent_version"),
		Status:          text("agent_status"),
		StatusMessage:   Redact(text("agent_status_message")),
		DeployStepIndex: -1,
	}
	if i, ok := number(info["deploy_step_index"]); ok {
		a.DeployStepIndex = int(i)
	}
	steps, _ := info["deploy_steps"].([]any)
	for _, raw := range steps {
		a.DeploySteps = append(a.DeploySteps, stepOf(raw))
	}
	return a
}

func stepOf(raw any) Step {
	m, _ := raw.(map[string]any)
	s := Step{}
	s.Interface, _ = m["interface"].(string)
	s.Name, _ = m["step"].(string)
	s.Args, _ = m["args"].(map[string]any)
	if p, ok := number(m["priority"]); ok {
		i := int(p)
		s.Priority = &i
	}
	return s
}

// number reads a JSON number in either of the two forms that decoders give it.
func number(v any) (float64, bool) {
	switch n := v.(type) {
	case json.Number:
		f, err := n.Float64()
		return f, err == nil
	case float64:
		return n, true
	case int:
		return float64(n), true
	}
	return 0, false
}

// timeLayouts are the forms in which Ironic writes times inside free-form
// fields: without a zone (UTC is meant) and, in newer releases, with one.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999"}

func ironicTime(s string) time.Time {
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// equal compares two agent infos by what a watcher wants to hear about.
func (a AgentInfo) equal(b AgentInfo) bool {
	return a.URL == b.URL && a.Version == b.Version && a.Status == b.Status &&
		a.StatusMessage == b.StatusMessage && a.DeployStepIndex == b.DeployStepIndex &&
		slices.EqualFunc(a.DeploySteps, b.DeploySteps, func(x, y Step) bool { return x.String() == y.String() })
}
