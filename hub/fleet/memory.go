package fleet

import (
	"context"

	"github.com/ironflow/ironflow/hub/refusal"
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
}

// AskMemory has the fleet ask before it takes a host that it has no record of: one that was
// installed would be taken for a new one, and installed again. It is called before the hub serves.
func (f *Fleet) AskMemory(m Memory) { f.memory = m }

// remembered puts a registration off whose host has no record, but is known elsewhere.
func (f *Fleet) remembered(ctx context.Context, key store.HostKey) error {
	if f.memory == nil {
		return nil
	}
	err := f.units.View(ctx, func(w *settle.Work) error {
		_, err := w.Host(key)
		return err
	})
	if !refusal.IsNotFound(err) {
		return err
	}
	waitsFor, err := f.memory.Remembers(ctx, key)
	switch {
	case err != nil:
		return refusal.Later("the hub has no record of host %s, and cannot find out whether it was installed before: %v; it asks again", key.HostID, err)
	case waitsFor != "":
		return refusal.Later("the hub has no record of host %s, which was installed before: it is not installed again. It waits for %s", key.HostID, waitsFor)
	}
	return nil
}
