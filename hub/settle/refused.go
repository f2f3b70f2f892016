package settle

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/wire"
)

// Refused puts a call that was refused on the timeline; the refusal itself left
// nothing behind. Calls about what does not exist, and those that may work when they
// are repeated, are not noted. The event needs a name, a message, and what it is about.
func (u *Units) Refused(ctx context.Context, why error, e wire.Event, p unit.Props) {
	if why == nil || apierror.Code(why) >= http.StatusInternalServerError || apierror.Code(why) == http.StatusNotFound {
		return
	}
	u.tell(ctx, why, wire.EventSeverityError, e, p)
}

// PutOff puts a call on the timeline that may work later, by what its caller is told.
func (u *Units) PutOff(ctx context.Context, why error, e wire.Event, p unit.Props) {
	u.tell(ctx, why, wire.EventSeverityWarning, e, p)
}

func (u *Units) tell(ctx context.Context, why error, severity string, e wire.Event, p unit.Props) {
	for key, id := range map[string]*string{"host_id": e.HostID, "infra_env_id": e.InfraEnvID, "cluster_id": e.ClusterID} {
		if id != nil {
			p[key] = *id
		}
	}
	e.Severity, e.Category = severity, wire.EventCategoryUser
	e.Message += ": " + why.Error()
	raw, err := json.Marshal(p)
	if err == nil {
		e.Props = string(raw)
		e.EventTime = wire.At(u.Now())
		err = u.Store.Commit(ctx, &store.Unit{Events: []wire.Event{e}})
	}
	if err != nil {
		u.Log.Error("an event was lost", "event", e.Name, "error", err)
	}
}
