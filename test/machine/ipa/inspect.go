package ipa

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"
)

// inspectFor bounds how long the agent offers its inventory to an Ironic that
// does not wait for it: it may have booted for something else.
const inspectFor = time.Minute

// inspection is what the default collector posts.
type inspection struct {
	Inventory     Inventory     `json:"inventory"`
	RootDisk      *Disk         `json:"root_disk,omitempty"`
	BootInterface *string       `json:"boot_interface"`
	Configuration configuration `json:"configuration"`
	Error         *string       `json:"error"`
	// Logs is the ramdisk's log archive in base64, by the collector "logs".
	Logs []byte `json:"logs,omitempty"`
}

type configuration struct {
	Collectors []string         `json:"collectors"`
	Managers   []managerVersion `json:"managers"`
}

type managerVersion struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// inspect posts the inventory once and returns the node's id.
func (a *agent) inspect(ctx context.Context) (string, error) {
	data := inspection{
		Inventory: a.Inventory, RootDisk: a.Inventory.RootDisk(), BootInterface: a.Inventory.Boot.PXEInterface,
		Configuration: configuration{Collectors: a.Config.Collectors},
	}
	for _, m := range a.managers {
		data.Configuration.Managers = append(data.Configuration.Managers, managerVersion{m.Name(), m.Version()})
	}
	if a.Logs != nil && slices.Contains(a.Config.Collectors, "logs") {
		archive, err := a.Logs(ctx)
		if err != nil {
			a.log.Warn("inventory goes without logs", "error", err)
		}
		data.Logs = archive
	}
	return a.client.continueInspection(ctx, a.Config.InspectionURLs, data)
}

// notWaiting says that Ironic knows no node in inspection with these addresses.
func notWaiting(err error) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.code == http.StatusNotFound
}

// keepOffering posts the inventory until Ironic takes it, gives up for good, or
// sends a command, which means that it booted the machine for something else.
// Ironic powers a machine on before it begins to wait for the inventory, and a
// simulated one can be faster than that.
func (a *agent) keepOffering(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, inspectFor)
	defer cancel()
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.commanded:
			return
		case <-time.After(a.Pace.Inspect):
		}
		switch _, err := a.inspect(ctx); {
		case err == nil:
			a.log.Info("inventory taken")
			return
		case !notWaiting(err) && ctx.Err() == nil:
			a.log.Warn("inventory refused", "error", err)
		}
	}
}
