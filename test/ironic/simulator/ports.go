package simulator

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// port is one network interface of a node.
type port struct {
	uuid    string
	node    string
	address string
	pxe     bool
}

func (p *port) object() map[string]any {
	return map[string]any{"uuid": p.uuid, "node_uuid": p.node, "address": p.address, "pxe_enabled": p.pxe}
}

// portsOf returns a node's ports in the order of their creation.
func (s *Server) portsOf(uuid string) []*port {
	if n := s.nodes[uuid]; n != nil {
		return n.ports
	}
	return nil
}

func listPorts(s *Server, r *http.Request) (int, any, error) {
	q := r.URL.Query()
	var found []*port
	switch {
	case q.Get("address") != "":
		if p := s.ports[strings.ToLower(q.Get("address"))]; p != nil {
			found = []*port{p}
		}
	case q.Get("node_uuid") != "":
		if s.nodes[q.Get("node_uuid")] == nil {
			return 0, nil, notFound(q.Get("node_uuid"))
		}
		found = s.portsOf(q.Get("node_uuid"))
	default:
		return s.listAllPorts(q)
	}
	list := make([]any, 0, len(found))
	for _, p := range found {
		list = append(list, p.object())
	}
	return http.StatusOK, map[string]any{"ports": list}, nil
}

// listAllPorts answers with one page of all ports.
func (s *Server) listAllPorts(q url.Values) (int, any, error) {
	limit, marker := s.opts.MaxLimit, q.Get("marker")
	if n, err := strconv.Atoi(q.Get("limit")); err == nil && n > 0 {
		limit = min(n, limit)
	}
	list, body := []any{}, map[string]any{}
	passed := marker == ""
	for _, n := range s.sorted {
		for _, p := range n.ports {
			switch {
			case !passed:
				passed = p.uuid == marker
			case len(list) == limit:
				body["next"] = "http://simulator/v1/ports?marker=" + list[limit-1].(map[string]any)["uuid"].(string) //nolint:forcetypeassert // made below
			default:
				list = append(list, p.object())
			}
		}
	}
	body["ports"] = list
	return http.StatusOK, body, nil
}

func createPort(s *Server, r *http.Request) (int, any, error) {
	var body struct {
		Node    string `json:"node_uuid"`
		Address string `json:"address"`
		PXE     *bool  `json:"pxe_enabled"`
	}
	if err := decode(r, &body); err != nil {
		return 0, nil, err
	}
	n := s.nodes[body.Node]
	if n == nil {
		return 0, nil, fault(http.StatusBadRequest, "Node %s could not be found.", body.Node)
	}
	p, err := s.addPort(n, body.Address, body.PXE == nil || *body.PXE)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, p.object(), nil
}

func (s *Server) addPort(n *node, address string, pxe bool) (*port, error) {
	address = strings.ToLower(address)
	if s.ports[address] != nil {
		return nil, fault(http.StatusConflict, "A port with MAC address %s already exists.", address)
	}
	p := &port{uuid: newUUID(), node: n.uuid, address: address, pxe: pxe}
	s.ports[address], n.ports = p, append(n.ports, p)
	return p, nil
}

func patchPort(s *Server, r *http.Request) (int, any, error) {
	var operations []operation
	if err := decode(r, &operations); err != nil {
		return 0, nil, err
	}
	for _, p := range s.ports {
		if p.uuid != r.PathValue("port") {
			continue
		}
		document := p.object()
		for _, op := range operations {
			if err := op.apply(document); err != nil {
				return 0, nil, err
			}
		}
		p.pxe, _ = document["pxe_enabled"].(bool)
		return http.StatusOK, p.object(), nil
	}
	return 0, nil, fault(http.StatusNotFound, "Port %s could not be found.", r.PathValue("port"))
}

func deletePort(s *Server, r *http.Request) (int, any, error) {
	for address, p := range s.ports {
		if p.uuid != r.PathValue("port") {
			continue
		}
		delete(s.ports, address)
		n := s.nodes[p.node]
		n.ports = slices.DeleteFunc(n.ports, func(other *port) bool { return other == p })
		return http.StatusNoContent, nil, nil
	}
	return 0, nil, fault(http.StatusNotFound, "Port %s could not be found.", r.PathValue("port"))
}

// inspectPorts creates ports for the interfaces that the ramdisk booted from, and has
// the node boot from these only, as [inspector]update_pxe_enabled does.
func (s *Server) inspectPorts(n *node) {
	plugin, _ := n.inventory["plugin_data"].(map[string]any)
	all, _ := plugin["all_interfaces"].(map[string]any)
	booted := map[string]bool{}
	for _, raw := range all {
		nic, _ := raw.(map[string]any)
		mac, _ := nic["mac_address"].(string)
		if pxe, _ := nic["pxe_enabled"].(bool); pxe && mac != "" {
			booted[strings.ToLower(mac)] = true
		}
	}
	for _, mac := range slices.Sorted(maps.Keys(booted)) {
		if s.ports[mac] == nil {
			_, _ = s.addPort(n, mac, true) // known to be free
		}
	}
	for _, p := range n.ports {
		p.pxe = booted[p.address]
	}
}
