package reconcile

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// oddStatus has what the statuses of the kinds that we know have not.
type oddStatus struct {
	metal3.OperationMetric `json:",inline"`

	Zero   metav1.Time           `json:"zero,omitzero"`
	Null   *string               `json:"null"`
	Hidden string                `json:"-"`
	Maps   map[string]objectLike `json:"maps,omitempty"`
	Plain  objectLike
	Number int `json:"number,string"`
}

type objectLike struct {
	Size  resource.Quantity `json:"size"`
	Names map[string]string `json:"names,omitempty"`
	Some  *objectLike       `json:"some,omitempty"`
}

type oddObject struct {
	metal3.BareMetalHost

	Status oddStatus
}

type plainObject struct {
	metal3.BareMetalHost

	Status struct {
		Zero metav1.Time `json:"zero,omitzero"`
		Null *string     `json:"null"`
		Like objectLike  `json:"like"`
	}
}

// TestPatchLeadsToTheStatus applies the patch between random statuses, of which
// some parts are the same, as the API server does.
func TestPatchLeadsToTheStatus(t *testing.T) {
	for name, makeOne := range map[string]func() client.Object{
		"host": func() client.Object { return &metal3.BareMetalHost{} }, "settings": func() client.Object { return &metal3.HostFirmwareSettings{} },
		"claim": func() client.Object { return &metal3.HostClaim{} }, "odd": func() client.Object { return &oddObject{} },
		"plain": func() client.Object { return &plainObject{} },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := rand.New(rand.NewPCG(1, uint64(len(name))))
			for range 300 {
				before, after := makeOne(), makeOne()
				fill(r, reflect.ValueOf(before).Elem().FieldByName("Status"), 6)
				if r.IntN(4) > 0 {
					document, err := statusJSON(before)
					g.Expect(err).NotTo(HaveOccurred())
					g.Expect(json.Unmarshal(document, reflect.ValueOf(after).Elem().FieldByName("Status").Addr().Interface())).To(Succeed())
				}
				fill(r, reflect.ValueOf(after).Elem().FieldByName("Status"), 6)
				patch, err := statusDifference(before, after)
				g.Expect(err).NotTo(HaveOccurred())
				was, is := decoded(g, before), decoded(g, after)
				if patch == nil {
					g.Expect(text(was)).To(Equal(text(is)))
					continue
				}
				var change any
				g.Expect(json.Unmarshal(patch, &change)).To(Succeed(), string(patch))
				g.Expect(text(bare(applied(was, change)))).To(Equal(text(is)), "%s", patch)
			}
		})
	}
}

// fill sets some fields at random.
func fill(r *rand.Rand, v reflect.Value, depth int) {
	if depth == 0 || r.IntN(3) == 0 {
		return
	}
	switch at := v.Addr().Interface().(type) {
	case *metav1.Time:
		*at = metav1.NewTime(time.Unix(r.Int64N(4), r.Int64N(2)))
		return
	case *resource.Quantity:
		*at = resource.MustParse(fmt.Sprintf("%dMi", r.IntN(3)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(r, v.Field(i), depth-1)
			}
		}
	case reflect.Pointer:
		if r.IntN(3) == 0 {
			v.SetZero()
			return
		}
		v.Set(reflect.New(v.Type().Elem()))
		fill(r, v.Elem(), depth-1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), r.IntN(3), 3))
		for i := range v.Len() {
			fill(r, v.Index(i), depth-1)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for i := range r.IntN(3) {
			element := reflect.New(v.Type().Elem()).Elem()
			fill(r, element, depth-1)
			v.SetMapIndex(reflect.ValueOf(fmt.Sprint("key", i, r.IntN(2))).Convert(v.Type().Key()), element)
		}
	case reflect.String:
		v.SetString([]string{"", "a", `b"\<é`}[r.IntN(3)])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(r.Int64N(3))
	case reflect.Float64:
		v.SetFloat(float64(r.IntN(3)))
	default:
	}
}

// decoded is an object's status as a reader sees it.
func decoded(g *WithT, o client.Object) any {
	document, err := statusJSON(o)
	g.Expect(err).NotTo(HaveOccurred())
	var v any
	g.Expect(json.Unmarshal(document, &v)).To(Succeed())
	return bare(v)
}

func text(v any) string {
	document, _ := json.Marshal(v) //nolint:errchkjson // it came from JSON
	return string(document)
}

// applied is RFC 7386.
func applied(to, patch any) any {
	change, isObject := patch.(map[string]any)
	if !isObject {
		return patch
	}
	object, isObject := to.(map[string]any)
	if !isObject {
		object = map[string]any{}
	}
	object = maps.Clone(object)
	for name, value := range change {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = applied(object[name], value)
		}
	}
	return object
}

// bare leaves out members that are null, which a merge patch cannot store. An empty
// list or object is not one that is missing: it may ask for something.
func bare(v any) any {
	switch v := v.(type) {
	case map[string]any:
		kept := map[string]any{}
		for name, value := range v {
			if value != nil {
				kept[name] = bare(value)
			}
		}
		return kept
	case []any:
		for i := range v {
			v[i] = bare(v[i])
		}
	}
	return v
}
