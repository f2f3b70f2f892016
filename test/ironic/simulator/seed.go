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
	Fields map[string]any `json:"fields"`
	// Ports are the MAC addresses of its ports; true for those that it boots from.
	Ports map[string]bool `json:"ports,omitempty"`
	// Inventory is the result of its inspection, as the API shows it; nil for none.
	Inventory map[string]any `json:"inventory,omitempty"`
	// Media is the address of the image in its virtual CD drive; empty for none.
	Media string `json:"media,omitempty"`
	// Subscriptions are those of its BMC, by id.
	Subscriptions map[string]map[string]any `json:"subscriptions,omitempty"`
	// BIOS and Firmware are what its machine reports, as for SetBIOS and SetFirmware.
	BIOS     []map[string]any `json:"bios,omitempty"`
	Firmware []map[string]any `json:"firmware,omitempty"`
}

// Seed is a node as it is, for [Server.Put] to make it again elsewhere; ok is false where
// there is none of that id or name.
func (s *Server) Seed(ident string) (seed Seed, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.find(ident)
	if n == nil {
		return Seed{}, false
	}
	seed = Seed{Fields: map[string]any{"uuid": n.uuid}, Ports: map[string]bool{}, Inventory: n.inventory, Media: n.media.source, Subscriptions: n.subs, BIOS: n.bios, Firmware: n.firmware}
	for name := range fields {
		if !stored(name) {
			continue
		}
		if value := fields[name](n); !empty(value) {
			seed.Fields[name] = clone(value)
		}
	}
	if n.automatedClean == nil {
		delete(seed.Fields, "automated_clean")
	} else {
		seed.Fields["automated_clean"] = *n.automatedClean
	}
	for _, p := range s.portsOf(n.uuid) {
		seed.Ports[p.address] = p.pxe
	}
	return seed, true
}

// stored reports whether a field is one that Put takes.
func stored(name string) bool {
	_, written := settable[name]
	_, internal := internalFields[name]
	_, standard := interfaceFields[name]
	return written || internal || standard
}

// empty reports a value that a new node has as well.
func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case bool:
		return !value
	case map[string]any:
		return len(value) == 0
	}
	return false
}

// Put adds a node as it is. Nothing works on it: one in a busy state stays there
// until [Server.Edit] moves it.
func (s *Server) Put(seed Seed) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := &node{interfaces: map[string]string{}, created: time.Now(), provUpdated: time.Now(), inventory: seed.Inventory, subs: seed.Subscriptions, bios: seed.BIOS, firmware: seed.Firmware}
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
