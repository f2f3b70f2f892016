package progress

import (
	"context"
	"fmt"
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/imagecustomization/images"
)

// ReasonReaderStalled is the reason of the event about a BMC that took nothing of
// its live image for so long that the image server dropped the connection.
const ReasonReaderStalled = "LiveImageReaderStalled"

// Stalls tells hosts' events about BMCs that stop reading. It is for an image
// server that runs apart from the host controller; with that, [Source] tells them.
// It implements manager.Runnable, on every replica.
type Stalls struct {
	// Images is the store whose readers are followed.
	Images Images
	// Client reads hosts, from a cache.
	Client client.Reader
	// Events takes the events.
	Events reconcile.Recorder
}

// Start implements manager.Runnable.
func (s *Stalls) Start(ctx context.Context) error {
	for e := range s.Images.Watch(ctx) {
		if namespace, name, ok := strings.Cut(e.Key, "/"); ok {
			tellStall(ctx, s.Client, s.Events, types.NamespacedName{Namespace: namespace, Name: name}, e)
		}
	}
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (s *Stalls) NeedLeaderElection() bool { return false }

// tellStall records the event, if it is one and the host is there.
func tellStall(ctx context.Context, c client.Reader, events reconcile.Recorder, key types.NamespacedName, e images.Event) {
	h := &metal3v1.BareMetalHost{}
	if e.Kind != images.ReaderStalled || c.Get(ctx, key, h) != nil {
		return
	}
	events.Record(h, nil, reconcile.Event{Warning: true, Reason: ReasonReaderStalled, Message: fmt.Sprintf(
		"The BMC stopped reading the live image at %.0f %%; its connection was dropped. It usually asks again; if it does not, look at the BMC's virtual media", e.Percent)})
}
