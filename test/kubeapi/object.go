package kubeapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// object is an object as it is stored, never changed.
type object struct {
	meta metav1.ObjectMeta
	raw  []byte
}

// document is an object that is being written.
type document map[string]any

// kept are the members that carry no content.
var kept = map[string]bool{"apiVersion": true, "kind": true, "metadata": true, "status": true}

// shown is the object as JSON, or its metadata alone.
func (o *object) shown(bare bool) []byte {
	if !bare {
		return o.raw
	}
	return fmt.Appendf(nil, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":%s}`, encode(o.meta))
}

// read decodes a stored object.
func (o *object) read() document {
	d, err := parse(o.raw)
	if err != nil {
		panic(fmt.Sprintf("a stored object cannot be read: %v", err)) //nolint:forbidigo // it was written by encode
	}
	return d
}

func parse(raw []byte) (document, error) {
	d := document{}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&d); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the object is no JSON: %v", err))
	}
	return d, nil
}

// metadata decodes what all objects have.
func (d document) metadata() (m metav1.ObjectMeta, err error) {
	if err := json.Unmarshal(encode(d["metadata"]), &m); err != nil {
		return m, apierrors.NewBadRequest(fmt.Sprintf("metadata: %v", err))
	}
	m.ManagedFields = nil
	return m, nil
}

// get finds an object.
func (k *kind) get(at key) (*object, error) {
	o := k.objects[at]
	if o == nil {
		return nil, apierrors.NewNotFound(k.resource.GroupResource(), at.name)
	}
	return o, nil
}

func (s *Server) create(r *request) (*object, error) {
	d, err := parse(r.body)
	if err != nil {
		return nil, err
	}
	m, err := d.metadata()
	if err != nil {
		return nil, err
	}
	if m.Name == "" && m.GenerateName != "" {
		m.Name = m.GenerateName + strconv.FormatUint(s.version+1, 36)
	}
	at := key{r.key.namespace, m.Name}
	switch {
	case m.Name == "":
		return nil, apierrors.NewBadRequest("metadata.name is required")
	case r.kind.objects[at] != nil:
		return nil, apierrors.NewAlreadyExists(r.kind.resource.GroupResource(), m.Name)
	case m.ResourceVersion != "":
		return nil, apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
	}
	m.Namespace, m.UID, m.DeletionTimestamp = at.namespace, uuid.NewUUID(), nil
	m.CreationTimestamp = metav1.NewTime(time.Now()).Rfc3339Copy()
	if m.Generation = 0; r.kind.counts {
		m.Generation = 1
	}
	if r.kind.status {
		delete(d, "status")
	}
	return s.store(r.kind, at, d, m, "ADDED"), nil
}

// update writes an object, or its status.
func (s *Server) update(r *request, d document) (*object, error) {
	old, err := r.kind.get(r.key)
	if err != nil {
		return nil, err
	}
	m, err := d.metadata()
	if err != nil {
		return nil, err
	}
	if m.ResourceVersion != "" && m.ResourceVersion != old.meta.ResourceVersion || m.UID != "" && m.UID != old.meta.UID {
		return nil, apierrors.NewConflict(r.kind.resource.GroupResource(), r.key.name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	before := old.read()
	if r.sub == "status" {
		status, has := d["status"]
		d, m = maps.Clone(before), *old.meta.DeepCopy()
		if delete(d, "status"); has {
			d["status"] = status
		}
	} else if r.kind.status {
		if delete(d, "status"); before["status"] != nil {
			d["status"] = before["status"]
		}
	}
	d.mergeStringData()
	m.Name, m.Namespace, m.UID, m.CreationTimestamp = old.meta.Name, old.meta.Namespace, old.meta.UID, old.meta.CreationTimestamp
	m.DeletionTimestamp, m.DeletionGracePeriodSeconds, m.GenerateName = old.meta.DeletionTimestamp, old.meta.DeletionGracePeriodSeconds, old.meta.GenerateName
	m.Generation, m.ResourceVersion = old.meta.Generation, old.meta.ResourceVersion
	if added := slices.ContainsFunc(m.Finalizers, func(f string) bool { return !slices.Contains(old.meta.Finalizers, f) }); added && m.DeletionTimestamp != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: r.kind.resource.Group, Kind: r.kind.resource.Resource}, r.key.name, field.ErrorList{
			field.Forbidden(field.NewPath("metadata", "finalizers"), "no new finalizers can be added if the object is being deleted"),
		})
	}
	content := sameContent(before, d)
	if content && reflect.DeepEqual(before["status"], d["status"]) && bytes.Equal(encode(m), encode(old.meta)) {
		return old, nil // as the API server: nothing is written, nobody is woken
	}
	if r.kind.counts && !content {
		m.Generation++
	}
	if m.DeletionTimestamp != nil && len(m.Finalizers) == 0 {
		return s.drop(r.kind, r.key, s.store(r.kind, r.key, d, m, "")), nil
	}
	return s.store(r.kind, r.key, d, m, "MODIFIED"), nil
}

// mergeStringData does with a Secret's stringData what the API server does.
func (d document) mergeStringData() {
	texts, _ := d["stringData"].(map[string]any)
	if delete(d, "stringData"); len(texts) == 0 {
		return
	}
	data, _ := d["data"].(map[string]any)
	if data = maps.Clone(data); data == nil {
		data = map[string]any{}
	}
	for name, value := range texts {
		data[name] = base64.StdEncoding.EncodeToString(fmt.Append(nil, value))
	}
	d["data"] = data
}

// sameContent compares all but metadata and status.
func sameContent(a, b document) bool {
	for name := range a {
		if !kept[name] && !reflect.DeepEqual(a[name], b[name]) {
			return false
		}
	}
	for name := range b {
		if _, had := a[name]; !kept[name] && !had {
			return false
		}
	}
	return true
}

func (s *Server) patch(r *request) (*object, error) {
	old, err := r.kind.get(r.key)
	if err != nil {
		return nil, err
	}
	switch kind := types.PatchType(r.Header.Get("Content-Type")); {
	case kind == types.MergePatchType:
		patch, err := parse(r.body)
		if err != nil {
			return nil, err
		}
		return s.update(r, merge(old.read(), patch))
	case kind == types.StrategicMergePatchType && r.kind.gvk.Group == "":
		return s.patchStrategically(r, old)
	default:
		return nil, apierrors.NewGenericServerResponse(http.StatusUnsupportedMediaType, "patch", r.kind.resource.GroupResource(), r.key.name, string(kind), 0, true)
	}
}

// patchStrategically merges lists by what the Go type says of them; only the kinds of
// Kubernetes itself can be patched so.
func (s *Server) patchStrategically(r *request, old *object) (*object, error) {
	of, err := s.scheme.New(r.kind.gvk)
	if err != nil {
		return nil, fmt.Errorf("patch %s: %w", r.kind.gvk, err)
	}
	patched, err := strategicpatch.StrategicMergePatch(old.raw, r.body, of)
	if err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("patch: %v", err))
	}
	d, err := parse(patched)
	if err != nil {
		return nil, err
	}
	return s.update(r, d)
}

// merge applies a JSON merge patch (RFC 7386).
func merge(into, patch map[string]any) document {
	for name, value := range patch {
		inner, is := value.(map[string]any)
		switch had, _ := into[name].(map[string]any); {
		case value == nil:
			delete(into, name)
		case is && had != nil:
			into[name] = map[string]any(merge(had, inner))
		case is:
			into[name] = map[string]any(merge(map[string]any{}, inner))
		default:
			into[name] = value
		}
	}
	return into
}

// store writes a document in a new version; the log has it unless what is empty.
func (s *Server) store(k *kind, at key, d document, m metav1.ObjectMeta, what string) *object {
	s.version++
	m.ResourceVersion = strconv.FormatUint(s.version, 10)
	d.mergeStringData()
	d["apiVersion"], d["kind"], d["metadata"] = k.gvk.GroupVersion().String(), k.gvk.Kind, json.RawMessage(encode(m))
	o, before := &object{meta: m, raw: encode(d)}, k.objects[at]
	k.objects[at] = o
	if what != "" {
		k.tell(event{what, o, before})
	}
	return o
}
