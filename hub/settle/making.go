package settle

import (
	"context"
	"fmt"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

// proven is what came of an order: all of it is stored as it is, and handed out as it is.
type proven struct {
	// files are sealed.
	files  []store.ClusterFile
	ending sources.Ending
	// stays tells that the program inside goes on after the installation.
	stays bool
	// served is where hosts of the cluster get their configurations from.
	served *wire.IgnitionEndpoint
}

// Made keeps what sources made.
func (u *Units) Made() vault.Vault { return vault.Vault{Keys: u.Keys} }

// make has a source make the files of an order, merges what the hub adds, and seals all
// of it. Its errors are for people: they say what is missing, and have no secrets but
// for what is theirs.
func (u *Units) make(ctx context.Context, o *order) (*proven, error) {
	source, err := u.Sources.Of(o.from)
	if err != nil {
		return nil, err
	}
	lacks, err := u.addInside(o)
	if err != nil {
		return nil, err
	}
	for _, name := range o.lost { // though its check may be ignored
		lacks = append(lacks, sources.Lack{What: "operator " + name + " is not offered by this hub any more", Next: "put it back into the file of --hub-operators-file, or set olm_operators and operator_bundles anew"})
	}
	if lacks = append(append(lacks, o.lacks...), source.Lacks(ctx, &o.Order)...); len(lacks) > 0 {
		return nil, sources.Lacking(lacks)
	}
	out, err := source.Make(ctx, &o.Order)
	if err != nil {
		return nil, err
	}
	p := &proven{ending: source.Ending(&o.Order), stays: o.Stays}
	if !o.joins {
		if o.from == sources.OpenShiftInstall { // of role files of a site nobody knows what they are for
			p.served = servedBy(out.Files)
		}
		rest, err := u.Made().Rest(o.Cluster.ID, vault.Keep{Source: o.from, Made: *out}.Over(o.Earlier))
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, rest)
	}
	for _, h := range o.hosts {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		sealed, err := u.sealHost(o, &h, out)
		if err != nil {
			return nil, err
		}
		p.files = append(p.files, sealed)
	}
	return p, nil
}

// sealHost finishes and seals the Ignition of one host, and lets go of what the source has made for it: sealed
// it is a third as long, and what is to be stored at once are those of all hosts.
func (u *Units) sealHost(o *order, h *orderedHost, made *sources.Made) (store.ClusterFile, error) {
	raw, ok := made.Hosts[h.id]
	if !ok {
		return store.ClusterFile{}, fmt.Errorf("ignition source %s made none for host %s", o.from, h.shown)
	}
	delete(made.Hosts, h.id)
	whole, err := h.finish(raw)
	if err != nil {
		return store.ClusterFile{}, fmt.Errorf("Ignition of host %s: %w", h.shown, err) //nolint:staticcheck // a name
	}
	return u.Made().HostFile(o.Cluster.ID, h.key, whole)
}

// addInside adds what tells the end of an installation from inside the cluster; one that
// runs has it.
func (u *Units) addInside(o *order) ([]sources.Lack, error) {
	if o.joins {
		return nil, nil
	}
	return u.Inside.Into(&o.Order, o.from)
}
