package simulator

import (
	"maps"
	"regexp"
	"strings"
	"time"
)

// node is one node of the database.
type node struct {
	id                     int // order of creation
	uuid, name             string
	driver                 string
	provision, targetProv  string
	power, targetPower     string
	maintenance            bool
	maintenanceReason      string
	fault, reservation     string
	health                 string
	lastError              string
	instanceUUID           string
	owner, conductorGroup  string
	created                time.Time
	updated, provUpdated   time.Time
	inspected              time.Time // when the last inspection ended
	automatedClean         *bool
	disablePowerOff        bool
	bootMode               string
	secureBoot             bool
	interfaces             map[string]string // "deploy_interface" → "custom-agent"
	deployInterface        string            // its default
	driverInfo             map[string]any
	instanceInfo           map[string]any
	properties             map[string]any
	extra                  map[string]any
	internal               map[string]any
	networkData            map[string]any
	raidConfig, targetRAID map[string]any
	deployStep, cleanStep  map[string]any
	serviceStep            map[string]any
	serviceRuns            bool // false for a step that was left behind
	description            string
	resourceClass          string

	ports     []*port        // in the order of their creation
	inventory map[string]any // nil before the first inspection
	history   []event
	media     media
	bios      []map[string]any
	firmware  []map[string]any
	subs      map[string]map[string]any

	ended     time.Time // when an operation ended by itself that nobody has asked about yet
	endedWhat string    // that operation
	epoch     int       // counts operations, so that a late timer of an ended one does nothing
	agentLost bool      // the ramdisk neither beats nor works
	stepEnds  bool      // a deferred abort waits for the step's end

	prev, next *node // neighbours in the order of change
	inOrder    bool
}

// media is what is in the virtual CD drive.
type media struct {
	image  string // address that the BMC was given
	source string // address that was asked for
}

// event is one entry of a node's history.
type event struct {
	uuid     string
	created  time.Time
	severity string
	kind     string
	text     string
}

// timeText is how Ironic writes times.
func timeText(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05.999999+00:00")
}

// orNull makes an empty text null.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// object makes an absent object an empty one.
func object(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// fields are all fields of a node in the API, by name.
var fields = map[string]func(*node) any{
	"uuid":                   func(n *node) any { return n.uuid },
	"name":                   func(n *node) any { return orNull(n.name) },
	"driver":                 func(n *node) any { return n.driver },
	"provision_state":        func(n *node) any { return n.provision },
	"target_provision_state": func(n *node) any { return orNull(n.targetProv) },
	"power_state":            func(n *node) any { return orNull(n.power) },
	"target_power_state":     func(n *node) any { return orNull(n.targetPower) },
	"maintenance":            func(n *node) any { return n.maintenance },
	"maintenance_reason":     func(n *node) any { return orNull(n.maintenanceReason) },
	"fault":                  func(n *node) any { return orNull(n.fault) },
	"reservation":            func(n *node) any { return orNull(n.reservation) },
	"last_error":             func(n *node) any { return orNull(n.lastError) },
	"instance_uuid":          func(n *node) any { return orNull(n.instanceUUID) },
	"owner":                  func(n *node) any { return orNull(n.owner) },
	"conductor":              func(*node) any { return conductor },
	"conductor_group":        func(n *node) any { return n.conductorGroup },
	"created_at":             func(n *node) any { return timeText(n.created) },
	"updated_at":             func(n *node) any { return timeText(n.updated) },
	"inspection_finished_at": func(n *node) any { return timeText(n.inspected) },
	"provision_updated_at":   func(n *node) any { return timeText(n.provUpdated) },
	"automated_clean":        func(n *node) any { return n.automatedClean },
	"disable_power_off":      func(n *node) any { return n.disablePowerOff },
	"health":                 func(n *node) any { return orNull(n.health) },
	"boot_mode":              func(n *node) any { return orNull(n.bootMode) },
	"secure_boot":            func(n *node) any { return n.secureBoot },
	"driver_info":            func(n *node) any { return object(n.driverInfo) },
	"instance_info":          func(n *node) any { return object(n.instanceInfo) },
	"properties":             func(n *node) any { return object(n.properties) },
	"extra":                  func(n *node) any { return object(n.extra) },
	"driver_internal_info":   func(n *node) any { return object(n.internal) },
	"network_data":           func(n *node) any { return object(n.networkData) },
	"raid_config":            func(n *node) any { return object(n.raidConfig) },
	"target_raid_config":     func(n *node) any { return object(n.targetRAID) },
	"deploy_step":            func(n *node) any { return object(n.deployStep) },
	"clean_step":             func(n *node) any { return object(n.cleanStep) },
	"service_step":           func(n *node) any { return object(n.serviceStep) },
	"description":            func(n *node) any { return orNull(n.description) },
	"resource_class":         func(n *node) any { return orNull(n.resourceClass) },
}

// interfaceFields are the hardware interfaces with their defaults.
var interfaceFields = map[string]string{
	"bios_interface": "no-bios", "boot_interface": "redfish-virtual-media", "deploy_interface": "custom-agent",
	"firmware_interface": "no-firmware", "inspect_interface": "agent", "management_interface": "redfish",
	"network_interface": "noop", "power_interface": "redfish", "raid_interface": "no-raid",
	"vendor_interface": "no-vendor", "console_interface": "no-console", "rescue_interface": "no-rescue",
	"storage_interface": "noop",
}

func init() {
	for name := range interfaceFields {
		fields[name] = func(n *node) any { return n.interfaces[name] }
	}
}

// versioned fields are shown from an API version on.
var versioned = map[string]int{"disable_power_off": 95, "health": 109}

// whole shows all fields of a node in an API version.
func (n *node) whole(minor int) map[string]any {
	m := make(map[string]any, len(fields))
	for name, get := range fields {
		if versioned[name] <= minor {
			m[name] = get(n)
		}
	}
	return m
}

// secretWords mark the keys whose values are shown masked.
var secretWords = []string{"password", "secret", "token", "configdrive", "passphrase", "private_key", "image_url"}

const maskedText = "******"

// secretInText finds secrets in texts, such as the token of a signed address: what
// follows is hidden up to the next space or quote.
var secretInText = regexp.MustCompile(`(?i)((?:password|token)[0-9]*\s*=\s*)[^\s'"]+`)

// masked returns a copy without secrets, as Ironic shows objects.
func masked(m map[string]any) map[string]any {
	copied := maps.Clone(object(m))
	for key, value := range copied {
		lower := strings.ToLower(key)
		for _, word := range secretWords {
			if strings.Contains(lower, word) {
				copied[key] = maskedText
			}
		}
		if copied[key] == maskedText {
			continue
		}
		switch value := value.(type) {
		case map[string]any:
			copied[key] = masked(value)
		case string:
			copied[key] = secretInText.ReplaceAllString(value, "${1}"+maskedText)
		}
	}
	return copied
}

// shown masks the secrets of a node's fields.
func shown(m map[string]any) map[string]any {
	for _, key := range []string{"driver_info", "instance_info", "driver_internal_info"} {
		if value, ok := m[key].(map[string]any); ok {
			m[key] = masked(value)
		}
	}
	return m
}

// view makes the read-only form for hooks and tests.
func (s *Server) view(n *node) Node {
	v := Node{
		UUID: n.uuid, Name: n.name, Driver: n.driver, ProvisionState: n.provision, TargetProvisionState: n.targetProv,
		PowerState: n.power, Reservation: n.reservation, LastError: n.lastError, Maintenance: n.maintenance,
		Fields: clone(n.whole(s.opts.MaxMinor)).(map[string]any),
	}
	for _, p := range s.portsOf(n.uuid) {
		v.Ports = append(v.Ports, p.address)
	}
	return v
}

// clone copies a JSON value deeply.
func clone(v any) any {
	switch x := v.(type) {
	case map[string]any:
		c := make(map[string]any, len(x))
		for k, item := range x {
			c[k] = clone(item)
		}
		return c
	case []any:
		c := make([]any, len(x))
		for i, item := range x {
			c[i] = clone(item)
		}
		return c
	}
	return v
}
