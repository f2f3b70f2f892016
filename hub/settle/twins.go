package settle

import (
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// Twins notes that another machine says that it is the host. why names both, for people.
func (w *Work) Twins(host *store.Host, why string) error {
	known := w.Twin(host) != ""
	host.Twin = &store.Twin{SeenAt: w.Now, Why: why}
	w.Touch(host, store.ChangedHost)
	if known {
		return nil
	}
	return w.HostEvent(host, "host_id_not_unique", wire.EventSeverityError, "two machines have the same id: "+why, unit.Props{"message": why})
}
