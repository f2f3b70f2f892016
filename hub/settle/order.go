package settle

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/pointer"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

// order is what a source is asked for, with what the hub adds to it afterwards.
type order struct {
	sources.Order
	from sources.Name
	// joins tells that the hosts join a cluster that runs: what was made of that stays.
	joins bool
	// lacks are what else the hub finds missing.
	lacks []sources.Lack
	// lost are operators that the cluster is to get and that this hub does not offer any more.
	lost []string
	// hosts are those of the order, in its order.
	hosts []orderedHost
}

// orderedHost is what the hub merges into a host's Ignition last.
type orderedHost struct {
	key                      store.HostKey
	id, shown, name, changes string
	encryption               ignition.Encryption
}

// finish merges it.
func (h *orderedHost) finish(raw []byte) ([]byte, error) {
	raw, err := ignition.Encrypt(raw, h.encryption)
	if err != nil {
		return nil, err
	}
	return ignition.Finish(raw, h.name, h.changes)
}

// encryptionOf is how the disk of the host is encrypted, if that is asked for its role.
func encryptionOf(h *store.Host, c *store.Cluster) ignition.Encryption {
	return encryptionFor(c, h.API.Role)
}

// encryptionFor is how the disks of a role are encrypted.
func encryptionFor(c *store.Cluster, role wire.HostRole) ignition.Encryption {
	e := c.API.DiskEncryption
	if !validations.Encrypts(e, role) {
		return ignition.Encryption{}
	}
	return ignition.Encryption{Mode: cmp.Or(wire.Value(e.Mode), wire.DiskEncryptionModeTpmv2), TangServers: e.TangServers}
}

// order gathers what the Ignition of hosts of a cluster depends on.
func (w *Work) order(c *store.Cluster, hosts []*store.Host) (*order, error) {
	o := &order{
		from: w.units.Sources.Name(c.Source),
		Order: sources.Order{
			Cluster: c.API, TokenGeneration: c.TokenGeneration, Resets: c.Resets, Kubernetes: c.Kubernetes, Now: w.Now,
		},
	}
	o.Cluster.Hosts = nil
	var err error
	if o.PullSecret, err = w.units.Made().PullSecret(c); err != nil {
		o.lacks = append(o.lacks, sources.Lack{What: "the pull secret cannot be read", Next: err.Error()})
	}
	o.joins = instructions.IsDayTwo(&c.API)
	if c.API.Imported != nil && *c.API.Imported && c.Source == "" {
		o.from = w.units.forImported()
	}
	if o.joins && o.from == sources.OpenShiftInstall {
		o.from = sources.Pointer // its files lead to the cluster's own server, see [servedBy]
	}
	if !o.joins {
		_, o.lost = w.OperatorsOf(c)
	}
	if o.Manifests, err = w.manifestsOf(c, o.from, o.joins); err != nil {
		return nil, err
	}
	if o.from == sources.Files {
		if o.Files, err = w.Given(c); err != nil {
			return nil, err
		}
	}
	seen := map[string]bool{}
	o.lackKept(c.Kept)
	for _, h := range hosts {
		o.lackKept(h.Kept)
		given, one := orderHost(h, c)
		if seen[one.id] { // hosts of two infra-envs
			one.id = h.API.InfraEnvID + "." + h.API.ID
		}
		seen[one.id], given.ID = true, one.id
		o.Hosts, o.hosts = append(o.Hosts, given), append(o.hosts, one)
	}
	if !o.joins {
		o.lacks = append(o.lacks, w.lackNodeZero(hosts)...)
	}
	kept, err := w.units.Made().Kept(w.Reader, c.API.ID)
	switch {
	case errors.Is(err, vault.ErrNone):
	case err != nil:
		return nil, err
	case kept.Source == o.from:
		o.Earlier = &kept.Made
	}
	return o, nil
}

// orderHost is a host in an order: what its source is told, and what the hub merges afterwards.
func orderHost(h *store.Host, c *store.Cluster) (sources.Host, orderedHost) {
	given := hostOf(h, c)
	given.ID = h.API.ID
	return given, orderedHost{
		key: h.Key(), id: given.ID, shown: evaluate.HostName(h), name: given.Name, changes: h.API.IgnitionConfigOverrides, encryption: encryptionOf(h, c),
	}
}

// lackKept says which members of a record cannot be opened: nothing is made without them.
func (o *order) lackKept(k store.Kept) {
	if err := k.Lost(); err != nil {
		o.lacks = append(o.lacks, sources.Lack{What: "what is sealed cannot be read", Next: err.Error()})
	}
}

// forImported is the source of a cluster that the hub did not make, and that names none:
// only files and pointers need to know nothing of how it was made.
func (u *Units) forImported() sources.Name {
	if _, ok := u.Sources.All[sources.Files]; ok {
		return sources.Files
	}
	return sources.Pointer
}

// hostOf is what a host's own configuration depends on.
func hostOf(h *store.Host, c *store.Cluster) sources.Host {
	inventory := evaluate.Inventory(h)
	out := sources.Host{
		Name: validations.Hostname(&h.API, inventory), Role: h.API.Role, Bootstrap: h.API.Bootstrap, Last: h.Last,
		Joins: instructions.IsDayTwo(&c.API), Disk: instructions.BootDevice(&h.API), Endpoint: endpointOf(h, c),
	}
	if inventory != nil {
		out.Addresses, out.MAC = addressesOf(c, inventory)
		if disk := validations.FindDisk(inventory, out.Disk); disk != nil {
			out.Disk = cmp.Or(disk.ByID, out.Disk)
		}
	}
	if h.API.NodeLabels != "" {
		_ = json.Unmarshal([]byte(h.API.NodeLabels), &out.Labels) // the hub wrote it
	}
	return out
}

// addressesOf are a host's in the machine networks, in the order of those networks, and
// the hardware address of the card with the first one. In a cluster without machine
// networks, it is the host's first address of all.
func addressesOf(c *store.Cluster, inventory *wire.Inventory) (all []string, mac string) {
	find := func(wanted func(netip.Addr) bool, most int) {
		for _, nic := range inventory.Interfaces {
			for _, text := range slices.Concat(nic.Ipv4Addresses, nic.Ipv6Addresses) {
				p, err := netip.ParsePrefix(text)
				if err != nil || !wanted(p.Addr()) || slices.Contains(all, p.Addr().String()) || most > 0 && len(all) >= most {
					continue
				}
				if len(all) == 0 {
					mac = strings.ToLower(nic.MACAddress)
				}
				all = append(all, p.Addr().String())
			}
		}
	}
	if len(c.API.MachineNetworks) == 0 {
		find(func(a netip.Addr) bool { return !a.IsLinkLocalUnicast() && !a.IsLoopback() }, 1)
	}
	for _, n := range c.API.MachineNetworks {
		if p, err := netip.ParsePrefix(string(n.CIDR)); err == nil {
			find(p.Contains, 0)
		}
	}
	return all, mac
}

// endpointOf says where a host that joins an installed cluster gets its configuration;
// nil for others. In a cluster without a release that the hub made, nobody hands one out
// but who was named.
func endpointOf(h *store.Host, c *store.Cluster) *sources.Endpoint {
	given := evaluate.Endpoint(c)
	url := instructions.EndpointURL(&c.API, given, h.API.MachineConfigPoolName)
	served := c.API.OpenshiftVersion != "" || c.API.Imported != nil && *c.API.Imported || given != nil && wire.Value(given.URL) != ""
	if !instructions.IsDayTwo(&c.API) || !served || url == "" {
		return nil
	}
	e := &sources.Endpoint{URL: url, Token: h.EndpointToken}
	if given != nil {
		e.CA = wire.Value(given.CaCertificate)
	}
	for _, one := range h.EndpointHeaders {
		e.Headers = append(e.Headers, sources.Header{Name: one.Key, Value: one.Value})
	}
	return e
}

// servedBy is where the files of an installation have workers get their configuration from, without the name of the role;
// nil for files that lead nowhere.
func servedBy(files map[string][]byte) *wire.IgnitionEndpoint {
	const role = string(wire.HostRoleWorker)
	e := pointer.Read(files[role+".ign"])
	if e == nil {
		return nil
	}
	base, is := strings.CutSuffix(e.URL, "/"+role)
	if !is {
		return nil
	}
	out := &wire.IgnitionEndpoint{URL: &base}
	if e.CA != "" {
		out.CaCertificate = &e.CA
	}
	return out
}
