package ironic

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
)

// Port is one network interface of a node.
type Port struct {
	MAC        string // any case; Ironic keeps lower case
	PXEEnabled bool
	// Optional means that the node can do without it: one that another node has, or that
	// Ironic refuses, is left out.
	Optional bool
}

// PortLeftOut is an optional port that was not made.
type PortLeftOut struct {
	MAC string
	// Owner is the id of the node that has the MAC address; empty if Ironic refuses it.
	Owner string
	// Reason says who has it, or what Ironic says.
	Reason string
}

// wirePort is a port as Ironic sends and takes it.
type wirePort struct {
	UUID       string `json:"uuid,omitempty"`
	NodeUUID   string `json:"node_uuid,omitempty"`
	Address    string `json:"address"`
	PXEEnabled bool   `json:"pxe_enabled"`
}

type portList struct {
	Ports []wirePort `json:"ports"`
	Next  string     `json:"next"`
}

// EnsurePorts creates the ports that the node lacks and corrects pxe_enabled
// where it differs. Ports that are not named are left alone. A MAC address on
// another node is a *MACConflictError, unless the port is optional.
func (g *Gateway) EnsurePorts(ctx context.Context, uuid string, ports []Port) (left []PortLeftOut, err error) {
	if len(ports) == 0 {
		return nil, nil
	}
	there, err := g.ports(ctx, uuid)
	if err != nil {
		return nil, err
	}
	var missing []Port
	for _, want := range ports {
		have, found := there[strings.ToLower(want.MAC)]
		if !found {
			missing = append(missing, want)
		} else if err := g.correctPort(ctx, have, want.PXEEnabled); err != nil {
			return nil, err
		}
	}
	return g.AddPorts(ctx, uuid, missing)
}

// AddPorts creates ports that the node is thought to lack, without looking first.
// One that is there is corrected; a MAC address on another node is a
// *MACConflictError, unless the port is optional. Repeated after a crash it does nothing.
func (g *Gateway) AddPorts(ctx context.Context, uuid string, ports []Port) (left []PortLeftOut, err error) {
	for _, p := range ports {
		mac := strings.ToLower(p.MAC)
		err := g.createPort(ctx, uuid, wirePort{NodeUUID: uuid, Address: mac, PXEEnabled: p.PXEEnabled})
		switch {
		case err == nil:
		case p.Optional && KindOf(err) == Rejected:
			left = append(left, leftOut(mac, err))
		default:
			return left, err
		}
	}
	return left, nil
}

// leftOut is the port that err is about.
func leftOut(mac string, err error) PortLeftOut {
	if conflict, is := errors.AsType[*MACConflictError](err); is {
		return PortLeftOut{MAC: mac, Owner: conflict.OtherID, Reason: "node " + conflict.OtherNode + " has it"}
	}
	text := err.Error()
	if e, is := errors.AsType[*Error](err); is {
		text = e.Text
	}
	return PortLeftOut{MAC: mac, Reason: "Ironic refuses it: " + text}
}

// NodeOfPort returns the id of the node that has a port with this MAC address.
func (g *Gateway) NodeOfPort(ctx context.Context, mac string) (uuid string, found bool, err error) {
	port, found, err := g.macs.find(ctx, g, mac)
	return port.NodeUUID, found, err
}

// RemovePorts removes the node's ports with these MAC addresses. One that is not there,
// and one that Ironic does not let go of, is no error.
func (g *Gateway) RemovePorts(ctx context.Context, uuid string, macs []string) error {
	there, err := g.ports(ctx, uuid)
	if err != nil {
		return err
	}
	for _, mac := range macs {
		p, found := there[strings.ToLower(mac)]
		if !found {
			continue
		}
		err := g.do(ctx, call{op: "remove port", node: uuid, method: http.MethodDelete, path: "ports/" + url.PathEscape(p.UUID)})
		switch {
		case err == nil:
			g.macs.forget(p.Address)
		case KindOf(err) != Rejected && !strings.Contains(err.Error(), boundToVIF):
			return err
		}
	}
	return nil
}

// boundToVIF is Ironic's word on a port in use by a network of the machine's instance:
// destroy_port in
// https://opendev.org/openstack/ironic/src/branch/master/ironic/conductor/manager.py
const boundToVIF = "is bound to VIF"

// correctPort sets a port's pxe_enabled, if it differs.
func (g *Gateway) correctPort(ctx context.Context, have wirePort, pxe bool) error {
	if have.PXEEnabled == pxe {
		return nil
	}
	return g.do(ctx, call{
		op: "update port", node: have.NodeUUID, method: http.MethodPatch,
		path: "ports/" + url.PathEscape(have.UUID),
		body: []patch{{Op: "replace", Path: "/pxe_enabled", Value: pxe}},
	})
}

// ports returns the node's ports by MAC.
func (g *Gateway) ports(ctx context.Context, uuid string) (map[string]wirePort, error) {
	query := url.Values{"node_uuid": {uuid}, "fields": {"uuid,node_uuid,address,pxe_enabled"}}
	var list portList
	err := g.do(ctx, call{op: "list ports", node: uuid, method: http.MethodGet, path: "ports?" + query.Encode(), into: &list})
	if err != nil {
		return nil, err
	}
	byMAC := make(map[string]wirePort, len(list.Ports))
	for _, p := range list.Ports {
		byMAC[strings.ToLower(p.Address)] = p
	}
	return byMAC, nil
}

// createPort creates a port; a conflict is resolved by looking who has the MAC.
func (g *Gateway) createPort(ctx context.Context, uuid string, p wirePort) error {
	err := g.do(ctx, call{op: "create port", node: uuid, method: http.MethodPost, path: "ports", body: p, into: &wirePort{}})
	if err == nil {
		g.macs.learn(p)
	}
	if statusOf(err) != http.StatusConflict {
		return err
	}
	there, found, findErr := g.portOf(ctx, p.Address)
	if findErr != nil || !found {
		return err
	}
	if there.NodeUUID == uuid {
		return g.correctPort(ctx, there, p.PXEEnabled) // by an attempt that was not heard of, or by inspection
	}
	other := there.NodeUUID
	if n, readErr := g.read(ctx, other); readErr == nil && n.Name != "" {
		other = n.Name
	}
	return &MACConflictError{MAC: p.Address, OtherNode: other, OtherID: there.NodeUUID}
}
