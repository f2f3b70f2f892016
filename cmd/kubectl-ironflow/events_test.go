package main

import (
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
)

// event is one of an object, that many seconds after noon.
func event(name string, of corev1.ObjectReference, seconds int, reason, note string) *eventsv1.Event {
	e := &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Name: name}, Regarding: of, Reason: reason, Note: note, Type: "Normal"}
	e.EventTime = metav1.NewMicroTime(noon.Add(time.Duration(seconds) * time.Second))
	return e
}

// busy makes a site where much has happened to host a, and other things to others.
func busy(t *testing.T) *site {
	t.Helper()
	s := newSite(t).rack()
	s.create(&agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Name: "0000-a", Labels: map[string]string{names.AgentHostLabel: "a"}}},
		&ironflowv1.BMC{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, &metal3v1.PreprovisioningImage{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	again := event("e4", corev1.ObjectReference{Kind: "BareMetalHost", Name: "a", UID: s.host("a").UID}, 0, "ProvisioningError", "disk sda: write error")
	again.Type, again.Series = "Warning", &eventsv1.EventSeries{Count: 3, LastObservedTime: metav1.NewMicroTime(noon.Add(40 * time.Second))}
	of := func(kind, name string) corev1.ObjectReference { return corev1.ObjectReference{Kind: kind, Name: name} }
	s.create(again,
		event("e1", of("BareMetalHost", "a"), 10, "Registered", "registered new host"),
		event("e3", of("Agent", "0000-a"), 30, "Stage", "Writing image to disk\x1b[2J"),
		event("e2", of("BMC", "a"), 20, "Probed", "iDRAC9 7.1"),
		event("e5", of("Secret", "a-bmc"), 50, "Rotated", "the password was changed"),
		event("e6", of("DataImage", "a"), 60, "Attached", "of an image that is gone"),
		event("other", of("BareMetalHost", "b"), 15, "Registered", "of another host"),
		event("former", corev1.ObjectReference{Kind: "BareMetalHost", Name: "a", UID: "former"}, 5, "Registered", "of an earlier host of that name"),
	)
	return s
}

// TestEvents: of the host and all that belongs to it, in order of time.
func TestEvents(t *testing.T) {
	s := busy(t)
	out, _, err := s.run("", "events", "host/a")
	s.Expect(err).NotTo(HaveOccurred())
	golden(t, "events.txt", out)
	out, told, err := s.run("", "events", "c")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(out).To(BeEmpty())
	s.Expect(told).To(ContainSubstring("No events of host site/c"))
	_, _, err = s.run("", "events", "nobody")
	s.Expect(err).To(MatchError("host site/nobody is not there"))
}

// TestEventsWatch goes on with new ones, also of an agent that has come since.
func TestEventsWatch(t *testing.T) {
	s := busy(t)
	p := s.start("events", "a", "-w")
	s.Eventually(p.out.String, "10s").Should(ContainSubstring("of an image that is gone"))
	s.create(&agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Name: "1111-a", Labels: map[string]string{names.AgentHostLabel: "a"}}})
	s.create(event("n1", corev1.ObjectReference{Kind: "Agent", Name: "1111-a"}, 70, "Stage", "Rebooting"))
	s.create(event("n2", corev1.ObjectReference{Kind: "BareMetalHost", Name: "b"}, 80, "Registered", "of another host"))
	s.Eventually(p.out.String, "10s").Should(MatchRegexp(`\n2026-05-01T12:01:10Z +Normal +Stage +agent/1111-a +Rebooting\n$`))
	s.Consistently(p.out.String, "200ms").ShouldNot(ContainSubstring("another host"))
	p.stop()
	s.Eventually(p.ended, "10s").Should(Receive(BeNil()))
}
