package kubeapi

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var errPrecondition = errors.New("the object is another one than was expected")

// remove deletes an object, or marks it for its finalizers.
func (s *Server) remove(r *request) ([]byte, error) {
	o, err := r.kind.get(r.key)
	if err != nil {
		return nil, err
	}
	var options metav1.DeleteOptions
	if len(r.body) > 0 {
		if err := json.Unmarshal(r.body, &options); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	}
	if p := options.Preconditions; p != nil && (p.UID != nil && *p.UID != o.meta.UID || p.ResourceVersion != nil && *p.ResourceVersion != o.meta.ResourceVersion) {
		return nil, apierrors.NewConflict(r.kind.resource.GroupResource(), r.key.name, errPrecondition)
	}
	if gone := s.delete(r.kind, r.key, o); !gone {
		return r.kind.objects[r.key].shown(r.bare), nil
	}
	return encode(metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess,
		Details: &metav1.StatusDetails{Name: r.key.name, Group: r.kind.gvk.Group, Kind: r.kind.resource.Resource, UID: o.meta.UID},
	}), nil
}

// delete deletes an object and reports whether it is gone; the lock is held.
func (s *Server) delete(k *kind, at key, o *object) (gone bool) {
	switch {
	case len(o.meta.Finalizers) == 0:
		s.drop(k, at, s.store(k, at, o.read(), o.meta, "")) // a deletion is a version of its own
		return true
	case o.meta.DeletionTimestamp == nil:
		m := *o.meta.DeepCopy()
		m.DeletionTimestamp, m.DeletionGracePeriodSeconds = new(metav1.NewTime(time.Now()).Rfc3339Copy()), new(int64(0))
		if k.counts {
			m.Generation++
		}
		s.store(k, at, o.read(), m, "MODIFIED")
	}
	return false
}

// drop takes an object out, and what it alone owns with it.
func (s *Server) drop(k *kind, at key, o *object) *object {
	delete(k.objects, at)
	k.tell(event{"DELETED", o, o})
	for _, other := range s.kinds {
		for key, owned := range other.objects {
			if owned.meta.DeletionTimestamp == nil && ownedBy(owned, o.meta.UID) && !s.anyExists(owned.meta.OwnerReferences) {
				s.delete(other, key, owned)
			}
		}
	}
	return o
}

func ownedBy(o *object, owner types.UID) bool {
	return slices.ContainsFunc(o.meta.OwnerReferences, func(r metav1.OwnerReference) bool { return r.UID == owner })
}

// anyExists reports whether an owner is there, or of a kind that is not known here.
func (s *Server) anyExists(owners []metav1.OwnerReference) bool {
	return slices.ContainsFunc(owners, func(r metav1.OwnerReference) bool {
		known := false
		for _, k := range s.kinds {
			if k.gvk.Kind != r.Kind || k.gvk.GroupVersion().String() != r.APIVersion {
				continue
			}
			known = true
			for _, o := range k.objects {
				if o.meta.UID == r.UID {
					return true
				}
			}
		}
		return !known
	})
}
