package host

import (
	"context"
	"reflect"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// slowServer answers nothing before it is released, and counts what waits there.
type slowServer struct {
	client.Client
	here    atomic.Int32
	release chan struct{}
}

func newSlowServer() *slowServer {
	s := &slowServer{release: make(chan struct{})}
	hold := func() error {
		s.here.Add(1)
		defer s.here.Add(-1)
		<-s.release
		return nil
	}
	s.Client = fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return hold() },
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			return hold()
		},
		SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
			return hold()
		},
	}).Build()
	return s
}

// writes are the ways to write that the controller uses.
func writes(c client.Client) []func(context.Context) error {
	h, patch := &metal3.BareMetalHost{}, client.RawPatch(types.MergePatchType, []byte("{}"))
	return []func(context.Context) error{
		func(ctx context.Context) error { return c.Create(ctx, h) },
		func(ctx context.Context) error { return c.Patch(ctx, h, patch) },
		func(ctx context.Context) error { return c.Status().Patch(ctx, h, patch) },
	}
}

func TestBeginnersWriteInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		server := newSlowServer()
		list := writes(newTurns(server))
		const each = 4
		results := make(chan error, 2*each*len(list))
		start := func(ctx context.Context) {
			for range each {
				for _, write := range list {
					go func() { results <- write(ctx) }()
				}
			}
			synctest.Wait()
		}
		start(inTurn(t.Context()))
		g.Expect(server.here.Load()).To(BeEquivalentTo(writesOfBeginners))
		start(t.Context())
		g.Expect(server.here.Load()).To(BeEquivalentTo(writesOfBeginners+each*len(list)), "hosts that go on wait for nobody")
		close(server.release)
		for range cap(results) {
			g.Expect(<-results).To(Succeed())
		}
	})
}

// TestTurnThatNeverComes ends the program while hosts wait for their turn: no way to
// write goes round it.
func TestTurnThatNeverComes(t *testing.T) {
	g := NewWithT(t)
	c := newTurns(fake.NewClientBuilder().Build())
	for range writesOfBeginners {
		_, err := c.take(inTurn(t.Context()))
		g.Expect(err).NotTo(HaveOccurred())
	}
	ending, end := context.WithCancel(inTurn(t.Context()))
	end()
	part := reflect.TypeFor[client.SubResourceWriter]()
	for target, ways := range map[any]reflect.Type{c: reflect.TypeFor[client.Writer](), c.Status(): part, c.SubResource("status"): part} {
		for way := range ways.Methods() {
			arguments := []reflect.Value{reflect.ValueOf(ending)}
			for i := 1; i < way.Type.NumIn()-1; i++ { // the last are the options
				arguments = append(arguments, reflect.Zero(way.Type.In(i)))
			}
			result := reflect.ValueOf(target).MethodByName(way.Name).Call(arguments)
			g.Expect(result[0].Interface()).To(MatchError(context.Canceled), way.Name)
		}
	}
}

// TestWhoWritesInTurn asks for an installation while other beginners write: the host
// waits for them, unless Ironic has called for it.
func TestWhoWritesInTurn(t *testing.T) {
	for name, called := range map[string]bool{"one that begins": false, "one that is called for": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				w := newWorld(t, assisted(nil), policy.Settings{}, nil)
				defer w.stop()
				w.untilState(metal3.StateAvailable, time.Minute)
				others := make(chan struct{})
				for range writesOfBeginners {
					done, err := w.rec.client.(turns).take(inTurn(t.Context()))
					g.Expect(err).NotTo(HaveOccurred())
					go func() {
						<-others
						done()
					}()
				}
				if called {
					w.rec.entrance.call(w.key)
				}
				w.edit(wantInstall)
				synctest.Wait()
				if called {
					g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioning))
				} else {
					g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateAvailable))
				}
				close(others)
				w.untilState(metal3.StateProvisioned, time.Minute)
			})
		})
	}
}
