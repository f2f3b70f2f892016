package files

import (
	"context"
	"encoding/json"
	"path"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// recorded is a file of a bundle that is made of records.
type recorded struct {
	name    string
	content []byte
}

// maxEvents is how many events a bundle has at most: the last ones.
const maxEvents = 10_000

// records are what the hub knows of the cluster, for whoever looks into its logs elsewhere:
// metadata.json is the cluster with its hosts, without what those have reported;
// events.json its timeline; and, where they are wanted, the manifests that its users have added, without
// what is in Secrets.
func (d *Folder) records(ctx context.Context, clusterID string, withManifests bool) (out []recorded, at time.Time, err error) {
	var cluster wire.Cluster
	events := []wire.Event{}
	err = d.units.View(ctx, func(w *settle.Work) error {
		at = w.Now
		c, err := w.Cluster(clusterID)
		if err != nil {
			return err
		}
		hosts, err := w.Reader.Hosts(store.HostFilter{ClusterID: clusterID, Bare: true})
		if err != nil {
			return err
		}
		cluster = c.API
		for _, h := range hosts {
			cluster.Hosts = append(cluster.Hosts, h.API)
		}
		found, _, err := w.Reader.Events(store.EventFilter{ClusterID: clusterID, Descending: true, Limit: maxEvents})
		if err != nil {
			return err
		}
		for _, e := range slices.Backward(found) {
			events = append(events, e.Event)
		}
		if !withManifests {
			return nil
		}
		for _, m := range c.Manifests {
			text, err := w.Manifest(c, m.Folder, m.FileName)
			if err != nil {
				return err
			}
			out = append(out, recorded{path.Join("manifests", m.Folder, m.FileName), []byte(redacted(text))})
		}
		return nil
	})
	if err != nil {
		return nil, at, err
	}
	for _, made := range []struct {
		name string
		of   any
	}{{"metadata.json", cluster}, {"events.json", events}} {
		raw, err := json.Marshal(made.of)
		if err != nil {
			return nil, at, err
		}
		out = append(out, recorded{made.name, raw})
	}
	return out, at, nil
}
