package rest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func createCluster(r *request) (any, error) {
	var p wire.ClusterCreateParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	release, err := r.release(&p)
	if err != nil {
		return nil, err
	}
	return r.made(r.hub.CreateCluster(r.Context(), p, release))
}

func importCluster(r *request) (any, error) {
	var p wire.ImportClusterParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return r.made(r.hub.ImportCluster(r.Context(), p))
}

func createDisconnectedCluster(r *request) (any, error) {
	var p wire.DisconnectedClusterCreateParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return r.made(r.hub.CreateDisconnectedCluster(r.Context(), p))
}

// release fills in the release image of the version that is asked for, or the version of the image, and returns
// what the image says of itself where it had to be read. A hub without a list of releases takes any version.
func (r *request) release(p *wire.ClusterCreateParams) (*store.Release, error) {
	several := strings.HasSuffix(p.OpenshiftVersion, forSeveral) || strings.HasSuffix(p.OcpReleaseImage, forSeveral)
	if several {
		p.CPUArchitecture = wire.ClusterCPUArchitectureMulti
	}
	if p.OcpReleaseImage != "" {
		return r.releaseOfImage(p)
	}
	catalog, err := r.catalog()
	if err != nil || len(catalog.Images) == 0 || p.OpenshiftVersion == "" {
		return nil, err
	}
	architecture := cmp.Or(p.CPUArchitecture, wire.ClusterCPUArchitectureX8664)
	image, ok := catalog.Find(p.OpenshiftVersion, architecture)
	if !ok {
		return nil, apierror.BadRequest("openshift_version %.40q for %.20s: this hub has %s; see openshift-versions", p.OpenshiftVersion, architecture,
			strings.Join(slices.Sorted(maps.Keys(catalog.Versions("", false))), ", "))
	}
	p.OcpReleaseImage, p.OpenshiftVersion = image.URL, image.Version
	if image.CPUArchitecture == wire.ReleaseImageCPUArchitectureMulti {
		p.CPUArchitecture = cmp.Or(p.CPUArchitecture, wire.ClusterCPUArchitectureMulti)
	}
	return nil, nil
}

// longestRead is how long a request waits for a registry. The image is read on, and the next request finds it.
const longestRead = 45 * time.Second

// releaseOfImage finds out which release the image is; its registry is asked where nobody else knows.
func (r *request) releaseOfImage(p *wire.ClusterCreateParams) (*store.Release, error) {
	ctx, cancel := context.WithTimeout(r.Context(), longestRead)
	defer cancel()
	found, err := r.lookup.Of(ctx, p.OcpReleaseImage, strings.TrimSuffix(p.OpenshiftVersion, forSeveral), p.PullSecret)
	switch {
	case errors.Is(err, lookup.ErrReading):
		return nil, apierror.Later("ocp_release_image: %v; ask again in a moment", err)
	case errors.Is(err, lookup.ErrList):
		return nil, err
	case err != nil:
		return nil, apierror.BadRequest("ocp_release_image: %v", err)
	}
	if found.Release != nil || p.OpenshiftVersion == "" {
		p.OpenshiftVersion = found.Version
	}
	if found.Release != nil && p.CPUArchitecture != "" && !found.Serves(p.CPUArchitecture) {
		return nil, apierror.BadRequest("ocp_release_image %.200s is for %s, cpu_architecture is %.20s: correct one of them",
			p.OcpReleaseImage, strings.Join(found.Release.Architectures, ", "), p.CPUArchitecture)
	}
	return found.Release, nil
}

// forSeveral ends the version, or the tag, of a release for machines of several architectures.
const forSeveral = "-multi"

func listClusters(r *request) (any, error) {
	withHosts, err := r.flag("with_hosts")
	if err != nil {
		return nil, err
	}
	own, err := r.optionalID("openshift_cluster_id")
	if err != nil {
		return nil, err
	}
	removed, err := r.removedToo()
	if err != nil {
		return nil, err
	}
	all := r.clusters(withHosts, own)
	if removed {
		gone, err := r.hub.RemovedClusters(r.Context(), "")
		if err != nil {
			return nil, err
		}
		all = all.and(slices.DeleteFunc(gone, r.leavesOut), own)
	}
	return all, nil
}

// headerRemoved asks for clusters that were removed, too.
const headerRemoved = "get_unregistered_clusters"

// removedToo reads the header that asks for clusters that were removed, too.
func (r *request) removedToo() (bool, error) {
	text := r.Header.Get(headerRemoved)
	if text == "" {
		return false, nil
	}
	v, err := strconv.ParseBool(text)
	if err != nil {
		return false, bad("header %s %q is neither true nor false", headerRemoved, clip(text))
	}
	return v, nil
}

func getCluster(r *request) (any, error) {
	removed, err := r.removedToo()
	if err != nil {
		return nil, err
	}
	id, err := r.cluster()
	if removed && service.IsNotFound(err) {
		return r.removedCluster(id, err) // a user with the role user does not see by its record whose it was
	}
	if err != nil {
		return nil, err
	}
	bare, err := r.flag("exclude-hosts")
	if err != nil {
		return nil, err
	}
	c, err := r.hub.Cluster(r.Context(), id, false)
	if removed && service.IsNotFound(err) {
		return r.removedCluster(id, err)
	}
	if bare {
		return c, err
	}
	return r.withHosts(c, err)
}

// removedCluster is a cluster as it was when it was removed, for a user who may see it; else why it is not there.
func (r *request) removedCluster(id string, why error) (any, error) {
	if r.caller.scope() != "" {
		return nil, why
	}
	gone, err := r.hub.RemovedClusters(r.Context(), id)
	if err != nil {
		return nil, err
	}
	for _, c := range gone {
		if !r.caller.hidesFrom(c.UserName) {
			return c, nil
		}
	}
	return nil, why
}

func updateCluster(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	var p wire.V2ClusterUpdateParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	if revoke, err := r.flag("revoke_token"); err != nil || revoke {
		if err == nil && !reflect.ValueOf(p).IsZero() {
			err = bad("revoke_token revokes the cluster's token and changes nothing else: send {}")
		}
		if err != nil {
			return nil, err
		}
		return r.withHosts(r.hub.RevokeClusterToken(r.Context(), id))
	}
	return r.withHosts(r.hub.UpdateCluster(r.Context(), id, p))
}

func deleteCluster(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	return nil, r.hub.DeleteCluster(r.Context(), id)
}

// clusterAction serves the actions that take nothing but the cluster.
func clusterAction(act func(*service.Hub, context.Context, string) (wire.Cluster, error)) handler {
	return func(r *request) (any, error) {
		id, err := r.cluster()
		if err != nil {
			return nil, err
		}
		return r.withHosts(act(r.hub, r.Context(), id))
	}
}

var (
	installCluster = clusterAction((*service.Hub).StartInstallation)
	cancelCluster  = clusterAction((*service.Hub).CancelInstallation)
	resetCluster   = clusterAction((*service.Hub).ResetCluster)
	allowAddHosts  = clusterAction((*service.Hub).AllowAddHosts)
)

func listClusterHosts(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	inventory, err1 := r.flag("with-inventory")
	connectivity, err2 := r.flag("with-connectivity")
	for _, err := range []error{err1, err2} {
		if err != nil {
			return nil, err
		}
	}
	if _, err := r.hub.Cluster(r.Context(), id, false); err != nil { // an empty list would be taken for an answer
		return nil, err
	}
	filter := store.HostFilter{ClusterID: id, Bare: !inventory && !connectivity}
	if status := r.URL.Query().Get("status"); status != "" {
		filter.Statuses = []string{status}
	}
	role := wire.HostRole(r.URL.Query().Get("role"))
	return r.hosts(filter, func(h wire.Host) any {
		if role != "" && h.Role != role {
			return nil
		}
		if !inventory {
			h.Inventory = ""
		}
		if !connectivity {
			h.Connectivity = ""
		}
		return h
	}), nil
}

func getIgnoredValidations(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	return r.hub.IgnoredValidations(r.Context(), id)
}

func setIgnoredValidations(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	var v wire.IgnoredValidations
	if err := r.body(&v); err != nil {
		return nil, err
	}
	return r.hub.SetIgnoredValidations(r.Context(), id, v)
}
