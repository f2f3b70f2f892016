package rest

import (
	"strconv"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Headers of a list of events.
var severityHeaders = map[string]string{
	wire.EventSeverityInfo: "Severity-Count-Info", wire.EventSeverityWarning: "Severity-Count-Warning",
	wire.EventSeverityError: "Severity-Count-Error", wire.EventSeverityCritical: "Severity-Count-Critical",
}

func listEvents(r *request) (any, error) {
	f, err := eventFilter(r)
	if err != nil {
		return nil, err
	}
	events, counts, err := r.events(f)
	if err != nil {
		return nil, err
	}
	total := 0
	for severity, header := range severityHeaders {
		r.w.Header().Set(header, strconv.Itoa(counts[severity]))
		total += counts[severity]
	}
	r.w.Header().Set("Event-Count", strconv.Itoa(total))
	return events, nil
}

func eventFilter(r *request) (store.EventFilter, error) {
	q := r.URL.Query()
	f := store.EventFilter{
		HostIDs: r.list("host_ids"), Severities: r.list("severities"), Categories: r.list("categories"),
		Message: q.Get("message"), Descending: q.Get("order") == "descending",
	}
	var err error
	for name, into := range map[string]*string{"cluster_id": &f.ClusterID, "infra_env_id": &f.InfraEnvID} {
		if *into, err = r.optionalID(name); err != nil {
			return f, err
		}
	}
	if own := r.caller.infraEnvID; own != "" && f.InfraEnvID != own {
		return f, notFound("this token opens the events of infra-env %s only: ask with infra_env_id=%s", own, own)
	}
	if own := r.caller.clusterID; own != "" && f.ClusterID != own {
		return f, notFound("this token opens the events of cluster %s only: ask with cluster_id=%s", own, own)
	}
	if err := r.ownEvents(f.ClusterID, f.InfraEnvID); err != nil {
		return f, err
	}
	for i, id := range f.HostIDs {
		if f.HostIDs[i], err = asID("host_ids", id); err != nil {
			return f, err
		}
	}
	host, err := r.optionalID("host_id")
	if err != nil {
		return f, err
	}
	if host != "" {
		f.HostIDs = append(f.HostIDs, host)
	}
	for name, into := range map[string]*bool{"cluster_level": &f.ClusterLevel, "deleted_hosts": &f.DeletedHosts} {
		if *into, err = r.flag(name); err != nil {
			return f, err
		}
	}
	for name, into := range map[string]*int{"limit": &f.Limit, "offset": &f.Offset} {
		n, err := r.number(name)
		if err != nil {
			return f, err
		}
		*into = int(min(n, 1<<30))
	}
	return f, nil
}
