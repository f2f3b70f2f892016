package trigger

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/names"
)

// Facts are what triggers are read from.
type Facts struct {
	// Host is the resource with its spec, metadata and errors.
	Host *metal3.BareMetalHost
	// Detaching means that it is a detachment that failed.
	Detaching bool
	// Credentials is the digest of what the BMC's Secret holds for a BMC; empty for none.
	Credentials string
	// Secrets are digests of the content of the other Secrets that the host refers to, by name.
	Secrets map[string]string
	// Firmware is what is wished for the machine's firmware, as values that JSON can tell apart.
	Firmware []any
}

// Trigger is one thing that somebody may change so that the next attempt may succeed.
type Trigger struct {
	// Name is what the record and the documentation call it.
	Name string
	// Means says what counts, for the documentation.
	Means string
	// Of reads the value: text without spaces, empty for nothing.
	Of func(Facts) string
	// Request says that only what is there counts, not that it goes: it is taken away when
	// it has been dealt with.
	Request bool
	// Not lists the errors after which it is no reason: it steers a machine, and is no part
	// of what failed.
	Not []metal3.ErrorType
}

// deployment is what failed where no annotation that steers a machine counts.
var deployment = []metal3.ErrorType{metal3.ProvisioningError}

// unready are the errors of a machine on which nothing runs that could be rebooted: what
// asks for that is dropped.
var unready = []metal3.ErrorType{metal3.ProvisioningError, metal3.InspectionError, metal3.PreparationError}

// Inspect is the name of the trigger that asks for an inspection.
const Inspect = "inspect"

// Table is all that counts.
var Table = []Trigger{
	{
		Name: "spec", Means: "any field of the host's spec (`metadata.generation`)",
		Of: func(f Facts) string { return strconv.FormatInt(f.Host.Generation, 10) },
	},
	{
		Name: "deletion", Means: "the host is deleted", Request: true,
		Of: func(f Facts) string { return present(f.Host.DeletionTimestamp != nil) },
	},
	{Name: "retry", Means: "another value of `" + names.Retry + "`", Request: true, Of: annotation(names.Retry)},
	{
		Name: "credentials", Means: "username or password in the BMC's Secret",
		Of: func(f Facts) string { return f.Credentials },
	},
	{
		Name: "secrets", Means: "the content of another Secret that the spec names",
		Of: func(f Facts) string { return digestOf(len(f.Secrets) > 0, f.Secrets) },
	},
	{
		Name: "firmware", Means: "the spec of HostFirmwareSettings, HostFirmwareComponents or HostUpdatePolicy",
		Of: func(f Facts) string { return digestOf(len(f.Firmware) > 0, f.Firmware) },
	},
	{Name: "ironic", Means: "`" + names.Ironic + "`", Not: deployment, Of: annotation(names.Ironic)},
	{Name: Inspect, Means: "`" + names.Inspect + "`", Request: true, Not: deployment, Of: annotation(names.Inspect)},
	{Name: "reboot", Means: "`" + names.Reboot + "`", Request: true, Not: unready, Of: annotation(names.Reboot)},
	{
		Name: "kept-off", Means: "`" + names.Reboot + "/KEY`, set or removed by its client", Not: unready,
		Of: func(f Facts) string { keys := keptOff(f.Host); return digestOf(len(keys) > 0, keys) },
	},
	{
		Name: "detached", Means: "`" + names.Detached + "`, for a detachment that failed", Request: true,
		Of: func(f Facts) string {
			if !f.Detaching {
				return ""
			}
			return annotation(names.Detached)(f)
		},
	},
}

// annotation reads one annotation.
func annotation(key string) func(Facts) string {
	return func(f Facts) string {
		value, there := f.Host.Annotations[key]
		return digestOf(there, value)
	}
}

// keptOff are the annotations by which clients keep the machine off.
func keptOff(h *metal3.BareMetalHost) map[string]string {
	keys := maps.Clone(h.Annotations)
	maps.DeleteFunc(keys, func(key, _ string) bool { return !strings.HasPrefix(key, names.RebootPrefix) })
	return keys
}

func present(there bool) string {
	if there {
		return "yes"
	}
	return ""
}

// digestOf names a value that is there.
func digestOf(there bool, v any) string {
	if !there {
		return ""
	}
	sum := fnv.New64a()
	raw, err := json.Marshal(v) // JSON sorts the keys of maps
	fmt.Fprintln(sum, string(raw), err)
	return fmt.Sprintf("%016x", sum.Sum64())
}
