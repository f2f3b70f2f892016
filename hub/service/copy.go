package service

import (
	"context"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
)

// CopyWish is what is to become of the copy of the hub's state on the disk of its host.
type CopyWish = evaluate.CopyWish

// What becomes of it, see [evaluate.NodeZero.Copy].
const (
	LeaveCopy = evaluate.LeaveCopy
	KeepCopy  = evaluate.KeepCopy
	DropCopy  = evaluate.DropCopy
)

// Copy decides on the copy of the state of a hub that runs on one of its hosts, and names the
// installation disk of that host; empty where it is not known.
func (h *Hub) Copy(ctx context.Context) (wish CopyWish, disk string, err error) {
	err = h.units.View(ctx, func(w *settle.Work) error {
		clusters, err := w.Reader.Clusters(store.ClusterFilter{})
		if err != nil || len(clusters) != 1 {
			return err // several are not installed
		}
		hosts, err := w.HostsOf(clusters[0].API.ID)
		if err != nil {
			return err
		}
		var mine *store.Host
		if wish, mine = w.NodeZero.Copy(clusters[0], hosts); mine != nil {
			disk = mine.API.InstallationDiskPath
		}
		return nil
	})
	return wish, disk, err
}

// Resumed notes that the hub goes on from a copy of its state that was on the disk: the host
// that it runs on has started anew.
func (h *Hub) Resumed(ctx context.Context, disk string) error { return h.units.Resumed(ctx, disk) }

// Watch calls f whenever something was stored, until the returned function is called.
func (h *Hub) Watch(f func()) (stop func()) { return h.store.Watch(func([]store.Change) { f() }) }
