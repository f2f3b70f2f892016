package fleet

import (
	"context"
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// resets forget what a validation was judged by, so that the host is asked again.
var resets = map[wire.HostValidationID]func(*wire.Host){
	wire.HostValidationIDSufficientInstallationDiskSpeed: func(h *wire.Host) { h.DisksInfo = "" },
	wire.HostValidationIDContainerImagesAvailable:        func(h *wire.Host) { h.ImagesStatus = "" },
}

// ResetValidation has a check of the host done anew; only before an installation.
func (f *Fleet) ResetValidation(ctx context.Context, key store.HostKey, id string) (wire.Host, error) {
	reset := resets[wire.HostValidationID(id)]
	if reset == nil {
		return wire.Host{}, apierror.BadRequest("validation %.80q cannot be reset; %s and %s can",
			id, wire.HostValidationIDSufficientInstallationDiskSpeed, wire.HostValidationIDContainerImagesAvailable)
	}
	return f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		if !slices.Contains(hostmachine.PreInstall, host.API.Status) {
			return apierror.Conflict("host %s is %s; its checks are over", evaluate.HostName(host), host.API.Status)
		}
		reset(&host.API)
		w.Touch(host, store.ChangedHost)
		return nil
	})
}
