package rest

import (
	"net/http"

	"github.com/ironflow/ironflow/hub/service"
)

// forUsers are the files of a cluster that no agent has a use for, with the reason why they
// are kept from them.
var forUsers = map[string]string{
	"install-config.yaml": "it has the cluster's pull secret, and the hosts' configuration is made of it by the hub",
}

// ofEveryHost are those that any host of the cluster may read: nothing in them opens
// anything. Beside them, a host gets the file of its own role.
var ofEveryHost = map[string]bool{"metadata.json": true}

// needs refuses an agent the files of a cluster that its host does nothing with. All that
// opens the cluster is for its bootstrap host, which brings it up. Agents that have no token
// of their own cannot be told apart, and get what any of them may need.
func (r *request) needs(cluster, file string) error {
	if r.caller.infraEnvID == "" {
		return nil
	}
	if why, ok := forUsers[file]; ok {
		return notForAgents(file, why)
	}
	if ofEveryHost[file] || !r.caller.agent.Own() {
		return nil
	}
	own, err := r.ownHost(cluster)
	switch {
	case err != nil:
		return err
	case own == nil:
		return notFound("there is no cluster %s", cluster)
	case own.Bootstrap || file == string(own.Role)+".ign":
		return nil
	}
	return notForAgents(file, "it is for the bootstrap host of the cluster, which host "+own.ID+" is not")
}

func notForAgents(file, why string) error {
	return &service.Error{Code: http.StatusForbidden, Reason: "file " + clip(file) + " is not handed out to this agent: " + why}
}
