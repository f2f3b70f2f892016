package model

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// scheme has the kinds that a world holds.
var scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(metal3.AddToScheme(s))
	utilruntime.Must(corev1.AddToScheme(s))
	return s
})

// cluster is the API server of a world, as the controller's client and cache.
type cluster struct {
	client.Client // for what is not used

	run *run
}

func (c *cluster) world() *World { return c.run.world }

// Scheme implements client.Client.
func (c *cluster) Scheme() *runtime.Scheme { return scheme() }

// GroupVersionKindFor implements client.Client.
func (c *cluster) GroupVersionKindFor(obj runtime.Object) (schema.GroupVersionKind, error) {
	return apiutil.GVKForObject(obj, scheme())
}

// RESTMapper implements client.Client.
func (c *cluster) RESTMapper() meta.RESTMapper { return nil }

// keyOf names an object by its Go type.
func keyOf(obj client.Object) objectKey {
	return objectKey{reflect.TypeOf(obj).Elem().Name(), client.ObjectKeyFromObject(obj)}
}

func notFound(key objectKey) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: metal3.GroupVersion.Group, Resource: strings.ToLower(key.kind) + "s"}, key.Name)
}

// Get implements client.Reader. The cache may show a host as it was before the last
// change of a user.
func (c *cluster) Get(_ context.Context, name client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	key := objectKey{reflect.TypeOf(into).Elem().Name(), name}
	obj, found := c.world().objects[key]
	if old, is := c.world().before[name]; is && c.run.stale && key.kind == "BareMetalHost" {
		obj = old
	}
	if !found {
		return notFound(key)
	}
	fill(into, obj)
	return nil
}

// fill copies an object deeply into another one of its type.
func fill(into, from client.Object) {
	reflect.ValueOf(into).Elem().Set(reflect.ValueOf(from.DeepCopyObject()).Elem())
}

// List implements client.Reader.
func (c *cluster) List(_ context.Context, into client.ObjectList, _ ...client.ListOption) error {
	list, is := into.(*metal3.BareMetalHostList)
	if !is {
		return nil // nothing else is listed that the world has
	}
	for _, key := range c.world().hosts() {
		list.Items = append(list.Items, *c.world().host(key).DeepCopy())
	}
	return nil
}

// Create implements client.Writer.
func (c *cluster) Create(_ context.Context, obj client.Object, _ ...client.CreateOption) error {
	c.run.checkHold("create " + obj.GetName())
	answer := c.run.store()
	if answer == refused {
		return apierrors.NewServiceUnavailable("the model refuses to create " + obj.GetName())
	}
	c.world().put(obj)
	c.run.wrote("creates %s %s", keyOf(obj).kind, obj.GetName())
	return unheard(answer)
}

// put stores a new object.
func (w *World) put(obj client.Object) {
	obj.SetResourceVersion("1")
	if obj.GetUID() == "" {
		obj.SetUID(types.UID(keyOf(obj).kind + "-" + obj.GetName()))
	}
	if obj.GetGeneration() == 0 {
		obj.SetGeneration(1)
	}
	stored, _ := obj.DeepCopyObject().(client.Object)
	w.objects[keyOf(obj)] = stored
}

// Update implements client.Writer.
func (c *cluster) Update(context.Context, client.Object, ...client.UpdateOption) error {
	return fmt.Errorf("the model has no updates, only patches")
}

// Delete implements client.Writer.
func (c *cluster) Delete(_ context.Context, obj client.Object, _ ...client.DeleteOption) error {
	key := keyOf(obj)
	if _, found := c.world().objects[key]; !found {
		return notFound(key)
	}
	c.run.checkHold("delete " + key.Name)
	answer := c.run.store()
	if answer == refused {
		return apierrors.NewServiceUnavailable("the model refuses to delete " + key.Name)
	}
	c.world().remove(key)
	c.run.wrote("deletes %s %s", key.kind, key.Name)
	return unheard(answer)
}

// remove deletes an object, or marks it as being deleted while somebody holds it.
func (w *World) remove(key objectKey) {
	obj, _ := w.objects[key].DeepCopyObject().(client.Object)
	if len(obj.GetFinalizers()) > 0 {
		if obj.GetDeletionTimestamp() == nil {
			obj.SetDeletionTimestamp(&metav1.Time{Time: w.Now})
			obj.SetGeneration(obj.GetGeneration() + 1)
		}
		w.replace(key, obj)
		return
	}
	delete(w.objects, key)
	if key.kind == "BareMetalHost" {
		w.collect(key.NamespacedName)
	}
}

// collect is the garbage collection of what a host has owned.
func (w *World) collect(host types.NamespacedName) {
	for key, obj := range w.objects {
		if key.NamespacedName != host || len(obj.GetFinalizers()) > 0 {
			continue
		}
		delete(w.objects, key)
	}
	delete(w.before, host)
	delete(w.woken, host)
	w.woken[host] = true // its end is told
}

// replace stores the next version of an object.
func (w *World) replace(key objectKey, obj client.Object) {
	version, _ := strconv.Atoi(w.objects[key].GetResourceVersion())
	obj.SetResourceVersion(strconv.Itoa(version + 1))
	w.objects[key] = obj
}

// Patch implements client.Writer.
func (c *cluster) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	return c.patch(obj, patch, false)
}

// Status implements client.Client.
func (c *cluster) Status() client.SubResourceWriter { return statusWriter{c: c} }

type statusWriter struct {
	client.SubResourceWriter

	c *cluster
}

// Patch implements client.SubResourceWriter.
func (s statusWriter) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	return s.c.patch(obj, patch, true)
}

// patch merges what a client has changed into what is stored.
func (c *cluster) patch(obj client.Object, patch client.Patch, status bool) error {
	key := keyOf(obj)
	stored, found := c.world().objects[key]
	if !found {
		return notFound(key)
	}
	data, err := patch.Data(obj)
	if err != nil {
		return err
	}
	if string(data) == "{}" {
		fill(obj, stored)
		return nil
	}
	if !status {
		c.run.checkHold("write " + key.Name)
	}
	answer := c.run.store()
	after, err := merged(stored, obj, data, status)
	if err != nil {
		return err
	}
	if after == nil || answer == refused {
		c.run.note("the API server refuses a write of %s %s", key.kind, key.Name)
		return apierrors.NewConflict(schema.GroupResource{Group: metal3.GroupVersion.Group, Resource: "baremetalhosts"}, key.Name,
			fmt.Errorf("the object has been modified"))
	}
	w := c.world()
	was := stored.GetResourceVersion()
	w.replace(key, after)
	if answer != lost {
		fill(obj, after)
	}
	if key.kind == "BareMetalHost" {
		w.doubt.Unheard = answer == lost
		delete(w.before, key.NamespacedName) // the cache shows what its own client has written
	}
	w.countWork(stored, after)
	w.checkKeys(stored, after)
	c.run.checkHeld(stored, after)
	w.wakeFor(key, stored, after)
	if after.GetDeletionTimestamp() != nil && len(after.GetFinalizers()) == 0 {
		w.objects[key] = after
		w.remove(key)
	}
	c.run.wrote("writes %s of %s %s (from %s): %s", part(status), key.kind, key.Name, was, data)
	return unheard(answer)
}

// unheard is the error of a write whose answer is lost.
func unheard(a answer) error {
	if a == lost {
		return apierrors.NewInternalError(fmt.Errorf("connection reset by peer"))
	}
	return nil
}

func part(status bool) string {
	if status {
		return "status"
	}
	return "metadata"
}

// withStatus is a host with the status that its controller has written, which sends it
// whole or what differs: a merge would come to the same, and costs the most of a step.
func withStatus(stored client.Object, h *metal3.BareMetalHost, data []byte) (client.Object, error) {
	var change struct{ Metadata metav1.ObjectMeta }
	if err := json.Unmarshal(data, &change); err != nil {
		return nil, err
	}
	if change.Metadata.ResourceVersion != stored.GetResourceVersion() {
		return nil, nil
	}
	after, _ := stored.DeepCopyObject().(*metal3.BareMetalHost)
	after.Status = *h.Status.DeepCopy()
	return after, nil
}

// merged is an object with a merge patch of its metadata and spec, or its status; nil
// where the patch is made from another version.
func merged(obj, sent client.Object, data []byte, status bool) (client.Object, error) {
	if h, is := sent.(*metal3.BareMetalHost); is && status {
		return withStatus(obj, h, data)
	}
	var change, document map[string]any
	if err := json.Unmarshal(data, &change); err != nil {
		return nil, err
	}
	if m, is := change["metadata"].(map[string]any); is {
		if version, named := m["resourceVersion"]; named {
			if version != obj.GetResourceVersion() {
				return nil, nil
			}
			delete(m, "resourceVersion")
		}
	}
	raw, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(raw, &document); err != nil {
		return nil, err
	}
	if status {
		change = map[string]any{"status": change["status"]}
	} else {
		delete(change, "status")
	}
	mergeInto(document, change)
	if raw, err = json.Marshal(document); err != nil {
		return nil, err
	}
	after, _ := reflect.New(reflect.TypeOf(obj).Elem()).Interface().(client.Object)
	return after, json.Unmarshal(raw, after)
}

// mergeInto is RFC 7386.
func mergeInto(document, change map[string]any) {
	for key, value := range change {
		switch v := value.(type) {
		case nil:
			delete(document, key)
		case map[string]any:
			inner, is := document[key].(map[string]any)
			if !is {
				inner = map[string]any{}
			}
			mergeInto(inner, v)
			document[key] = inner
		default:
			document[key] = v
		}
	}
}
