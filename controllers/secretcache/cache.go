package secretcache

import (
	"context"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/ironflow/ironflow/api/names"
)

// split is a cache whose objects come from two: what is asked of the metadata of
// Secrets from others, everything else from the one that is embedded.
type split struct {
	cache.Cache
	others cache.Cache
}

// New is a manager's NewCache: labelled Secrets are cached whole, others by
// their metadata, without annotations, which may hold what was applied.
func New(config *rest.Config, o cache.Options) (cache.Cache, error) {
	labelled, unlabelled, err := selectors()
	if err != nil {
		return nil, err
	}
	byName := o
	byName.ByObject, byName.DefaultLabelSelector, byName.DefaultTransform = nil, unlabelled, bare
	byObject := map[client.Object]cache.ByObject{}
	maps.Copy(byObject, o.ByObject)
	byObject[&corev1.Secret{}] = cache.ByObject{Label: labelled}
	o.ByObject = byObject
	whole, err := cache.New(config, o)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	others, err := cache.New(config, byName)
	if err != nil {
		return nil, fmt.Errorf("cache of the names of Secrets: %w", err)
	}
	return &split{Cache: whole, others: others}, nil
}

// selectors are of Secrets that are in use, and of all others.
func selectors() (labelled, unlabelled labels.Selector, err error) {
	is, err := labels.NewRequirement(names.EnvironmentLabel, selection.Equals, []string{names.EnvironmentValue})
	if err != nil {
		return nil, nil, err
	}
	isNot, err := labels.NewRequirement(names.EnvironmentLabel, selection.NotEquals, []string{names.EnvironmentValue})
	if err != nil {
		return nil, nil, err
	}
	return labels.NewSelector().Add(*is), labels.NewSelector().Add(*isNot), nil
}

// bare keeps of an object what tells that it has changed.
func bare(object any) (any, error) {
	if m, ok := object.(*metav1.PartialObjectMetadata); ok {
		m.ObjectMeta = metav1.ObjectMeta{
			Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Labels: m.Labels, DeletionTimestamp: m.DeletionTimestamp,
		}
	}
	return object, nil
}

// Unlabelled lets the events of Secrets through that are not cached whole. A
// controller watches both:
//
//	Watches(&corev1.Secret{}, wake).
//	WatchesMetadata(&corev1.Secret{}, wake, builder.WithPredicates(secretcache.Unlabelled))
//
// The first tells of a labelled one when the cache has its new content; the second
// of any other, which is then read from the API server.
var Unlabelled = predicate.NewPredicateFuncs(func(o client.Object) bool {
	return o.GetLabels()[names.EnvironmentLabel] != names.EnvironmentValue
})

// of is the cache that an object comes from.
func (s *split) of(object any) cache.Cache {
	var kind string
	switch o := object.(type) {
	case *metav1.PartialObjectMetadata:
		kind = o.Kind
	case *metav1.PartialObjectMetadataList:
		kind = o.Kind
	}
	if kind == "Secret" || kind == "SecretList" {
		return s.others
	}
	return s.Cache
}

// Get implements client.Reader.
func (s *split) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	return s.of(o).Get(ctx, key, o, opts...)
}

// List implements client.Reader.
func (s *split) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	return s.of(list).List(ctx, list, opts...)
}

// GetInformer implements cache.Informers.
func (s *split) GetInformer(ctx context.Context, o client.Object, opts ...cache.InformerGetOption) (cache.Informer, error) {
	return s.of(o).GetInformer(ctx, o, opts...)
}

// RemoveInformer implements cache.Informers.
func (s *split) RemoveInformer(ctx context.Context, o client.Object) error {
	return s.of(o).RemoveInformer(ctx, o)
}

// Start implements cache.Informers: the end of one is the end of both.
func (s *split) Start(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	others := make(chan error, 1)
	go func() {
		defer stop()
		others <- s.others.Start(ctx)
	}()
	err := s.Cache.Start(ctx)
	stop()
	return errors.Join(err, <-others)
}

// WaitForCacheSync implements cache.Informers.
func (s *split) WaitForCacheSync(ctx context.Context) bool {
	return s.Cache.WaitForCacheSync(ctx) && s.others.WaitForCacheSync(ctx)
}
