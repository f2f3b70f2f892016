package migrate

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/resources"
)

// indexed are the indexes that the host controller has its cache keep. Neither an API
// server nor the check's client has them.
var indexed = map[string]client.IndexerFunc{
	resources.HeldIndex:    resources.IndexHeld,
	resources.NamedIndex:   resources.IndexNamed,
	resources.MachineIndex: resources.IndexMachines,
}

// indexes answers lists by an index: what a namespace has of a kind is read once.
type indexes struct {
	read map[string][]runtime.Object // by kind and namespace
}

// List reads a list. It has the form of an interceptor.
func (x *indexes) List(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	var o client.ListOptions
	o.ApplyOptions(options)
	if o.FieldSelector == nil || len(o.FieldSelector.Requirements()) != 1 {
		return c.List(ctx, list, options...)
	}
	wanted := o.FieldSelector.Requirements()[0]
	valuesOf, ours := indexed[wanted.Field]
	if !ours {
		return c.List(ctx, list, options...)
	}
	all, err := x.all(ctx, c, list, o.Namespace)
	if err != nil {
		return err
	}
	var found []runtime.Object
	for _, item := range all {
		if object, ok := item.(client.Object); ok && slices.Contains(valuesOf(object), wanted.Value) {
			found = append(found, item)
		}
	}
	return meta.SetList(list, found)
}

// all reads what a namespace has of the list's kind, the first time that it is asked for.
func (x *indexes) all(ctx context.Context, c client.WithWatch, list client.ObjectList, namespace string) ([]runtime.Object, error) {
	key := reflect.TypeOf(list).String() + " " + namespace
	if all, there := x.read[key]; there {
		return all, nil
	}
	// Other hosts of a machine may be anywhere; those that may not be read are not known.
	err := c.List(ctx, list, client.InNamespace(namespace))
	if err != nil && (namespace != "" || !apierrors.IsForbidden(err)) {
		return nil, err
	}
	all, err := meta.ExtractList(list)
	if err != nil {
		return nil, fmt.Errorf("read a list of %T: %w", list, err)
	}
	if x.read == nil {
		x.read = map[string][]runtime.Object{}
	}
	x.read[key] = all
	return all, nil
}
