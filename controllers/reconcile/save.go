package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/wire"
)

// Saver remembers how an object was read and writes what has changed since, as
// merge patches with the resource version that was read: a change made from a
// stale copy is refused by the API server instead of undoing somebody's work.
// Nothing is sent when nothing has changed.
type Saver[T client.Object] struct {
	// Whole sends the complete status the next time, whatever has changed. It is
	// for kinds with required status members that have no status yet.
	Whole bool
	// Also are members of the status that its type lacks, sent with the whole of it the
	// next time. The API server stores those that its schema has.
	Also Unknown

	client client.Client
	before T
}

// NewSaver remembers obj as it is now. The copy is deep.
func NewSaver[T client.Object](c client.Client, obj T) *Saver[T] {
	return &Saver[T]{client: c, before: clone(obj)}
}

// Before returns the object as it was read or last saved. It must not be changed.
func (s *Saver[T]) Before() T { return s.before }

// Changed reports whether obj's status differs from what was last saved, in what is
// written of it. What cannot be compared counts as changed: Status says why.
func (s *Saver[T]) Changed(obj T) bool {
	patch, err := s.statusPatch(obj)
	return patch != nil || err != nil
}

// Status writes the status subresource if the status differs from what was last
// saved. obj gets the new resource version; its own metadata and spec stay as they are.
func (s *Saver[T]) Status(ctx context.Context, obj T) (written bool, err error) {
	if written, err = s.writeStatus(ctx, obj); written {
		s.before, s.Whole, s.Also = clone(obj), false, nil
	}
	return written, err
}

// SaveStatus writes the status subresource if the status differs between before and after,
// as a [Saver] does. It is for who writes once, and copies neither.
func SaveStatus[T client.Object](ctx context.Context, c client.Client, before, after T) error {
	s := Saver[T]{client: c, before: before}
	_, err := s.writeStatus(ctx, after)
	return err
}

// writeStatus is Status, but for what is remembered.
func (s *Saver[T]) writeStatus(ctx context.Context, obj T) (written bool, err error) {
	patch, err := s.statusPatch(obj)
	if err != nil {
		return false, fmt.Errorf("compute status patch of %s: %w", client.ObjectKeyFromObject(obj), err)
	}
	if patch == nil {
		return false, nil
	}
	answer := shell(obj)
	if ctx, err = s.brief(ctx, obj); err != nil {
		return false, err
	}
	if err := s.client.Status().Patch(ctx, answer, patch); err != nil {
		return false, fmt.Errorf("save status of %s: %w", client.ObjectKeyFromObject(obj), err)
	}
	obj.SetResourceVersion(answer.GetResourceVersion())
	return true, nil
}

// statusPatch returns the difference to what was last saved, or all of the
// status; nil for no difference.
func (s *Saver[T]) statusPatch(obj T) (client.Patch, error) {
	var status json.RawMessage
	var err error
	if s.Whole {
		status, err = statusJSON(obj)
	} else {
		status, err = statusDifference(s.before, obj)
	}
	if err == nil && len(s.Also) > 0 {
		status, err = s.withUnknown(status, obj)
	}
	if err != nil || status == nil {
		return nil, err
	}
	raw := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q},"status":%s}`, s.before.GetResourceVersion(), status)
	return client.RawPatch(types.MergePatchType, raw), nil
}

// withUnknown adds the members that the type lacks to a patch of the status. They stand
// among those that it has, lists as a whole: all of these are sent with them.
func (s *Saver[T]) withUnknown(patch json.RawMessage, obj T) (json.RawMessage, error) {
	whole, err := statusJSON(obj)
	if err != nil {
		return nil, err
	}
	var document, changes map[string]any
	if err := json.Unmarshal(whole, &document); err != nil {
		return nil, err
	}
	if patch != nil {
		if err := json.Unmarshal(patch, &changes); err != nil {
			return nil, err
		}
	}
	s.Also.addTo(document)
	return json.Marshal(overlaid(changes, document))
}

// overlaid is what one document says, and what the one below it says beyond that.
func overlaid(below, above map[string]any) map[string]any {
	all := maps.Clone(below)
	if all == nil {
		return above
	}
	for name, value := range above {
		under, isObject := all[name].(map[string]any)
		if object, is := value.(map[string]any); is && isObject {
			value = overlaid(under, object)
		}
		all[name] = value
	}
	return all
}

// Metadata applies change to obj (finalizers, labels, annotations) and writes
// the difference. What obj's status holds in memory is not sent and not lost.
func (s *Saver[T]) Metadata(ctx context.Context, obj T, change func(T)) error {
	base := clone(obj)
	base.SetResourceVersion(s.before.GetResourceVersion())
	after := clone(base)
	change(after)
	if equality.Semantic.DeepEqual(base, after) {
		return nil
	}
	patch := client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	ctx, err := s.brief(ctx, obj)
	if err != nil {
		return err
	}
	if err := s.client.Patch(ctx, after, patch); err != nil {
		return fmt.Errorf("save metadata of %s: %w", client.ObjectKeyFromObject(obj), err)
	}
	for _, o := range []T{obj, s.before} {
		o.SetResourceVersion(after.GetResourceVersion())
		o.SetFinalizers(after.GetFinalizers())
		o.SetLabels(after.GetLabels())
		o.SetAnnotations(after.GetAnnotations())
	}
	return nil
}

// brief has a write answered with the metadata alone: nothing else of an answer is used.
func (s *Saver[T]) brief(ctx context.Context, obj T) (context.Context, error) {
	kind, err := s.client.GroupVersionKindFor(obj)
	if err != nil {
		return ctx, fmt.Errorf("save %s: %w", client.ObjectKeyFromObject(obj), err)
	}
	return wire.Brief(ctx, kind), nil
}

// shell is an object for an answer. Whoever stands in for the API server sees what was meant,
// which it shares with obj: a client empties what it reads an answer into.
func shell[T client.Object](obj T) T {
	c := reflect.New(reflect.TypeOf(obj).Elem())
	c.Elem().Set(reflect.ValueOf(obj).Elem())
	return c.Interface().(T) //nolint:forcetypeassert // it is a pointer of the type of obj
}

// clone returns a deep copy of the same type.
func clone[T client.Object](obj T) T {
	c, ok := obj.DeepCopyObject().(T)
	if !ok {
		panic(fmt.Sprintf("%T does not copy to its own type", obj)) //nolint:forbidigo // DeepCopyObject returns the type it is called on
	}
	return c
}
