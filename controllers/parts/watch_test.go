package parts

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/commands/settings"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
)

// TestTheWatchIsReadInAnyOrder has an API server, or what stands before one, write the members of hosts in an order of
// its own, with text in them that looks like members. The cache reads them in the same way for all namespaces and for some.
func TestTheWatchIsReadInAnyOrder(t *testing.T) {
	const managed = `"managedFields":[{"manager":"m","operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:status":{"k:{\"type\":\"Ready\"}":{}}}},{"manager":"],\"name\":\"x"}]`
	for order, metadata := range map[string]string{
		"as Kubernetes does":       `"annotations":{"a":",\"managedFields\":[","b":"],\"name\":"},"labels":{"kept":"yes"},` + managed + `,"name":"a","namespace":"fleet","resourceVersion":"2"`,
		"labels behind the owners": `"annotations":{"b":"],\"name\":"},` + managed + `,"labels":{"kept":"yes"},"finalizers":["f"],"name":"a","namespace":"fleet","resourceVersion":"2"`,
		"the owners first":         managed + `,"labels":{"kept":"yes"},"resourceVersion":"2","namespace":"fleet","name":"a"`,
		"the owners last":          `"resourceVersion":"2","namespace":"fleet","name":"a","labels":{"kept":"yes"},` + managed,
	} {
		for scope, namespaces := range map[string]string{"all namespaces": "", "some namespaces": "fleet"} {
			t.Run(order+", "+scope, func(t *testing.T) {
				g := NewWithT(t)
				host := `{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{` + metadata + `},"spec":{"online":true,"consumerRef":{"namespace":"],\"name\":","name":"c"}}}`
				g.Expect(json.Valid([]byte(host))).To(BeTrue())
				got := watched(t, namespaces, host)
				g.Expect(got.Name).To(Equal("a"))
				g.Expect(got.Labels).To(Equal(map[string]string{"kept": "yes"}))
				g.Expect(got.Spec.ConsumerRef).To(HaveField("Name", "c"))
				g.Expect(got.ManagedFields).To(BeEmpty(), "nobody here asks who wrote what: it is not kept")
			})
		}
	}
}

// watched is the host as the program's cache has it, from a watch that delivers it.
func watched(t *testing.T, namespaces, host string) *metal3.BareMetalHost {
	t.Helper()
	g := NewWithT(t)
	const list = `{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHostList","metadata":{"resourceVersion":"1"},"items":[]}`
	const synced = `{"type":"BOOKMARK","object":{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"resourceVersion":"1","annotations":{"k8s.io/initial-events-end":"true"}}}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case !strings.HasSuffix(r.URL.Path, "/baremetalhosts"):
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Query().Get("watch") == "":
			_, _ = io.WriteString(w, list)
		default:
			_, _ = io.WriteString(w, synced+"\n"+`{"type":"ADDED","object":`+host+"}\n")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	t.Cleanup(server.CloseClientConnections)
	p := Program{Settings: with(func(c *v1alpha1.IronflowConfiguration) {
		c.Kubernetes.Namespaces, c.Monitoring.MetricsAddress = settings.Split(namespaces), "0"
	})}
	o, err := p.managerOptions()
	g.Expect(err).NotTo(HaveOccurred())
	o.Cache.Scheme = o.Scheme
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(metal3.GroupVersion.WithKind("BareMetalHost"), meta.RESTScopeNamespace)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	o.Cache.Mapper = mapper
	cache, err := o.NewCache(&rest.Config{Host: server.URL}, o.Cache)
	g.Expect(err).NotTo(HaveOccurred())
	go func() { _ = cache.Start(t.Context()) }() // it ends with the test
	got := &metal3.BareMetalHost{}
	g.Eventually(func() error {
		return cache.Get(t.Context(), client.ObjectKey{Namespace: "fleet", Name: "a"}, got)
	}, "30s").Should(Succeed())
	return got
}
