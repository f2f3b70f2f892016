package fleet

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
)

// twinError tells that a registration was refused since another machine is the host.
type twinError struct{ error }

func (t twinError) Unwrap() error { return t.error }

// bind makes the one who registers speak for the host, where it may: the agent of the
// host's own image, or one that brings the host's token, proves that it is the same
// machine. The token of an infra-env's image proves nothing, so a host that is being
// installed and answers stays with the one who speaks for it.
func bind(w *settle.Work, host *store.Host, fresh bool, r Registration) error {
	by, before := r.By, host.Bearer
	switch {
	case by.InfraEnvID == "": // a hub without authentication
		return nil
	case by.HostID != "":
		host.Bearer.Serial, host.Bearer.Exchanged = max(before.Serial, by.Serial), true
		return nil
	case by.Machine != "":
		return bindMachine(w, host, fresh, r)
	case before.Machine != "":
		return apierror.Later("host %s speaks with the token of the image of machine %s; boot it from that image, or remove the host from the hub to let it register from another", host.API.ID, before.Machine)
	}
	if err := unproven(w, host, fresh); err != nil {
		return err
	}
	host.Bearer.Serial, host.Bearer.Exchanged = max(w.Now.UnixMicro(), before.Serial+1), r.WantsToken
	return nil
}

// bindMachine binds the image of a machine to the first host that registers from it.
func bindMachine(w *settle.Work, host *store.Host, fresh bool, r Registration) error {
	machine := r.By.Machine
	switch host.Bearer.Machine {
	case machine:
		return nil
	case "":
	default:
		return twinError{apierror.Later("host %s was registered from the image of machine %s, and another machine registers it from that of %s; give one of them another board serial number, or remove the host from the hub if it is one machine",
			host.API.ID, host.Bearer.Machine, machine)}
	}
	others, err := w.Reader.Hosts(store.HostFilter{InfraEnvID: r.InfraEnvID, Machine: machine, Bare: true})
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.API.ID != host.API.ID {
			return apierror.Later("the image of machine %s belongs to host %s, and host %s registers from it; remove the first from the hub if it is the same machine", machine, other.API.ID, host.API.ID)
		}
	}
	if err := unproven(w, host, fresh); err != nil {
		return err
	}
	host.Bearer.Machine, host.Bearer.Exchanged = machine, false
	return nil
}

// unproven refuses one who cannot prove to be the host while the host is being installed
// and its agent answers. The agent of one that the hub knows to have restarted does not.
func unproven(w *settle.Work, host *store.Host, fresh bool) error {
	if fresh || host.Restarted || !slices.Contains(hostmachine.Installing, host.API.Status) || evaluate.PastReboot(host.Stage()) || !w.Connected(host) {
		return nil
	}
	return apierror.Later("host %s is %s and its agent answers: whoever registers it now does not prove to be that machine; if it has restarted, it is taken once the agent has been silent for %s",
		host.API.ID, host.API.Status, w.Timers.Silence(host.API.Bootstrap))
}

// twinAgain is how often two machines with one id are noted that go on.
const twinAgain = time.Minute

// Twins notes that another machine speaks as this host: neither is installed. seen is when
// that was noted last.
func (f *Fleet) Twins(ctx context.Context, key store.HostKey, why string, seen time.Time) error {
	if f.units.Now().Sub(seen) < twinAgain {
		return nil
	}
	_, err := f.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error { return w.Twins(host, why) })
	return err
}

// refusedTwin notes the twin of a registration that was refused for it.
func (f *Fleet) refusedTwin(ctx context.Context, key store.HostKey, why error) {
	if _, twin := errors.AsType[twinError](why); !twin {
		return
	}
	if err := f.Twins(ctx, key, why.Error(), time.Time{}); err != nil {
		f.units.Log.Warn("two machines with one id could not be noted", "host", key.HostID, "error", err)
	}
}
