package probe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/lenient"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// servicePath is where every Redfish service begins.
const servicePath = "/redfish/v1/"

// mostSystems is how many are looked at to find the host's, where one of them boots.
const mostSystems = 4

// identify finds root, system and manager, and what they are.
func (p *probe) identify() error {
	p.root = get[serviceRoot](p, lenient.Link{Path: servicePath})
	if p.root.err != nil {
		return p.root.err
	}
	if p.root.value.RedfishVersion == "" && p.root.value.Systems.Path == "" {
		return fmt.Errorf("%s: %w", servicePath, ErrNotRedfish)
	}
	if err := p.findSystem(); err != nil {
		return err
	}
	p.findManager()
	root, s, m := p.root.value, p.system.value, p.manager.value
	p.vendor = vendorOf(root, s, m, chassis{})
	if p.vendor == "" && p.stop == nil {
		p.vendor = vendorOf(root, s, m, p.chassis())
	}
	r := p.report
	r.Vendor, r.Model, r.SerialNumber = bounded(p.vendor), cleaned(string(s.Model)), serialOf(p.vendor, s)
	r.ManagerModel, r.BMCVersion = managerModelOf(p.vendor, m), versionOf(string(m.FirmwareVersion))
	r.BIOSVersion, r.RedfishVersion = cleaned(string(s.BiosVersion)), bounded(string(root.RedfishVersion))
	r.System, r.Manager, r.PowerState = local(p.system.path), local(p.manager.path), bounded(string(s.PowerState.Text))
	p.set(identities(r, p.system, p.manager)...)
	if p.o.Quirks != nil {
		r.Quirks = p.o.Quirks(Identity{Vendor: r.Vendor, Model: r.Model, ManagerModel: r.ManagerModel, BMCVersion: r.BMCVersion, BIOSVersion: r.BIOSVersion})
	}
	p.expands = p.o.Expand && bool(root.ProtocolFeaturesSupported.ExpandQuery.Levels) && !quirks.Has(r.Quirks, quirks.NoExpand)
	return p.stop
}

// identities are the verdicts on what the machine is.
func identities(r *v1alpha1.BMCReport, s found[system], m found[manager]) []v1alpha1.Capability {
	known := func(name, value, proof, where string) v1alpha1.Capability {
		if value == "" {
			return unknown(name, "nothing names it: "+where)
		}
		return yes(name, value, proof)
	}
	out := []v1alpha1.Capability{
		known(Vendor, r.Vendor, "service root, system, manager", "service root, system, manager, chassis"),
		known(Model, r.Model, at(s.path, "Model"), s.path),
		known(System, r.System, "Systems", "Systems"),
		known(Manager, r.Manager, "ManagedBy, Managers", "ManagedBy, Managers"),
	}
	if m.path != "" && m.err != nil {
		return append(out, unknown(BMCVersion, why(m.err)))
	}
	detail := r.ManagerModel
	if r.BMCVersion != "" && detail != "" {
		detail += " "
	}
	return append(out, known(BMCVersion, detail+r.BMCVersion, at(m.path, "Model, FirmwareVersion"), cmp.Or(m.path, "there is no manager")))
}

// findSystem reads the host's system.
func (p *probe) findSystem() error {
	if p.o.System != "" {
		return p.namedSystem()
	}
	link := p.root.value.Systems
	if link.Path == "" { // links of the root vanish on some BMCs until they are restarted
		link.Path = servicePath + "Systems"
	}
	collection := getList(p, link, false)
	switch {
	case collection.err != nil && p.root.value.Systems.Path == "" && client.KindOf(collection.err) == client.NotSupported:
		return ErrNoSystem
	case collection.err != nil:
		return collection.err
	case p.root.value.Systems.Path == "":
		p.remark("The service root does not link to its systems, which are there: some BMCs lose such links until they are restarted, and show less than they can.")
	}
	systems := links[system](collection.value.members)
	if len(systems) == 0 {
		return ErrNoSystem
	}
	seen := 0
	// The host's is among the first, as a rule; further ones are read until one boots.
	fill(p, systems, inOrder(len(systems)), len(systems), 0, func(found[system]) bool {
		seen++
		return seen >= mostSystems && slices.ContainsFunc(systems, boots)
	})
	index, remark := chooseSystem(systems)
	p.system = systems[index]
	p.remark(remark)
	return p.system.err
}

// namedSystem reads the system that the address names.
func (p *probe) namedSystem() error {
	p.system = get[system](p, lenient.Link{Path: p.o.System})
	switch err := p.system.err; {
	case err == nil && isSystem(p.system.value):
		return nil
	case err != nil && client.KindOf(err) != client.NotSupported:
		return fmt.Errorf("read the system that the address names: %w", err)
	}
	link := p.root.value.Systems
	if link.Path == "" {
		link.Path = servicePath + "Systems"
	}
	var names []string
	for _, one := range links[struct{}](getList(p, link, false).value.members) {
		// One that says little of itself is a system if the BMC calls it one.
		if p.system.err == nil && strings.EqualFold(strings.TrimRight(local(one.path), "/"), strings.TrimRight(p.o.System, "/")) {
			return nil
		}
		if len(names) < mostValues {
			names = append(names, local(one.path))
		}
	}
	if p.stop != nil {
		return p.stop
	}
	if len(names) == 0 {
		return fmt.Errorf("%w: %s; look at %s for those that there are", ErrWrongSystem, bounded(p.o.System), link.Path)
	}
	return fmt.Errorf("%w: %s; the systems of this BMC are %s", ErrWrongSystem, bounded(p.o.System), strings.Join(names, ", "))
}

// isSystem reports whether a resource is a system by its type, or else by what only
// systems have.
func isSystem(s system) bool {
	if s.Type != "" {
		return strings.HasPrefix(string(s.Type), "#ComputerSystem.")
	}
	return s.Boot.Set || s.Bios.Path != "" || s.SystemType != "" || s.Actions.Reset.Target != ""
}

// boots reports whether a system that was read has a boot override.
func boots(s found[system]) bool { return s.read() && bool(s.value.Boot.Value.Target) }

// findManager reads the manager that is the host's BMC. A machine without one is
// probed all the same.
func (p *probe) findManager() {
	var managers []found[manager]
	for _, link := range p.system.value.Links.Value.ManagedBy {
		if link.Path != "" {
			managers = append(managers, found[manager]{path: link.Path, err: errBudget})
		}
	}
	if len(managers) == 0 {
		collection := getList(p, p.root.value.Managers, false)
		if collection.err != nil {
			p.manager = found[manager]{path: collection.path, err: collection.err}
			p.remark("The managers cannot be read: " + why(collection.err))
			return
		}
		managers = links[manager](collection.value.members)
	}
	// One that has a version and a console is it; an empty one is passed over.
	fill(p, managers, inOrder(len(managers)), len(managers), 0, func(m found[manager]) bool {
		p.seen = p.o.Now()
		return m.value.FirmwareVersion != ""
	})
	if index := chooseManager(managers); index >= 0 {
		p.manager = managers[index]
		return
	}
	if len(managers) > 0 {
		p.manager = managers[0]
		p.remark("The manager cannot be read: " + why(p.manager.err))
	}
}

// chassis reads the system's chassis, which alone names the vendor of some machines.
func (p *probe) chassis() chassis {
	for _, link := range p.system.value.Links.Value.Chassis {
		return get[chassis](p, link).value
	}
	return chassis{}
}
