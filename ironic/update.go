package ironic

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// Desired says which fields of a node the caller owns, and their values. Nil
// pointers, empty interface names and keys that are not in a map are left as
// they are.
type Desired struct {
	Name            *string
	Driver          *string
	InstanceUUID    *string // an empty text removes it
	Owner           *string // an empty text removes it
	AutomatedClean  *bool
	DisablePowerOff *bool // needs FeatureDisablePowerOff, unless it is false already
	Interfaces      Interfaces
	// ResetInterfaces names interfaces ("deploy", "raid" …) to set back to Ironic's default.
	ResetInterfaces []string

	DriverInfo   Fields
	InstanceInfo Fields
	Properties   Fields
	Extra        Fields
	// ExtraBeside are fields of extra that are only written together with something else that
	// differs: what they say of a node is no reason to write to it.
	ExtraBeside Fields
	NetworkData map[string]any // replaced whole; nil leaves it, empty removes it

	// ReplaceDriverInfo also removes every driver_info key that is not in DriverInfo.
	ReplaceDriverInfo bool
	// SendSecrets sends secret values although they read back masked. Without it a
	// masked value counts as equal: set it when credentials have changed.
	SendSecrets bool
}

// Fields are keys of a JSON object with their desired values. The value Remove
// asks for the key to be absent.
type Fields map[string]any

// Remove is the value of a key in Fields that must not be on the node.
var Remove = removed{}

type removed struct{}

// patch is one operation of JSON Patch (RFC 6902).
type patch struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// MarshalJSON leaves the value out of removals.
func (p patch) MarshalJSON() ([]byte, error) {
	m := map[string]any{"op": p.Op, "path": p.Path}
	if p.Op != "remove" {
		m["value"] = p.Value
	}
	return json.Marshal(m)
}

// Update brings the node to the desired state with one JSON Patch that holds
// the differences only, and returns the node as it is afterwards. When nothing
// differs, no request is made, n itself is returned and changed is false.
func (g *Gateway) Update(ctx context.Context, n *Node, d Desired) (after *Node, changed bool, err error) {
	const op = "update node"
	patches, err := differences(n, d)
	if err != nil {
		return nil, false, &Error{Kind: Rejected, Op: op, Node: n.UUID, Text: err.Error(), Err: err}
	}
	if len(patches) == 0 {
		return n, false, nil
	}
	if d.DisablePowerOff != nil && *d.DisablePowerOff != n.DisablePowerOff && g.lacks(ctx, FeatureDisablePowerOff) {
		return nil, false, g.unsupported(op, n.UUID, FeatureDisablePowerOff)
	}
	var w wireNode
	err = g.do(ctx, call{op: op, node: n.UUID, method: http.MethodPatch, path: nodePath(n.UUID), body: patches, into: &w})
	if err != nil {
		return nil, false, err
	}
	return g.taken(&w), true, nil
}

// differences lists the operations from n to d, in a stable order.
func differences(n *Node, d Desired) ([]patch, error) {
	var p patches
	p.text("/name", n.Name, d.Name)
	p.text("/driver", n.Driver, d.Driver)
	p.text("/instance_uuid", n.InstanceUUID, d.InstanceUUID)
	p.text("/owner", n.Owner, d.Owner)
	if d.AutomatedClean != nil && (n.AutomatedClean == nil || *n.AutomatedClean != *d.AutomatedClean) {
		p.add("/automated_clean", *d.AutomatedClean)
	}
	if d.DisablePowerOff != nil && *d.DisablePowerOff != n.DisablePowerOff {
		p.add("/disable_power_off", *d.DisablePowerOff)
	}
	p.interfaces(n.Interfaces, d.Interfaces, d.ResetInterfaces)
	driverInfo := d.DriverInfo
	if d.ReplaceDriverInfo {
		driverInfo = replaceAll(n.DriverInfo, d.DriverInfo)
	}
	p.fields("/driver_info/", n.DriverInfo, driverInfo, d.SendSecrets)
	p.fields("/instance_info/", n.InstanceInfo, d.InstanceInfo, d.SendSecrets)
	p.fields("/properties/", n.Properties, d.Properties, false)
	p.fields("/extra/", n.Extra, d.Extra, false)
	if d.NetworkData != nil && !p.same(anyMap(n.NetworkData), anyMap(d.NetworkData)) {
		p.add("/network_data", d.NetworkData)
	}
	if len(p.list) > 0 {
		p.fields("/extra/", n.Extra, d.ExtraBeside, false)
	}
	return p.list, p.err
}

// patches collects operations and the first error.
type patches struct {
	list []patch
	err  error
}

// add sets a member; for members of an object "add" replaces as well.
func (p *patches) add(path string, value any) { p.list = append(p.list, patch{"add", path, value}) }

func (p *patches) remove(path string) { p.list = append(p.list, patch{Op: "remove", Path: path}) }

func (p *patches) text(path, have string, want *string) {
	switch {
	case want == nil || *want == have:
	case *want == "":
		p.remove(path)
	default:
		p.add(path, *want)
	}
}

func (p *patches) interfaces(have, want Interfaces, reset []string) {
	haveFields, wantFields := have.byField(), want.byField()
	for _, field := range slices.Sorted(maps.Keys(wantFields)) {
		if value := wantFields[field]; value != "" && value != haveFields[field] {
			p.add("/"+field, value)
		}
	}
	for _, name := range reset {
		field := name + "_interface"
		if _, known := haveFields[field]; !known {
			p.err = fmt.Errorf("unknown hardware interface %q", name)
			return
		}
		p.remove("/" + field)
	}
}

// pointer escapes a name for a JSON pointer (RFC 6901).
var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// fields compares the members of one object that the caller owns.
func (p *patches) fields(prefix string, have map[string]any, want Fields, sendSecrets bool) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		current, there := have[key]
		path := prefix + pointer.Replace(key)
		value := want[key]
		if _, gone := value.(removed); gone {
			if there {
				p.remove(path)
			}
			continue
		}
		if there && current == Masked && !sendSecrets {
			continue
		}
		if !there || current == Masked || !p.same(current, value) {
			p.add(path, value)
		}
	}
}

// same compares two values by their JSON form, so that 1, 1.0 and json.Number
// agree.
func (p *patches) same(a, b any) bool {
	x, errX := normal(a)
	y, errY := normal(b)
	for _, err := range []error{errX, errY} {
		if err != nil && p.err == nil {
			p.err = fmt.Errorf("value has no JSON form: %w", err)
		}
	}
	return reflect.DeepEqual(x, y)
}

func normal(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var plain any
	err = json.Unmarshal(raw, &plain)
	return plain, err
}

// anyMap makes an absent object equal to an empty one.
func anyMap(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// replaceAll completes want so that every other key that is there gets removed.
func replaceAll(have map[string]any, want Fields) Fields {
	all := maps.Clone(want)
	if all == nil {
		all = Fields{}
	}
	for key := range have {
		if _, kept := all[key]; !kept {
			all[key] = Remove
		}
	}
	return all
}

// byField returns the interfaces by their name in the API.
func (i Interfaces) byField() map[string]string {
	return map[string]string{
		"bios_interface": i.BIOS, "boot_interface": i.Boot, "deploy_interface": i.Deploy,
		"firmware_interface": i.Firmware, "inspect_interface": i.Inspect,
		"management_interface": i.Management, "network_interface": i.Network,
		"power_interface": i.Power, "raid_interface": i.RAID, "vendor_interface": i.Vendor,
	}
}
