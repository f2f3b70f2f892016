package unit

import (
	"encoding/json"
	"maps"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Props are an event's details; they must not hold secrets.
type Props map[string]any

// HostEvent puts an event about a host on the timeline and into the log.
func (w *Work) HostEvent(h *store.Host, name, severity, message string, p Props) error {
	all := Props{"host_id": h.API.ID, "infra_env_id": h.API.InfraEnvID, "host_name": h.API.RequestedHostname}
	if id := h.ClusterID(); id != "" {
		all["cluster_id"] = id
	}
	maps.Copy(all, p)
	e := wire.Event{
		Name: name, Severity: severity, Message: "Host " + w.nameOf(h) + ": " + message,
		HostID: &h.API.ID, InfraEnvID: &h.API.InfraEnvID, ClusterID: h.API.ClusterID,
	}
	return w.event(e, all)
}

// named is a host's name with the inventory that it was read from.
type named struct{ inventory, name string }

// nameOf is the name that a person knows the host by. An inventory is decoded once for all
// events of the unit: a host that boots costs a quarter more without that (BenchmarkBoot of package service).
func (w *Work) nameOf(h *store.Host) string {
	if h.API.RequestedHostname != "" || h.API.Inventory == "" {
		return evaluate.HostName(h)
	}
	known := w.names[h.Key()]
	if known.inventory != h.API.Inventory {
		known = named{h.API.Inventory, evaluate.HostName(h)}
		w.names[h.Key()] = known
	}
	return known.name
}

// ClusterEvent puts an event about a cluster on the timeline and into the log.
func (w *Work) ClusterEvent(c *store.Cluster, name, severity, message string, p Props) error {
	all := Props{"cluster_id": c.API.ID}
	maps.Copy(all, p)
	return w.event(wire.Event{Name: name, Severity: severity, Message: "Cluster " + c.API.Name + ": " + message, ClusterID: &c.API.ID}, all)
}

// EnvEvent puts an event about an infra-env on the timeline and into the log.
func (w *Work) EnvEvent(e *store.InfraEnv, name, severity, message string, p Props) error {
	all := Props{"infra_env_id": e.API.ID}
	maps.Copy(all, p)
	return w.event(wire.Event{Name: name, Severity: severity, Message: "Infra-env " + e.API.Name + ": " + message, InfraEnvID: &e.API.ID}, all)
}

func (w *Work) event(e wire.Event, p Props) error {
	raw, err := json.Marshal(p)
	if err != nil {
		return err
	}
	e.Category, e.EventTime, e.Props = wire.EventCategoryUser, w.At(), string(raw)
	w.Log(e.Message, "event", e.Name, "severity", e.Severity, "details", p)
	w.unit.Events = append(w.unit.Events, e)
	return nil
}
