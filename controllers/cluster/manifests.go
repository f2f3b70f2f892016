package cluster

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// manifestMaps names the ConfigMaps with manifests, in order.
func manifestMaps(aci *hiveextv1.AgentClusterInstall) []string {
	var all []string
	if ref := aci.Spec.ManifestsConfigMapRef; ref != nil && ref.Name != "" {
		all = append(all, ref.Name)
	}
	for _, ref := range aci.Spec.ManifestsConfigMapRefs {
		if !slices.Contains(all, ref.Name) {
			all = append(all, ref.Name)
		}
	}
	return all
}

// manifests are those of the ConfigMaps: each of their keys is a file.
func (r *reconciler) manifests(ctx context.Context, w *wish) error {
	for i, ref := range w.aci.Spec.ManifestsConfigMapRefs {
		if ref.Name == "" {
			return wrong("AgentClusterInstall spec.manifestsConfigMapRefs[%d].name is empty: name a ConfigMap, or take the entry away", i)
		}
	}
	from := map[string]string{}
	for _, name := range manifestMaps(w.aci) {
		files := &corev1.ConfigMap{}
		switch err := r.secrets.Live.Get(ctx, types.NamespacedName{Namespace: w.aci.Namespace, Name: name}, files); {
		case apierrors.IsNotFound(err):
			return reconcile.WaitFor(lookAgain, "ConfigMap %s/%s of spec.manifestsConfigMapRefs to be created", w.aci.Namespace, name)
		case err != nil:
			return err
		case len(files.BinaryData) > 0:
			return wrong("ConfigMap %s/%s of spec.manifestsConfigMapRefs has binaryData: put the manifests into data", w.aci.Namespace, name)
		}
		for _, file := range slices.Sorted(maps.Keys(files.Data)) {
			if other, twice := from[file]; twice {
				return wrong("ConfigMaps %s and %s of spec.manifestsConfigMapRefs both have a file %s: rename one", other, name, file)
			}
			from[file] = name
			w.spec.Manifests = append(w.spec.Manifests, sources.Manifest{Folder: wire.ManifestFolderOpenshift, Name: file, Content: []byte(files.Data[file])})
		}
	}
	return nil
}
