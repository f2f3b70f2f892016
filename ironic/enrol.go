package ironic

import (
	"context"
	"net/http"
)

// Enrolment is a node to create. Empty fields are left to Ironic's defaults.
type Enrolment struct {
	UUID            string // chosen by the caller, so that a repeated enrolment is recognised; may be empty
	Name            string
	Driver          string
	DriverInfo      map[string]any
	Properties      map[string]any
	Extra           map[string]any
	Interfaces      Interfaces
	NetworkData     map[string]any
	AutomatedClean  *bool
	DisablePowerOff bool // needs FeatureDisablePowerOff
	ConductorGroup  string
	Owner           string
}

// wireEnrolment is the body of POST /v1/nodes.
type wireEnrolment struct {
	UUID            string         `json:"uuid,omitempty"`
	Name            string         `json:"name,omitempty"`
	Driver          string         `json:"driver"`
	DriverInfo      map[string]any `json:"driver_info,omitempty"`
	Properties      map[string]any `json:"properties,omitempty"`
	Extra           map[string]any `json:"extra,omitempty"`
	NetworkData     map[string]any `json:"network_data,omitempty"`
	AutomatedClean  *bool          `json:"automated_clean,omitempty"`
	DisablePowerOff bool           `json:"disable_power_off,omitempty"`
	ConductorGroup  string         `json:"conductor_group,omitempty"`
	Owner           string         `json:"owner,omitempty"`
	Interfaces
}

// Enrol creates a node. If a node of that name or UUID exists, because an
// earlier enrolment was not heard of, it is returned as it is: that of the name, or
// that of the UUID where somebody has renamed it since.
func (g *Gateway) Enrol(ctx context.Context, e Enrolment) (*Node, error) {
	n, _, err := g.Create(ctx, e)
	return n, err
}

// Create does what Enrol does, and says whether the node is new: made by this
// call, without ports, never inspected.
func (g *Gateway) Create(ctx context.Context, e Enrolment) (n *Node, created bool, err error) {
	const op = "enrol node"
	if e.DisablePowerOff && g.lacks(ctx, FeatureDisablePowerOff) {
		return nil, false, g.unsupported(op, e.Name, FeatureDisablePowerOff)
	}
	var w wireNode
	err = g.do(ctx, call{op: op, node: e.Name, method: http.MethodPost, path: "nodes", into: &w, body: wireEnrolment{
		UUID: e.UUID, Name: e.Name, Driver: e.Driver, DriverInfo: e.DriverInfo, Properties: e.Properties,
		Extra: e.Extra, NetworkData: e.NetworkData, AutomatedClean: e.AutomatedClean, DisablePowerOff: e.DisablePowerOff,
		ConductorGroup: e.ConductorGroup, Owner: e.Owner, Interfaces: e.Interfaces,
	}})
	if err == nil {
		return g.taken(&w), true, nil
	}
	if statusOf(err) != http.StatusConflict {
		return nil, false, err
	}
	for _, ident := range []string{e.Name, e.UUID} {
		if ident == "" {
			continue
		}
		if n, findErr := g.read(ctx, ident); KindOf(findErr) != Gone {
			return n, false, findErr
		}
	}
	return nil, false, err
}
