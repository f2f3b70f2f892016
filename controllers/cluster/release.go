package cluster

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/service"
)

// release is the one of the image set, with the version that the hub's list, the image's tag or its registry says.
// The pull secret was read before: a registry is asked with it.
func (r *reconciler) release(ctx context.Context, w *wish) error {
	ref := w.aci.Spec.ImageSetRef
	if ref == nil || ref.Name == "" {
		return nil
	}
	set := &hivev1.ClusterImageSet{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: ref.Name}, set); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return reconcile.WaitFor(lookAgain, "ClusterImageSet %s to be created", ref.Name)
		}
		return err
	}
	image := set.Spec.ReleaseImage
	w.spec.ReleaseImage = image
	if known, err := r.foundBefore(ctx, w.spec.ID, image); err != nil || known != "" {
		w.spec.Version = known
		return err
	}
	found, err := r.releases.Ask(image, "", w.spec.PullSecret)
	failed, retried := errors.AsType[*lookup.Failed](err)
	switch {
	case errors.Is(err, lookup.ErrReading):
		return reconcile.WaitFor(lookAgain, "release image %.200s of ClusterImageSet %s to be read from its registry", image, ref.Name)
	case retried:
		return reconcile.WaitFor(failed.After, "a registry that gives ClusterImageSet %s: %v; correct what is named there, or add the image to the file of --hub-releases-file: it is tried again by itself", ref.Name, err)
	case err != nil:
		return wrong("ClusterImageSet %s: %w", ref.Name, err)
	case found.Version == "":
		return wrong("ClusterImageSet %s: which version release image %.200s has is not known: add it to the file of --hub-releases-file, name it by its tag, or have it read from its registry with --hub-release-lookup needed",
			ref.Name, image)
	}
	w.spec.Version, w.spec.Release = found.Version, found.Release
	return nil
}

// foundBefore is the version that the hub's list has for the image, or the cluster's record: what was found out once is
// neither asked for again nor doubted. A tag that means something else meanwhile changes no cluster.
func (r *reconciler) foundBefore(ctx context.Context, id, image string) (string, error) {
	listed, err := r.releases.Listed(image)
	if err != nil {
		return "", &reconcile.Unavailable{What: "the hub's list of releases", Err: err}
	}
	record, err := r.hub.Cluster(ctx, id, false)
	switch {
	case listed != "" || service.IsNotFound(err):
		return listed, nil
	case err != nil:
		return "", hubError(err)
	case record.OcpReleaseImage != image:
		return "", nil
	}
	return record.OpenshiftVersion, nil
}
