package meaning

import (
	"regexp"
	"strings"
)

// Rule says what messages are about. The first that matches counts.
type Rule struct {
	// Registry is the message registry's prefix, in any case; empty is any.
	Registry string
	// Keys are message keys of that registry. One may end in a star, for anything, or
	// in #, for digits. None is all.
	Keys []string
	// Origin matches the path of the resource, Types are event types and Severities
	// severities, for what no registry tells. Nil and none are all.
	Origin     *regexp.Regexp
	Types      []string
	Severities []Severity

	Kind Kind
	// Because says in words what such messages are.
	Because string
}

var (
	taskOrigin   = regexp.MustCompile(`(?i)/(TaskService|JobService|Jobs|Tasks|UpdateService)(/|$)`)
	logOrigin    = regexp.MustCompile(`(?i)/LogServices(/|$)`)
	partOrigin   = regexp.MustCompile(`(?i)/(Power|Thermal|PowerSubsystem|ThermalSubsystem|Sensors|Storage|Drives|Memory|Processors|Volumes)([/#]|$)`)
	systemOrigin = regexp.MustCompile(`(?i)^$|/Systems/[^/]+/?$`)
)

// Rules are all rules, in their order. docs/bmc-watch.md shows them.
var Rules = []Rule{
	{Registry: "TaskEvent", Kind: Task, Because: "a task started, went on or ended"},
	{Registry: "JobEvent", Kind: Task, Because: "a job started, went on or ended"},
	{Registry: "Update", Kind: Task, Because: "an update went on"},
	{Registry: "ResourceEvent", Keys: []string{"ResourcePowerStateChanged", "ResourcePoweringOn", "ResourcePoweringOff", "ResourcePoweredOn", "ResourcePoweredOff"}, Kind: Power, Because: "the power state changed"},
	{Registry: "ResourceEvent", Keys: []string{"ResourceStatusChanged*", "ResourceError*", "ResourceStateChanged"}, Kind: Health, Because: "a part's status changed"},
	{Registry: "ResourceEvent", Keys: []string{"TestMessage"}, Kind: Other, Because: "a test"},
	{Registry: "StorageDevice", Kind: Health, Because: "a drive, volume or controller"},
	{Registry: "Environmental", Kind: Health, Because: "fans and temperatures"},
	{Registry: "Power", Kind: Health, Because: "power supplies, and circuits"},
	{Registry: "SensorEvent", Kind: Health, Because: "a reading passed a threshold"},
	{Registry: "Platform", Kind: Health, Because: "an error of the platform"},
	{Registry: "Memory", Kind: Health, Because: "memory"},
	{Registry: "LogService", Kind: Log, Because: "a log"},
	{Registry: "HeartbeatEvent", Kind: Other, Because: "the service is alive"},
	{Registry: "iLOEvents", Keys: []string{"ServerPoweredOn", "ServerPoweredOff", "ServerPowerOnFailure", "ServerResetDetected"}, Kind: Power, Because: "HPE: switched on, off, or reset"},
	{Registry: "iLOEvents", Keys: []string{"ServerPost*", "ServerOperational"}, Kind: Boot, Because: "HPE: the firmware came to an end of its tests"},
	{Registry: "OpenBMC", Keys: []string{"DCPower*", "PowerButton*", "ResetButton*"}, Kind: Power, Because: "OpenBMC: switched on, off, or reset"},
	{Registry: "OpenBMC", Keys: []string{"BIOS*"}, Kind: Boot, Because: "OpenBMC: the firmware tells where it is"},
	{Registry: "OpenBMC", Keys: []string{"FirmwareUpdate*"}, Kind: Task, Because: "OpenBMC: an update went on"},
	{Registry: "iDRAC", Keys: []string{"SYS1000", "SYS1001", "SYS1002", "SYS1003"}, Kind: Power, Because: "Dell: switched on, off, or reset"},
	{Registry: "iDRAC", Keys: []string{"JCP#", "SUP#", "RED#"}, Kind: Task, Because: "Dell: jobs and updates"},
	{
		Registry: "iDRAC",
		Keys:     []string{"BAT#", "CPU#", "CTL#", "ENC#", "FAN#", "HWC#", "MEM#", "PCI#", "PDR#", "PSU#", "RDU#", "SSD#", "TMP#", "VDR#", "VLT#"},
		Kind:     Health, Because: "Dell: parts",
	},
	{Origin: taskOrigin, Kind: Task, Because: "any other message about a task, job or update"},
	{Origin: logOrigin, Kind: Log, Because: "any other message about a log"},
	{Origin: partOrigin, Kind: Health, Because: "any other message about a part"},
	{Origin: systemOrigin, Types: []string{"StatusChange"}, Kind: Power, Because: "any other change of a system's status"},
	{Severities: []Severity{Warning, Critical}, Kind: Health, Because: "any other message with this severity"},
	{Types: []string{"Alert"}, Kind: Log, Because: "any other alert"},
	{Kind: Other, Because: "the rest"},
}

// Of says what an event is about.
func Of(e Event) Kind {
	registry, key := split(e.MessageID)
	for i := range Rules {
		if Rules[i].matches(registry, key, e) {
			return Rules[i].Kind
		}
	}
	return Other
}

// Tells says whether an event is told to people: what is bad, and what shows that a
// part is well again. Tests are not.
func Tells(e Event) bool {
	return e.Severity != OK || Of(e) == Health
}

// split takes a MessageId apart: Registry.Major.Minor.Key, where vendors leave the
// versions or the registry out.
func split(id string) (registry, key string) {
	last := strings.LastIndexByte(id, '.')
	if last < 0 {
		return "", id
	}
	registry, _, _ = strings.Cut(id, ".")
	return registry, id[last+1:]
}

func (r *Rule) matches(registry, key string, e Event) bool {
	if r.Registry != "" && !r.of(registry, key) {
		return false
	}
	return (r.Origin == nil || r.Origin.MatchString(e.Origin)) &&
		(len(r.Types) == 0 || contains(r.Types, e.Type)) &&
		(len(r.Severities) == 0 || contains(r.Severities, e.Severity))
}

// of says whether a message belongs to the rule's registry and keys. Without its
// registry, as older iDRACs send it, a message is known by its key alone.
func (r *Rule) of(registry, key string) bool {
	if len(r.Keys) == 0 {
		return strings.EqualFold(registry, r.Registry)
	}
	if registry != "" && !strings.EqualFold(registry, r.Registry) {
		return false
	}
	for _, pattern := range r.Keys {
		if fits(pattern, key) {
			return true
		}
	}
	return false
}

func fits(pattern, key string) bool {
	end := len(pattern) - 1
	if pattern[end] != '*' && pattern[end] != '#' {
		return strings.EqualFold(key, pattern)
	}
	if len(key) < end || !strings.EqualFold(key[:end], pattern[:end]) {
		return false
	}
	rest := key[end:]
	return pattern[end] == '*' || rest != "" && strings.Trim(rest, "0123456789") == ""
}

func contains[S ~string](list []S, one S) bool {
	for _, s := range list {
		if strings.EqualFold(string(s), string(one)) {
			return true
		}
	}
	return false
}
