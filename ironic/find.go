package ironic

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// Identity is what is known about a host's node. Empty parts are not looked for.
type Identity struct {
	UUID    string // as recorded in the host's status
	Name    string // <namespace>~<name>
	BootMAC string // any case
	// Unknown means that neither UUID nor name needs to be asked for: the watch has
	// seen all nodes, and none is it. The name still tells whose a MAC address is.
	Unknown bool
	// Other is the UUID of a node that is another host's although it has the name
	// without the namespace: it is passed over.
	Other string
}

// nameSeparator joins namespace and name of a host in its node's name.
const nameSeparator = "~"

// Get reads one node, by UUID or name, with all fields.
func (g *Gateway) Get(ctx context.Context, uuid string) (*Node, error) {
	return g.read(ctx, uuid)
}

func (g *Gateway) read(ctx context.Context, ident string) (*Node, error) {
	var w wireNode
	if err := g.get(ctx, "get node", ident, nodePath(ident), &w); err != nil {
		return nil, err
	}
	return g.taken(&w), nil
}

// nodePath is the path of a node, or of something below it.
func nodePath(ident string, below ...string) string {
	var path strings.Builder
	path.WriteString("nodes/" + url.PathEscape(ident))
	for _, part := range below {
		path.WriteString("/" + part)
	}
	return path.String()
}

// Find looks for the node by id, then by name (also without the namespace, as
// older versions of baremetal-operator wrote it), then by the boot MAC of
// its ports. A node found by MAC is returned if it has no name; one with a name
// is somebody else's: *MACConflictError. Whether a node that was found by anything
// but its full name is the host's is for the caller to judge. ErrNotFound means that every look-up
// was answered, and none matched; a failed look-up is an *Error.
func (g *Gateway) Find(ctx context.Context, id Identity) (*Node, error) {
	for _, ident := range []string{id.UUID, id.Name, PlainName(id.Name)} {
		if ident == "" || id.Unknown {
			continue
		}
		n, err := g.read(ctx, ident)
		if err == nil && n.UUID == id.Other && ident != id.Name {
			continue
		}
		if err == nil || KindOf(err) != Gone {
			return n, err
		}
	}
	if id.BootMAC == "" {
		return nil, ErrNotFound
	}
	return g.findByMAC(ctx, id)
}

// PlainName is a node's name without the host's namespace, as older versions of
// baremetal-operator gave it, if it could be told apart from others' (it has no
// separator of its own); empty otherwise.
func PlainName(name string) string {
	_, plain, found := strings.Cut(name, nameSeparator)
	if !found || strings.Contains(plain, nameSeparator) {
		return ""
	}
	return plain
}

func (g *Gateway) findByMAC(ctx context.Context, id Identity) (*Node, error) {
	port, found, err := g.macs.find(ctx, g, id.BootMAC)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, ErrNotFound
	}
	n, err := g.read(ctx, port.NodeUUID)
	if KindOf(err) == Gone {
		return nil, ErrNotFound // deleted between the two requests
	}
	if err != nil {
		return nil, err
	}
	if n.Name != "" && n.Name != id.Name {
		return nil, &MACConflictError{MAC: strings.ToLower(id.BootMAC), OtherNode: n.Name, OtherID: n.UUID}
	}
	return n, nil
}

// portOf returns the port with this MAC, of whatever node.
func (g *Gateway) portOf(ctx context.Context, mac string) (port wirePort, found bool, err error) {
	var list portList
	query := url.Values{"address": {strings.ToLower(mac)}, "fields": {"node_uuid,uuid,address,pxe_enabled"}}
	err = g.do(ctx, call{op: "find port", method: http.MethodGet, path: "ports?" + query.Encode(), into: &list})
	if err != nil || len(list.Ports) == 0 {
		return wirePort{}, false, err
	}
	return list.Ports[0], true, nil
}
