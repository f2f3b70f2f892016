package kubeapi

import (
	"maps"
	"net/http"
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Server is an API server that knows some kinds. Its methods may be called at any time.
type Server struct {
	scheme *runtime.Scheme
	mapper *meta.DefaultRESTMapper

	mu        sync.Mutex
	version   uint64
	kinds     map[schema.GroupVersionResource]*kind
	counts    map[string]int
	intercept func(*http.Request) *Fault
}

// kind is one resource with its objects.
type kind struct {
	gvk      schema.GroupVersionKind
	resource schema.GroupVersionResource
	status   bool // has the status subresource
	counts   bool // its objects have a generation
	objects  map[key]*object
	log      []event
	more     chan struct{} // closed when the log grows
	held     int           // what of the log watches show; less than zero: all
}

// key names an object of a kind.
type key struct{ namespace, name string }

// rooted are the kinds whose objects are in no namespace.
var rooted = map[string]bool{"Namespace": true, "Node": true, "CustomResourceDefinition": true, "ClusterImageSet": true}

// New makes a server that knows the kinds of the given objects, which the scheme
// must know. All but those of the core group have a generation.
func New(scheme *runtime.Scheme, kinds ...client.Object) (*Server, error) {
	s := &Server{scheme: scheme, kinds: map[schema.GroupVersionResource]*kind{}, counts: map[string]int{}, mapper: meta.NewDefaultRESTMapper(nil)}
	for _, o := range kinds {
		gvk, err := apiutil.GVKForObject(o, scheme)
		if err != nil {
			return nil, err
		}
		var scope meta.RESTScope = meta.RESTScopeNamespace
		if rooted[gvk.Kind] {
			scope = meta.RESTScopeRoot
		}
		s.mapper.Add(gvk, scope)
		resource, _ := meta.UnsafeGuessKindToResource(gvk)
		_, status := reflect.TypeOf(o).Elem().FieldByName("Status")
		s.kinds[resource] = &kind{
			gvk: gvk, resource: resource, status: status, counts: gvk.Group != "", objects: map[key]*object{}, more: make(chan struct{}), held: -1,
		}
	}
	return s, nil
}

// Config is how clients reach the server.
func (s *Server) Config() *rest.Config {
	return &rest.Config{
		Host: "http://kubernetes.test", Transport: s, QPS: -1,
		ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON, AcceptContentTypes: runtime.ContentTypeJSON},
	}
}

// Mapper maps the kinds to their resources.
func (s *Server) Mapper() meta.RESTMapper { return s.mapper }

// Counts returns how many requests were answered, by verb and resource, such as
// "patch baremetalhosts/status", and those that were refused, with the status before it.
func (s *Server) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// Hold shows no more of what happens to the objects of a kind to those that watch
// them, as an API server that is busy. Their reads show it.
func (s *Server) Hold(o client.Object) { s.hold(o, true) }

// Show ends what Hold began.
func (s *Server) Show(o client.Object) { s.hold(o, false) }

func (s *Server) hold(o client.Object, on bool) {
	gvk, _ := apiutil.GVKForObject(o, s.scheme) // one that is not known has no watches
	resource, _ := meta.UnsafeGuessKindToResource(gvk)
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kinds[resource]
	switch {
	case k == nil:
	case !on:
		k.held = -1
		close(k.more)
		k.more = make(chan struct{})
	case k.held < 0:
		k.held = len(k.log)
	}
}

// Fault is what happens to one request instead of, or around, its handling.
type Fault struct {
	// Err is what the transport says: the connection broke.
	Err error
	// Status, unless zero, is answered, with Text.
	Status int
	Text   string
	// AfterHandling lets the request take effect before.
	AfterHandling bool
}

// Intercept sets a function that sees each request first and may return a fault
// for it. Nil removes it. The function may use the server, through its clients too.
func (s *Server) Intercept(f func(*http.Request) *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.intercept = f
}
