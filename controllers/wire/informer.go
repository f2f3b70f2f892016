package wire

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// MakeInformer is what [cache.Options] want as NewInformer.
type MakeInformer = func(toolscache.ListerWatcher, runtime.Object, time.Duration, toolscache.Indexers) toolscache.SharedIndexInformer

// NewInformer makes the informers of a cache: those of the API group read their
// watch as described in the package comment, all others as ever. What the watch
// delivers has no managedFields; so that what was listed has none either, the cache
// strips them ([cache.TransformStripManagedFields]). It is nil, which
// leaves all of them as they are, for a cache that holds only some namespaces or
// labels: such a watch is the library's to put together.
func NewInformer(config *rest.Config, o cache.Options, group schema.GroupVersion) (MakeInformer, error) {
	if len(o.DefaultNamespaces) > 0 || o.DefaultLabelSelector != nil || o.DefaultFieldSelector != nil || len(o.ByObject) > 0 {
		return nil, nil
	}
	config = rest.CopyConfig(config)
	config.APIPath, config.GroupVersion = "/apis", &group
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeJSON, runtime.ContentTypeJSON
	config.NegotiatedSerializer = newCodecs(o.Scheme)
	if o.HTTPClient == nil {
		connections, err := rest.HTTPClientFor(config)
		if err != nil {
			return nil, fmt.Errorf("watch %s: %w", group, err)
		}
		o.HTTPClient = connections
	}
	access, err := rest.RESTClientForConfigAndClient(config, o.HTTPClient)
	if err != nil {
		return nil, fmt.Errorf("watch %s: %w", group, err)
	}
	parameters := runtime.NewParameterCodec(o.Scheme)
	return func(lw toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
		if resource, ours := resourceOf(object, o.Scheme, o.Mapper, group); ours {
			lw = &toolscache.ListWatch{
				ListWithContextFunc: toolscache.ToListerWatcherWithContext(lw).ListWithContext,
				WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
					options.Watch = true
					return access.Get().Resource(resource).VersionedParams(&options, parameters).Watch(ctx)
				},
			}
		}
		return toolscache.NewSharedIndexInformer(lw, object, resync, indexers)
	}, nil
}

// resourceOf is the resource of an object whose Go type belongs to the group.
func resourceOf(object runtime.Object, scheme *runtime.Scheme, mapper meta.RESTMapper, group schema.GroupVersion) (string, bool) {
	kinds, _, err := scheme.ObjectKinds(object)
	if err != nil || len(kinds) != 1 || kinds[0].GroupVersion() != group {
		return "", false
	}
	mapping, err := mapper.RESTMapping(kinds[0].GroupKind(), kinds[0].Version)
	if err != nil {
		return "", false
	}
	return mapping.Resource.Resource, true
}
