package settle

import (
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// announce tells what comes with a host's new status, beside the status itself.
func (w *Work) announce(h *store.Host) error {
	switch h.API.Status {
	case wire.HostStatusInstalling:
		if err := w.HostEvent(h, "host_installation_started", wire.EventSeverityInfo, "the installation starts", nil); err != nil {
			return err
		}
		return w.tellDisks(h)
	case wire.HostStatusCancelled:
		return w.HostEvent(h, "host_installation_cancelled", wire.EventSeverityInfo, "its installation was called off", nil)
	case wire.HostStatusResettingPendingUserAction:
		if err := w.HostEvent(h, "host_installation_reset", wire.EventSeverityInfo, "the installation begins anew", unit.Props{"last_failure": h.Reason}); err != nil {
			return err
		}
		return w.HostEvent(h, "user_required_complete_installation_reset", wire.EventSeverityInfo, "boot it from the live image to complete the reset", nil)
	}
	return nil
}

// tellDisks says which other disks lose what is on them, and which are kept.
func (w *Work) tellDisks(h *store.Host) error {
	c, err := w.ClusterOf(h)
	if err != nil || c == nil {
		return err
	}
	format, keep := instructions.OtherDisks(&h.API, evaluate.Inventory(h), &c.API)
	for _, d := range format {
		err := w.HostEvent(h, "quick_disk_format_performed", wire.EventSeverityInfo, "disk "+d.Name+" is formatted, so that the host does not start from it",
			unit.Props{"disk_name": d.Name, "disk_id": d.ID})
		if err != nil {
			return err
		}
	}
	for _, d := range keep {
		err := w.HostEvent(h, "quick_disk_format_skipped", wire.EventSeverityInfo, "disk "+d.Name+" is kept as it is; the host may start from it",
			unit.Props{"disk_name": d.Name, "disk_id": d.ID})
		if err != nil {
			return err
		}
	}
	return nil
}
