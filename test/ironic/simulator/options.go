package simulator

import "time"

// Options configure a Server. The zero value is an Ironic without delays,
// authentication or automated cleaning.
type Options struct {
	Delays Delays
	// AutomatedClean is used for nodes that do not say themselves.
	AutomatedClean bool
	// Username and Password demand HTTP basic authentication, unless empty.
	Username, Password string
	// MaxMinor is the newest API version offered, 1.n; 115 when zero.
	MaxMinor int
	// MaxLimit cuts the length of lists silently; 1000 when zero.
	MaxLimit int
	// RamdiskSteps are the in-band deploy steps that the ramdisk lists; those with
	// a priority run without being asked for. The interface is "deploy".
	RamdiskSteps []Step
	// Heartbeat is the pause between a waiting ramdisk's heartbeats; zero: only
	// one at its start.
	Heartbeat time.Duration
	// CallbackTimeout fails a deployment whose ramdisk is not heard of; 30 min when zero.
	CallbackTimeout time.Duration
	// Behave decides how an operation goes; nil: every one succeeds after its delay.
	Behave func(Operation) Outcome
	// BIOS and Firmware are what each new node's machine reports, until SetBIOS and SetFirmware.
	BIOS, Firmware []map[string]any
	// Redirect is where an image's address leads, which a deployment by the interface
	// "direct" writes over the address; nil, or an empty text: nowhere else.
	Redirect func(address string) string
	// DeployInterface is the default deploy interface; "custom-agent" when empty.
	DeployInterface string
	// DeployInterfaces are those that are enabled; all that Ironflow uses when empty.
	DeployInterfaces []string
	// Inventory makes the result of an inspection; nil: a plausible machine.
	Inventory func(Node) map[string]any
}

// Delays are how long the phases of operations take.
type Delays struct {
	Verify  time.Duration // manage of a new node
	Inspect time.Duration // inspect wait
	Clean   time.Duration // clean wait, for all steps together
	Deploy  time.Duration // wait call-back, for all steps together
	Service time.Duration // service wait, for all steps together
	Power   time.Duration // each power action
	Work    time.Duration // each phase in which the conductor holds the lock
}

// Operation is one thing that is about to be done to a node.
type Operation struct {
	Name string // "verify", "inspect", "clean", "deploy", "adopt", "undeploy", "service", "power", "media", "validate" (of what a deployment needs)
	Step string // of clean, deploy and service: the running step, "interface.step"; of media: "attach URL" or "detach"
	Node Node
}

// Outcome says how an Operation goes.
type Outcome struct {
	Error string        // fails with this text, unless empty
	Delay time.Duration // replaces the configured delay, unless zero
}

// Step is a deploy, clean or service step.
type Step struct {
	Interface string         `json:"interface"`
	Step      string         `json:"step"`
	Priority  int            `json:"priority"`
	Args      map[string]any `json:"args,omitempty"`
}

// Node is a read-only view of a node for the hooks and for tests.
type Node struct {
	UUID, Name, Driver     string
	ProvisionState         string
	TargetProvisionState   string
	PowerState             string
	Reservation, LastError string
	Maintenance            bool
	Ports                  []string // MAC addresses
	// Fields is the whole node as the API shows it, secrets unmasked.
	Fields map[string]any
}

const (
	defaultMaxMinor        = 115
	defaultMaxLimit        = 1000
	defaultCallbackTimeout = 30 * time.Minute
	conductor              = "simulator"
)

func (o *Options) complete() {
	if o.MaxMinor == 0 {
		o.MaxMinor = defaultMaxMinor
	}
	if o.MaxLimit == 0 {
		o.MaxLimit = defaultMaxLimit
	}
	if o.CallbackTimeout == 0 {
		o.CallbackTimeout = defaultCallbackTimeout
	}
	if o.DeployInterface == "" {
		o.DeployInterface = interfaceFields["deploy_interface"]
	}
	if len(o.DeployInterfaces) == 0 {
		o.DeployInterfaces = []string{"custom-agent", "direct", "ramdisk"}
	}
	if o.Inventory == nil {
		o.Inventory = plausibleInventory
	}
}
