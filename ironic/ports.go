package ironic

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// Port is one network interface of a node.
type Port struct {
	MAC        string // any case; Ironic keeps lower case
	PXEEnabled bool
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
}

// EnsurePorts creates the ports that the node lacks and corrects pxe_enabled
// where it differs. Ports that are not named are left alone. A MAC address on
// another node is a *MACConflictError.
func (g *Gateway) EnsurePorts(ctx context.Context, uuid string, ports []Port) error {
	if len(ports) == 0 {
		return nil
	}
	there, err := g.ports(ctx, uuid)
	if err != nil {
		return err
	}
	for _, want := range ports {
		mac := strings.ToLower(want.MAC)
		have, found := there[mac]
		switch {
		case !found:
			err = g.createPort(ctx, uuid, wirePort{NodeUUID: uuid, Address: mac, PXEEnabled: want.PXEEnabled})
		case have.PXEEnabled != want.PXEEnabled:
			err = g.do(ctx, call{
				op: "update port", node: uuid, method: http.MethodPatch,
				path: "ports/" + url.PathEscape(have.UUID),
				body: []patch{{Op: "replace", Path: "/pxe_enabled", Value: want.PXEEnabled}},
			})
		}
		if err != nil {
			return err
		}
		there[mac] = wirePort{UUID: have.UUID, Address: mac, PXEEnabled: want.PXEEnabled}
	}
	return nil
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
	if statusOf(err) != http.StatusConflict {
		return err
	}
	owner, findErr := g.portOwner(ctx, p.Address)
	if findErr != nil || owner == "" {
		return err
	}
	if owner == uuid {
		return nil // created by an attempt that was not heard of
	}
	other := owner
	if n, readErr := g.read(ctx, owner); readErr == nil && n.Name != "" {
		other = n.Name
	}
	return &MACConflictError{MAC: p.Address, OtherNode: other}
}
