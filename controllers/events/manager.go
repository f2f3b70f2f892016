package events

import (
	"context"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime"
	eventsclient "k8s.io/client-go/kubernetes/typed/events/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/recorder"
)

// Manager is a manager whose event recorders write through a [Queue].
type Manager struct {
	manager.Manager

	broadcaster events.EventBroadcaster
}

// recording is a queue that runs, and what feeds it.
type recording struct {
	*Queue

	stop context.CancelFunc
}

// Start implements manager.Runnable.
func (r recording) Start(ctx context.Context) error {
	defer r.stop()
	return r.Queue.Start(ctx)
}

// Attach returns mgr with a queue for its events. The queue runs with mgr.
func Attach(mgr manager.Manager, registerer prometheus.Registerer) (*Manager, error) {
	config := rest.CopyConfig(mgr.GetConfig())
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf+","+runtime.ContentTypeJSON
	client, err := eventsclient.NewForConfigAndClient(config, mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("a client for events: %w", err)
	}
	queue := NewQueue(&events.EventSinkImpl{Interface: client}, mgr.GetLogger().WithName("events"), registerer)
	m := &Manager{Manager: mgr, broadcaster: events.NewBroadcaster(queue)}
	ctx, stop := context.WithCancel(context.Background())
	if err := m.broadcaster.StartRecordingToSinkWithContext(ctx); err != nil {
		stop()
		return nil, fmt.Errorf("record events: %w", err)
	}
	return m, mgr.Add(recording{Queue: queue, stop: stop})
}

// GetEventRecorder implements recorder.Provider.
func (m *Manager) GetEventRecorder(name string) recorder.EventRecorder {
	return m.broadcaster.NewRecorder(m.GetScheme(), name).(recorder.EventRecorder)
}
