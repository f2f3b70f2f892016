package settle

import (
	"context"

	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/jobs"
	"github.com/ironflow/ironflow/hub/judge"
	"github.com/ironflow/ironflow/hub/refusal"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// prepareJob is the job that proves that the Ignition of a cluster's hosts can be
// made. Its subject is the cluster.
const prepareJob = "prepare"

// Jobs are the slow work that units want.
func (u *Units) Jobs() map[string]jobs.Kind {
	return map[string]jobs.Kind{prepareJob: {Do: u.proveIgnition, End: u.prepared}}
}

// IgnitionOf is what a host's own configuration depends on.
func IgnitionOf(h *store.Host, c *store.Cluster) ignition.Host {
	return ignition.Host{
		ClusterID: c.API.ID, Role: string(h.API.Role), Hostname: validations.Hostname(&h.API, judge.Inventory(h)),
		SSHKey: c.API.SSHPublicKey, Override: h.API.IgnitionConfigOverrides, Pointer: pointerOf(h, c),
	}
}

// pointerOf says where a host that joins an installed cluster gets its configuration;
// nil for others. In a cluster without a release that the hub made, nobody hands one out.
func pointerOf(h *store.Host, c *store.Cluster) *ignition.Pointer {
	url := instructions.EndpointURL(&c.API, h.API.MachineConfigPoolName)
	elsewhere := c.API.Imported != nil && *c.API.Imported
	if !instructions.IsDayTwo(&c.API) || c.API.OpenshiftVersion == "" && !elsewhere || url == "" {
		return nil
	}
	p := &ignition.Pointer{URL: url}
	if e := c.API.IgnitionEndpoint; e != nil {
		p.CA = wire.Value(e.CaCertificate)
	}
	if h.EndpointToken != "" {
		p.Headers = append(p.Headers, ignition.Header{Name: "Authorization", Value: "Bearer " + h.EndpointToken})
	}
	for _, given := range h.EndpointHeaders {
		p.Headers = append(p.Headers, ignition.Header{Name: given.Key, Value: given.Value})
	}
	return p
}

// proveIgnition makes the Ignition of each of the cluster's hosts. That it cannot be
// made is an outcome: it is the person's turn, or the source's.
func (u *Units) proveIgnition(ctx context.Context, j store.Job) (any, error) {
	type wanted struct {
		name string
		of   ignition.Host
	}
	var all []wanted
	err := u.View(ctx, func(w *Work) error {
		c, err := w.Cluster(j.Subject)
		if err != nil {
			return err
		}
		hosts, err := w.HostsOf(j.Subject)
		for _, h := range hosts {
			all = append(all, wanted{judge.HostName(h), IgnitionOf(h, c)})
		}
		return err
	})
	if err != nil && !refusal.IsNotFound(err) {
		return nil, err
	}
	for _, h := range all {
		_, err := ignition.Render(ctx, u.Ignition, h.of)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			return wire.LastInstallationPreparation{ //nolint:nilerr // the failure is the outcome
				Status: wire.LastInstallationPreparationStatusFailed, Reason: "Ignition of host " + h.name + ": " + err.Error(),
			}, nil
		}
	}
	return wire.LastInstallationPreparation{Status: wire.LastInstallationPreparationStatusSuccess}, nil
}

// prepared notes the outcome; what follows from it is the cluster machine's.
func (u *Units) prepared(ctx context.Context, j store.Job, outcome any, failure error) error {
	result, ok := outcome.(wire.LastInstallationPreparation)
	if failure != nil || !ok {
		result = wire.LastInstallationPreparation{Status: wire.LastInstallationPreparationStatusFailed, Reason: "the hub could not prepare it"}
	}
	if failure != nil {
		result.Reason += ": " + failure.Error()
	}
	return u.Update(ctx, func(w *Work) error {
		if mine, err := w.Ended(j); err != nil || !mine {
			return err
		}
		c, err := w.Cluster(j.Subject)
		if refusal.IsNotFound(err) {
			return nil
		}
		if err != nil || c.API.Status != wire.ClusterStatusPreparingForInstallation {
			return err
		}
		c.API.LastInstallationPreparation = result
		w.TouchCluster(c)
		if result.Status != wire.LastInstallationPreparationStatusFailed {
			return nil
		}
		return w.ClusterEvent(c, "prepare_installation_failed", wire.EventSeverityWarning, result.Reason, unit.Props{"error": result.Reason})
	})
}
