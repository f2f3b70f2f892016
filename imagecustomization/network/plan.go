package network

// place is one family of one interface.
type place struct {
	at  *iface
	six bool
}

// plan says which connections have what the document holds for the whole machine. It is
// made once: documents may have as many routes as interfaces.
type plan struct {
	resolvers map[bool]*iface
	routes    map[place][]route
	rules     map[place][]rule
}

// plan finds the connection of each route and rule, and says which have none.
func (d *document) plan(r *reader) plan {
	p := plan{resolvers: d.resolvers(r), routes: map[place][]route{}, rules: map[place][]rule{}}
	first := map[bool]*iface{false: d.firstThatRoutes(false), true: d.firstThatRoutes(true)}
	type table struct {
		id  int
		six bool
	}
	tables := map[table]*iface{} // who has the first route of a table
	for _, rt := range d.routes {
		holder, six := d.routeHolder(r, rt, first)
		if holder == nil {
			continue
		}
		p.routes[place{holder, six}] = append(p.routes[place{holder, six}], rt)
		if tables[table{rt.table, six}] == nil {
			tables[table{rt.table, six}] = holder
		}
	}
	for _, rl := range d.rules {
		// A rule goes where the routes of its table are, or else to the first of its family.
		holder := tables[table{rl.table, rl.six}]
		if holder == nil {
			holder = first[rl.six]
		}
		if holder == nil {
			r.refuse(rl.path, "no interface has addresses of this family")
			continue
		}
		p.rules[place{holder, rl.six}] = append(p.rules[place{holder, rl.six}], rl)
		d.needsName(rl.iif)
	}
	return p
}

// routeHolder returns the interface whose connection has the route: its own, or for one
// that leads nowhere the first with addresses of the family. nil for none, which it tells.
func (d *document) routeHolder(r *reader, rt route, first map[bool]*iface) (*iface, bool) {
	six := rt.destination.Addr().Is6()
	holder := first[six]
	if rt.device != "" {
		holder = d.find(rt.device)
	}
	switch {
	case holder == nil && rt.device == "":
		r.refuse(rt.path, "no interface has addresses of the destination's family")
	case holder == nil:
		r.refuse(rt.path+".next-hop-interface", "%s is not among the interfaces", rt.device)
	case !holder.routes(six):
		r.refuse(rt.path+".next-hop-interface", "%s has no addresses of the destination's family", rt.device)
	default:
		return holder, six
	}
	return nil, six
}

// firstThatRoutes is the first interface that takes routes of a family, nil for none.
func (d *document) firstThatRoutes(six bool) *iface {
	for _, i := range d.interfaces {
		if i.routes(six) {
			return i
		}
	}
	return nil
}
