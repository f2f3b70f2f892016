package model

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/ironic"
)

// takeAccess takes over how the BMC is reached, and masks the password.
func (n *node) takeAccess() {
	if system, is := n.DriverInfo["redfish_system_id"].(string); is {
		n.address = system
	}
	if password, is := n.DriverInfo["redfish_password"].(string); is && password != ironic.Masked {
		n.password = password
		n.DriverInfo["redfish_password"] = ironic.Masked
	}
}

// Update implements ironics.Nodes.
func (g gateway) Update(_ context.Context, have *ironic.Node, d ironic.Desired) (*ironic.Node, bool, error) {
	present, found := g.world().nodes[have.UUID]
	if !found {
		return nil, false, failed(ironic.Gone, "update node", "node not found")
	}
	after := *present
	after.Node = *shown(present)
	changed := apply(&after, d)
	if len(changed) == 0 {
		return shown(present), false, nil
	}
	err := g.write("update "+strings.Join(changed, ", "), have.UUID, func(w *World) error {
		fixed := after.Driver != present.Driver || after.Interfaces != present.Interfaces
		if fixed && !present.Maintenance && !slices.Contains([]ironic.ProvisionState{
			ironic.StateEnroll, ironic.StateManageable, ironic.StateAvailable, ironic.StateInspecting, ironic.StateInspectWait,
		}, present.ProvisionState) {
			return failed(ironic.Rejected, "update node", "cannot update interfaces in state "+string(present.ProvisionState))
		}
		w.change(have.UUID, func(n *node) {
			at, provisioned := n.UpdatedAt, n.ProvisionUpdatedAt
			begun := nodespec.Unproven(&n.Node) && !nodespec.Unproven(&after.Node) && w.mayGo(n.address) && !w.machines[n.address].On
			*n = after
			n.UpdatedAt, n.ProvisionUpdatedAt, n.begun = at, provisioned, n.begun || begun
			n.takeAccess()
			if n.address != present.address && present.ProvisionState != ironic.StateEnroll {
				w.breaks("POWER OF ANOTHER: node %s is given the BMC of another machine, and Ironic, which has machines follow what it "+
					"knows of their power, may switch that one as the former was", n.Name)
			}
		})
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return shown(g.world().nodes[have.UUID]), true, nil
}

// apply brings a node to what is desired, and names the members that were changed.
func apply(n *node, d ironic.Desired) []string {
	var changed []string
	set := func(name string, have *string, want *string) {
		if want != nil && *have != *want {
			*have = *want
			changed = append(changed, name)
		}
	}
	set("name", &n.Name, d.Name)
	set("driver", &n.Driver, d.Driver)
	set("instance_uuid", &n.InstanceUUID, d.InstanceUUID)
	set("owner", &n.Owner, d.Owner)
	if d.AutomatedClean != nil && (n.AutomatedClean == nil || *n.AutomatedClean != *d.AutomatedClean) {
		n.AutomatedClean = d.AutomatedClean
		changed = append(changed, "automated_clean")
	}
	if d.DisablePowerOff != nil && *d.DisablePowerOff != n.DisablePowerOff {
		n.DisablePowerOff = *d.DisablePowerOff
		changed = append(changed, "disable_power_off")
	}
	have, want := reflect.ValueOf(&n.Interfaces).Elem(), reflect.ValueOf(d.Interfaces)
	for i := range want.NumField() {
		if value := want.Field(i).String(); value != "" && value != have.Field(i).String() {
			have.Field(i).SetString(value)
			changed = append(changed, want.Type().Field(i).Name+" interface")
		}
	}
	for _, name := range d.ResetInterfaces {
		if name == "deploy" && n.Interfaces.Deploy != "direct" {
			n.Interfaces.Deploy = "direct"
			changed = append(changed, "Deploy interface")
		}
	}
	fields := func(name string, have *map[string]any, want ironic.Fields) {
		if *have == nil {
			*have = map[string]any{}
		}
		for _, key := range sortedKeys(want) {
			value, there := (*have)[key]
			switch {
			case want[key] == any(ironic.Remove):
				if !there {
					continue
				}
				delete(*have, key)
			case value == ironic.Masked && !d.SendSecrets, there && value != ironic.Masked && sameJSON(value, want[key]):
				continue
			default:
				(*have)[key] = plain(want[key])
			}
			changed = append(changed, name+"."+key)
		}
	}
	fields("driver_info", &n.DriverInfo, d.DriverInfo)
	fields("instance_info", &n.InstanceInfo, d.InstanceInfo)
	fields("properties", &n.Properties, d.Properties)
	fields("extra", &n.Extra, d.Extra)
	if len(changed) > 0 {
		fields("extra", &n.Extra, d.ExtraBeside)
	}
	return changed
}

// plain is a value as Ironic gives it back.
func plain(v any) any {
	switch v.(type) {
	case string, bool, nil:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var p any
	if json.Unmarshal(raw, &p) != nil {
		return v
	}
	return p
}

func sameJSON(a, b any) bool { return reflect.DeepEqual(plain(a), plain(b)) }
