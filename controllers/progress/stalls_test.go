package progress

import (
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/client-go/tools/events"

	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/imagecustomization/images"
)

// An image server that runs apart tells about BMCs that stop reading, too.
func TestAnImageServerApartTellsStalls(t *testing.T) {
	w := newWorld(t)
	sink := events.NewFakeRecorder(1)
	s := &Stalls{Images: w.images, Client: w.kube, Events: reconcile.Recorder{Sink: sink}}
	done := make(chan error, 1)
	go func() { done <- s.Start(t.Context()) }()
	w.images.events <- images.Event{Key: "site/node-1", Kind: images.ReadProgressed, Percent: 40}
	w.images.events <- images.Event{Key: "site/gone", Kind: images.ReaderStalled}
	w.images.events <- images.Event{Key: "infra-env", Kind: images.ReaderStalled}
	w.images.events <- images.Event{Key: "site/node-1", Kind: images.ReaderStalled, Percent: 45.4}
	w.Eventually(sink.Events, patience).Should(Receive(And(HavePrefix("Warning LiveImageReaderStalled"), ContainSubstring("at 45 %"))))
	close(w.images.events)
	w.Eventually(done, patience).Should(Receive(BeNil()))
	w.Expect(sink.Events).NotTo(Receive())
	w.Expect(s.NeedLeaderElection()).To(BeFalse(), "each replica sees its own readers")
}
