package clusters

import (
	"cmp"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// ownID makes the stable id of a host's own cluster, so that a hub that lost
// its store gives the same one again.
func ownID(infraEnvID, hostID string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte("ironflow cluster of "+infraEnvID+"/"+hostID)).String()
}

// Own returns the host's own cluster, and makes it when it is not there.
func Own(w *settle.Work, env *store.InfraEnv, host *store.Host) (*store.Cluster, error) {
	id := ownID(host.API.InfraEnvID, host.API.ID)
	if c, err := w.Cluster(id); !apierror.IsNotFound(err) {
		return c, err
	}
	c := New(w, id)
	c.Own, c.AutoInstall, c.Masters = true, true, 1
	c.API.Name = "host-" + host.API.ID[:8]
	c.API.SSHPublicKey, c.API.CPUArchitecture = env.API.SSHAuthorizedKey, env.API.CPUArchitecture
	c.API.HighAvailabilityMode, c.API.ControlPlaneCount = new(wire.ClusterHighAvailabilityModeNone), 1
	c.API.UserManagedNetworking = new(true)
	w.TouchCluster(c)
	return c, nil
}

// RecoverOwn makes a host's own cluster after it was lost with the store: it is
// what the host is.
func RecoverOwn(w *settle.Work, env *store.InfraEnv, host *store.Host) (*store.Cluster, error) {
	c, err := Own(w, env, host)
	if err != nil {
		return nil, err
	}
	was := map[string]string{
		wire.HostStatusInstalled: wire.ClusterStatusInstalled, wire.HostStatusCancelled: wire.ClusterStatusCancelled,
	}[host.API.Status]
	recovered(w, c, cmp.Or(was, wire.ClusterStatusError))
	return c, nil
}

// recovered gives a cluster that is made anew what it has to be for the status that it had.
func recovered(w *settle.Work, c *store.Cluster, was string) bool {
	status, info, ok := clustermachine.Recovered(was)
	if !ok {
		return false
	}
	c.API.Status, c.API.StatusInfo, c.API.StatusUpdatedAt = status, info, w.At()
	if status == wire.ClusterStatusAddingHosts {
		c.API.Kind = wire.ClusterKindAddHostsCluster
		nameAPI(c)
	}
	return true
}
