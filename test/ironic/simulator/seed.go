package simulator

import (
	"fmt"
	"maps"
	"time"
)

// Seed is a node as another client left it, busy or not.
type Seed struct {
	// Fields are the node's fields as Ironic stores them, by the names of the API;
	// uuid, driver and provision_state are required.
	Fields map[string]any
	// Ports are the MAC addresses of its ports; true for those that it boots from.
	Ports map[string]bool
	// Inventory is the result of its inspection, as the API shows it; nil for none.
	Inventory map[string]any
	// Media is the address of the image in its virtual CD drive; empty for none.
	Media string
	// Subscriptions are those of its BMC, by id.
	Subscriptions map[string]map[string]any
}

// Put adds a node as it is. Nothing works on it: one in a busy state stays there
// until [Server.Edit] moves it.
func (s *Server) Put(seed Seed) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &node{interfaces: map[string]string{}, created: time.Now(), provUpdated: time.Now(), inventory: seed.Inventory, subs: seed.Subscriptions}
	maps.Copy(n.interfaces, interfaceFields)
	n.deployInterface = s.opts.DeployInterface
	n.interfaces["deploy_interface"] = n.deployInterface
	for name, value := range seed.Fields {
		if name == "uuid" {
			n.uuid, _ = value.(string)
		} else if !n.set(name, value) {
			return fmt.Errorf("seed of a node: field %q cannot be %v", name, value)
		}
	}
	if n.uuid == "" || n.driver == "" || n.provision == "" {
		return fmt.Errorf("seed of a node %q: uuid, driver and provision_state are required", n.name)
	}
	if s.nodes[n.uuid] != nil || n.name != "" && s.names[n.name] != nil {
		return fmt.Errorf("seed of a node %s: there is one of this id or name", n.uuid)
	}
	if seed.Media != "" {
		n.media = media{image: "http://ironic.test/redfish/cdrom-" + n.uuid + ".iso", source: seed.Media}
	}
	s.add(n)
	s.changed(n)
	for address, pxe := range seed.Ports {
		if _, err := s.addPort(n, address, pxe); err != nil {
			return fmt.Errorf("seed of node %s: %w", n.uuid, err)
		}
	}
	return nil
}
