// Package network reads a machine's interfaces, routes and host name. What
// links are and which addresses they have comes from the kernel's own interface
// in one look, so that the parts fit together; sysfs adds the hardware's side.
package network

import (
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/inventory/smbios"
	"github.com/ironflow/ironflow/customdeploy/source"
	"github.com/ironflow/ironflow/hub/wire"
)

// Kernel numbers of address families, as the protocol's routes carry them.
const (
	FamilyIPv4 = 2
	FamilyIPv6 = 10
)

// Found is what the network stack brings to the inventory.
type Found struct {
	Hostname   string
	Interfaces []wire.Interface
	Routes     []wire.Route
}

// Read takes one look at the network.
func Read(m source.Machine, table smbios.Table) (Found, error) {
	uname, err := m.Kernel.Uname()
	if err != nil {
		return Found{}, err
	}
	network, err := m.Kernel.Network()
	if err != nil {
		return Found{}, err
	}
	found := Found{Interfaces: []wire.Interface{}, Routes: []wire.Route{}}
	names := biosNames(m, table)
	links := map[int]string{}
	for _, link := range network.Links {
		links[link.Index] = link.Name
		found.Interfaces = append(found.Interfaces, interfaceOf(m, link, network.Routes, names))
	}
	slices.SortFunc(found.Interfaces, func(a, b wire.Interface) int { return strings.Compare(a.Name, b.Name) })
	for _, route := range network.Routes {
		if name := links[route.Link]; name != "" {
			found.Routes = append(found.Routes, routeOf(route, name))
		}
	}
	found.Hostname = hostname(strings.TrimSpace(uname.Nodename), found.Interfaces)
	return found, nil
}

// routeOf writes the destination without its prefix length, as hubs expect.
func routeOf(route source.Route, link string) wire.Route {
	out := wire.Route{Destination: route.Destination.Addr().String(), Interface: link, Metric: int64(route.Metric), Family: FamilyIPv6}
	if route.Destination.Addr().Is4() {
		out.Family = FamilyIPv4
	}
	if route.Gateway.IsValid() && !route.Gateway.IsUnspecified() {
		out.Gateway = route.Gateway.String()
	}
	return out
}
