package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// listAgain is how long a follower waits after an API server did not answer.
const listAgain = 2 * time.Second

// follower keeps up with all objects of some kinds. API servers end a watch every few minutes, and may
// be away for a while: then it begins anew, and nothing that has changed meanwhile is missed.
type follower struct {
	client    client.WithWatch
	kinds     []schema.GroupVersionKind
	namespace string
	// selector and name choose among them; empty for all.
	selector, name string
	// tick has see called though nothing has changed; nil for never.
	tick <-chan time.Time
}

// seen is called first with all objects, and then with those that have changed, of which gone tells those that
// are not there any more. It ends the following by done, or by an error.
type seen func(changed []*unstructured.Unstructured, gone []*unstructured.Unstructured) (done bool, err error)

// ended is an error of seen.
type ended struct{ error }

// run follows until see or the context ends it. What fails at first is an error; what fails later is tried again.
func (f *follower) run(ctx context.Context, see seen) error {
	known := map[string]*unstructured.Unstructured{}
	for first := true; ; first = false {
		done, err := f.once(ctx, known, first, see)
		final, is := errors.AsType[ended](err)
		switch {
		case done:
			return nil
		case is:
			return final.error
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && first:
			return err
		case err == nil:
			continue
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(listAgain):
		}
	}
}

// once reads everything and follows it until a watch ends.
func (f *follower) once(ctx context.Context, known map[string]*unstructured.Unstructured, first bool, see seen) (bool, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	fresh := map[string]*unstructured.Unstructured{}
	events, over := make(chan watch.Event), make(chan struct{})
	var watches sync.WaitGroup
	defer watches.Wait()
	defer stop()
	ends := sync.OnceFunc(func() { close(over) })
	for _, gvk := range f.kinds {
		list, w, err := f.open(ctx, gvk)
		if err != nil {
			return false, err
		}
		for i := range list {
			fresh[keyOf(&list[i])] = &list[i]
		}
		watches.Go(func() {
			defer ends()
			pass(ctx, w, events)
		})
	}
	changed, gone := differences(known, fresh)
	clear(known)
	maps.Copy(known, fresh)
	if first || len(changed)+len(gone) > 0 {
		if done, err := see(changed, gone); done || err != nil {
			return done, final(err)
		}
	}
	for {
		changed, gone = nil, nil
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-over:
			return false, nil
		case <-f.tick:
		case e := <-events:
			changed, gone = apply(known, e)
			if len(changed)+len(gone) == 0 {
				continue
			}
		}
		if done, err := see(changed, gone); done || err != nil {
			return done, final(err)
		}
	}
}

func final(err error) error {
	if err == nil {
		return nil
	}
	return ended{err}
}

// open lists a kind and watches it from there.
func (f *follower) open(ctx context.Context, gvk schema.GroupVersionKind) ([]unstructured.Unstructured, watch.Interface, error) {
	selector, err := labels.Parse(f.selector)
	if err != nil {
		return nil, nil, err
	}
	options := &client.ListOptions{Namespace: f.namespace, LabelSelector: selector}
	if f.name != "" {
		options.FieldSelector = fields.OneTermEqualSelector("metadata.name", f.name)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err := f.client.List(ctx, list, options); err != nil {
		return nil, nil, fmt.Errorf("list %ss: %w", gvk.Kind, err)
	}
	from := options.AsListOptions()
	from.ResourceVersion = list.GetResourceVersion()
	options.Raw = from
	w, err := f.client.Watch(ctx, list, options)
	if err != nil {
		return nil, nil, fmt.Errorf("watch %ss: %w", gvk.Kind, err)
	}
	return list.Items, w, nil
}

// pass hands on what a watch tells, until it ends.
func pass(ctx context.Context, w watch.Interface, to chan<- watch.Event) {
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-w.ResultChan():
			if !open || e.Type == watch.Error {
				return
			}
			select {
			case to <- e:
			case <-ctx.Done():
				return
			}
		}
	}
}

// apply brings an event into what is known.
func apply(known map[string]*unstructured.Unstructured, e watch.Event) (changed, gone []*unstructured.Unstructured) {
	o, is := e.Object.(*unstructured.Unstructured)
	if !is {
		return nil, nil
	}
	switch e.Type {
	case watch.Added, watch.Modified:
		known[keyOf(o)] = o
		return []*unstructured.Unstructured{o}, nil
	case watch.Deleted:
		delete(known, keyOf(o))
		return nil, []*unstructured.Unstructured{o}
	default:
		return nil, nil
	}
}

// differences are what has changed between two lists, sorted.
func differences(before, after map[string]*unstructured.Unstructured) (changed, gone []*unstructured.Unstructured) {
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if was, has := before[key]; !has || was.GetResourceVersion() != after[key].GetResourceVersion() {
			changed = append(changed, after[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, has := after[key]; !has {
			gone = append(gone, before[key])
		}
	}
	return changed, gone
}
