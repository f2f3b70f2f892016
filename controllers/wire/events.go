package wire

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	eventsv1 "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/recorder"
)

// Events is the manager with recorders that send events as protobuf, which both
// sides read and write for less than JSON. The manager's own would send them in the
// form that its config names, and has to name JSON, or nothing, for the sake of
// custom resources.
func Events(mgr ctrl.Manager) (ctrl.Manager, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.ContentType = runtime.ContentTypeProtobuf
	config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	access, err := eventsv1.NewForConfigAndClient(config, mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("events: %w", err)
	}
	e := evented{Manager: mgr, sender: events.NewBroadcaster(&events.EventSinkImpl{Interface: access})}
	// They are sent from now on: what is told before the manager runs is not lost.
	logger := mgr.GetLogger().WithName("events")
	var ctx context.Context
	ctx, e.stop = context.WithCancel(log.IntoContext(context.Background(), logger))
	if err = e.sender.StartRecordingToSinkWithContext(ctx); err == nil && logger.V(1).Enabled() {
		_, err = e.sender.StartLogging(logger.V(1))
	}
	if err != nil {
		e.stop()
		return nil, fmt.Errorf("events: %w", err)
	}
	return e, nil
}

// evented is a manager with recorders of its own.
type evented struct {
	ctrl.Manager
	sender events.EventBroadcaster
	stop   context.CancelFunc
}

// GetEventRecorder implements cluster.Cluster.
func (e evented) GetEventRecorder(name string) recorder.EventRecorder {
	return e.sender.NewRecorder(e.GetScheme(), name).(recorder.EventRecorder)
}

// Start implements manager.Runnable. Events are taken until all else has ended; the
// last of them may not be sent before the program ends, as with the library's.
func (e evented) Start(ctx context.Context) error {
	defer e.stop()
	defer e.sender.Shutdown()
	return e.Manager.Start(ctx)
}
