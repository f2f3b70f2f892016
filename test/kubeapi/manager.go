package kubeapi

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/ironflow/ironflow/controllers/secretcache"
	"github.com/ironflow/ironflow/controllers/wire"
)

// Manager is a manager as the program makes it, but without listeners, whose
// controllers tell their events to the recorder, nil for nobody. It can be made, started and stopped
// as often as a program is.
func (s *Server) Manager(scheme *runtime.Scheme, sink events.EventRecorder) (ctrl.Manager, error) {
	yes := true
	config := s.Config()
	config.Wrap(wire.Transport)
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Logger: logr.Discard(),
		Cache: cache.Options{DefaultTransform: cache.TransformStripManagedFields()},
		NewCache: func(config *rest.Config, o cache.Options) (cache.Cache, error) {
			o.NewInformer = drained
			return secretcache.New(config, o)
		},
		Client:                 client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &yes}},
		Controller:             ctrlconfig.Controller{SkipNameValidation: &yes},
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		MapperProvider:         func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return s.mapper, nil },
	})
	if err != nil {
		return nil, fmt.Errorf("make a manager: %w", err)
	}
	if sink == nil {
		sink = silent{}
	}
	return recorded{mgr, plain{sink}}, nil
}

// Start runs a manager until stop is called or the test ends. stop waits until it has
// started, since one that is stopped before looks for the end of its start without a
// pause; over is closed when all of it has ended.
func Start(t *testing.T, mgr ctrl.Manager) (stop func(), over <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := mgr.Start(ctx); err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	}()
	stop = func() {
		<-mgr.Elected()
		cancel()
	}
	t.Cleanup(stop)
	return stop, ended
}

// Client reads and writes what is stored, as users do.
func (s *Server) Client(scheme *runtime.Scheme) (client.WithWatch, error) {
	return client.NewWithWatch(s.Config(), client.Options{Scheme: scheme, Mapper: s.mapper})
}

// drained makes an informer that takes what its watch still has to say when it ends:
// the library's for metadata would hold on to an event that nobody takes, for ever.
func drained(lw toolscache.ListerWatcher, object runtime.Object, resync time.Duration, indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	whole := toolscache.ToListerWatcherWithContext(lw)
	return toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc: whole.ListWithContext,
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := whole.WatchWithContext(ctx, options)
			return drain{w}, err
		},
	}, object, resync, indexers)
}

// drain is a watch that is emptied at its end.
type drain struct{ watch.Interface }

// Stop implements watch.Interface.
func (d drain) Stop() {
	d.Interface.Stop()
	go func() {
		for range d.ResultChan() {
		}
	}()
}

// recorded is a manager with another recorder.
type recorded struct {
	ctrl.Manager
	sink plain
}

// GetEventRecorder implements cluster.Cluster.
func (r recorded) GetEventRecorder(string) recorder.EventRecorder { return r.sink }

// plain takes events without annotations, as all of ours are.
type plain struct{ events.EventRecorder }

// AnnotatedEventf implements events.AnnotatedEventRecorder.
func (p plain) AnnotatedEventf(o, related runtime.Object, _ map[string]string, kind, reason, action, note string, args ...any) {
	p.Eventf(o, related, kind, reason, action, note, args...)
}

// silent drops events.
type silent struct{}

// Eventf implements events.EventRecorder.
func (silent) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}
