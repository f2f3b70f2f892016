package service

import (
	"context"
	"encoding/json"
	"maps"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// props are an event's details; they must not hold secrets.
type props map[string]any

// hostEvent puts an event about a host on the timeline and into the log.
func (w *work) hostEvent(h *store.Host, name, severity, message string, p props) error {
	all := props{"host_id": h.API.ID, "infra_env_id": h.API.InfraEnvID, "host_name": h.API.RequestedHostname}
	if id := h.ClusterID(); id != "" {
		all["cluster_id"] = id
	}
	maps.Copy(all, p)
	e := wire.Event{
		Name: name, Severity: severity, Message: "Host " + HostName(h) + ": " + message,
		HostID: &h.API.ID, InfraEnvID: &h.API.InfraEnvID, ClusterID: h.API.ClusterID,
	}
	return w.event(e, all)
}

// clusterEvent puts an event about a cluster on the timeline and into the log.
func (w *work) clusterEvent(c *store.Cluster, name, severity, message string, p props) error {
	all := props{"cluster_id": c.API.ID}
	maps.Copy(all, p)
	return w.event(wire.Event{Name: name, Severity: severity, Message: "Cluster " + c.API.Name + ": " + message, ClusterID: &c.API.ID}, all)
}

// envEvent puts an event about an infra-env on the timeline and into the log.
func (w *work) envEvent(e *store.InfraEnv, name, severity, message string, p props) error {
	all := props{"infra_env_id": e.API.ID}
	maps.Copy(all, p)
	return w.event(wire.Event{Name: name, Severity: severity, Message: "Infra-env " + e.API.Name + ": " + message, InfraEnvID: &e.API.ID}, all)
}

func (w *work) event(e wire.Event, p props) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	e.Category, e.EventTime, e.Props = wire.EventCategoryUser, w.at(), string(raw)
	w.lines = append(w.lines, line{e.Message, []any{"event", e.Name, "severity", e.Severity, "details", p}})
	w.unit.Events = append(w.unit.Events, e)
	return nil
}

// Events returns the selected part of the timeline and how many events there
// are of each severity.
func (h *Hub) Events(ctx context.Context, f store.EventFilter) (wire.EventList, map[string]int, error) {
	out := wire.EventList{}
	var counts map[string]int
	err := h.view(ctx, func(r *store.Reader) error {
		found, n, err := r.Events(f)
		counts = n
		for _, e := range found {
			out = append(out, e.Event)
		}
		return err
	})
	return out, counts, err
}

// AddEvent appends an event that somebody else saw.
func (h *Hub) AddEvent(ctx context.Context, e wire.Event) error {
	if e.Message == "" || e.Severity == "" {
		return badRequest("an event needs a message and a severity")
	}
	if e.EventTime.IsZero() {
		e.EventTime = wire.At(h.now())
	}
	return h.store.Commit(ctx, &store.Unit{Events: []wire.Event{e}})
}
