package rest

import (
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// lost answers an agent, or the program inside a cluster, that asks for what the hub has no record
// of, while its object is there: it is asked to come again, since the record does. A host whose
// disk nobody has touched comes back by registering, so it is told to. Whatever else is asked for
// is not there, as why says.
func (r *request) lost(why error) (any, error) {
	if r.caller.user != "" && r.caller.user != anybody {
		return nil, why
	}
	asked, ok := r.askedFor()
	if !ok {
		return nil, why
	}
	lost, err := r.hub.Lost(r.Context(), asked)
	if err != nil || !lost {
		return nil, orElse(err, why)
	}
	if r.operationID != "v2GetNextSteps" {
		return nil, apierror.Later("the hub has lost its record of this, which comes back from its object in Kubernetes; ask again")
	}
	key := store.HostKey{InfraEnvID: asked.InfraEnvID, HostID: asked.HostID}
	if err := r.hub.Remembered(r.Context(), key); err != nil {
		return nil, err
	}
	return wire.Steps{PostStepAction: new(wire.StepsPostStepActionExit)}, nil
}

// askedFor is the record that the path names, if it is one that the caller may ask for.
func (r *request) askedFor() (asked service.Record, ok bool) {
	for name, into := range map[string]*string{"cluster_id": &asked.ClusterID, "infra_env_id": &asked.InfraEnvID, "host_id": &asked.HostID} {
		text := strings.ToLower(r.PathValue(name))
		if text != "" && uuid.Validate(text) != nil {
			return asked, false
		}
		*into = text
	}
	own := r.caller
	switch {
	case asked.ClusterID != "":
		return asked, own.clusterID == "" || own.clusterID == asked.ClusterID
	case asked.InfraEnvID == "":
		return asked, false
	}
	return asked, (own.infraEnvID == "" || own.infraEnvID == asked.InfraEnvID) && (own.agent.HostID == "" || own.agent.HostID == asked.HostID)
}

func orElse(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
