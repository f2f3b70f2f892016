package fleet

import (
	"context"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
)

// Memory knows hosts from before the hub's records, which may have been lost, may be those of
// an older backup, or may be another hub's.
type Memory interface {
	// Remembers tells that a host without a record was installed, or was being installed, and
	// what is waited for before it has a record again; empty for a host that nobody knows. An
	// error means that nobody can tell for now.
	Remembers(ctx context.Context, key store.HostKey) (waitsFor string, err error)
	// Has tells that somebody has what the record is of, and gives it back to the hub. An error
	// means that nobody can tell for now.
	Has(ctx context.Context, r Record) (bool, error)
}

// Record names a record: a cluster's, a host's, or that of an infra-env.
type Record struct{ ClusterID, InfraEnvID, HostID string }

// AskMemory has the fleet ask before it takes a host that it has no record of: one that was
// installed would be taken for a new one, and installed again. It is called before the hub serves.
func (f *Fleet) AskMemory(m Memory) { f.memory = m }

// Lost tells that the hub has no record of something that is there all the same: it was lost with
// the store, and comes back. Who asks for it is not told that it does not exist: agents of the
// existing kind, and the program inside a cluster, stop for ever at that.
func (f *Fleet) Lost(ctx context.Context, r Record) (bool, error) {
	if f.memory == nil {
		return false, nil
	}
	err := f.units.View(ctx, func(w *settle.Work) (err error) {
		switch {
		case r.ClusterID != "":
			_, err = w.Cluster(r.ClusterID)
		case r.HostID != "":
			_, err = w.Host(store.HostKey{InfraEnvID: r.InfraEnvID, HostID: r.HostID})
		default:
			_, err = w.Env(r.InfraEnvID)
		}
		return err
	})
	if !apierror.IsNotFound(err) {
		return false, err
	}
	lost, err := f.memory.Has(ctx, r)
	if err != nil {
		return false, apierror.Later("the hub has no record of this, and cannot find out whether it had one: %v; ask again", err)
	}
	return lost, nil
}

// Remembered puts off a host that has no record, but was installed, or was being installed, as
// somebody else knows.
func (f *Fleet) Remembered(ctx context.Context, key store.HostKey) error {
	if f.memory == nil {
		return nil
	}
	restored := false
	err := f.units.View(ctx, func(w *settle.Work) error {
		host, err := w.Host(key)
		restored = err == nil && host.Restored
		return err
	})
	if !restored && !apierror.IsNotFound(err) {
		return err
	}
	waitsFor, err := f.memory.Remembers(ctx, key)
	switch {
	case err != nil:
		return apierror.Later("the hub has no record of host %s, or that of a backup, and cannot find out whether it was installed before: %v; it asks again", key.HostID, err)
	case waitsFor != "":
		return apierror.Later("the hub has no record of host %s, or that of a backup, and it was installed before: it is not installed again. It waits for %s", key.HostID, waitsFor)
	}
	return nil
}
