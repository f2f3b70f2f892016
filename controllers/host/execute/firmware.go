package execute

import (
	"context"
	"fmt"

	"github.com/ironflow/ironflow/controllers/host/policy"
)

// readFirmware has the keeper take over what Ironic knows.
func (w *Work) readFirmware(ctx context.Context, action policy.Action) (err error) {
	o, keeper := &w.Known, w.Firmware
	switch a := action.(type) {
	case policy.MakeFirmware:
		err := keeper.Make(ctx, o.Host, o.Node.UUID)
		o.Firmware.Made = err == nil
		return err
	case policy.ReadSettings:
		settings, err := keeper.ReadSettings(ctx, o.Host, o.Node.UUID)
		if err == nil {
			o.Firmware.Settings, o.Firmware.SettingsRead = settings, true
		}
		return err
	case policy.ReadComponents:
		components, err := keeper.ReadComponents(ctx, o.Host, o.Node.UUID, a.Done)
		if err == nil {
			o.Firmware.Components, o.Firmware.ComponentsRead = components, true
		}
		return err
	}
	return fmt.Errorf("action %q has no executor", action.Name())
}
