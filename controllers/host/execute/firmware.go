package execute

import (
	"context"
	"errors"
	"fmt"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// readFirmware has the keeper take over what Ironic knows.
func (w *Work) readFirmware(ctx context.Context, action policy.Action) (err error) {
	o, keeper := &w.Known, w.Firmware
	switch a := action.(type) {
	case nodeaction.MakeFirmware:
		err := keeper.Make(ctx, o.Host, a.Node().UUID)
		o.Firmware.Made = err == nil
		return err
	case nodeaction.ReadSettings:
		settings, err := keeper.ReadSettings(ctx, o.Host, a.Node().UUID)
		switch s := o.Firmware.Settings; {
		case err == nil:
			o.Firmware.Settings, o.Firmware.SettingsRead = settings, true
		case refused(err) && s != nil && len(s.Spec.Settings) == 0:
			o.Firmware.SettingsRead, err = true, nil
		}
		return err
	case nodeaction.ReadComponents:
		components, err := keeper.ReadComponents(ctx, o.Host, a.Node().UUID, a.Done)
		switch c := o.Firmware.Components; {
		case err == nil:
			o.Firmware.Components, o.Firmware.ComponentsRead = components, true
		case refused(err) && a.Done.Updates == nil && c != nil && len(c.Spec.Updates) == 0:
			o.Firmware.ComponentsRead, err = true, nil
		}
		return err
	}
	return fmt.Errorf("action %q has no executor", action.Name())
}

// refused reports an answer of an Ironic that does not tell of a machine's firmware. A host
// that wishes for nothing goes on without; the firmware controller tries again.
func refused(err error) bool {
	unanswered, is := errors.AsType[*ironic.Error](err)
	return is && (unanswered.Kind == ironic.Rejected || unanswered.Kind == ironic.Gone)
}
