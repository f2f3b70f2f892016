package bmcevents

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"golang.org/x/time/rate"
	"k8s.io/apimachinery/pkg/types"
	kevents "k8s.io/client-go/tools/events"

	"github.com/ironflow/ironflow/bmc/events"
	"github.com/ironflow/ironflow/bmc/events/meaning"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// newDispatcher is that of one host, at rest or not, on the leader.
func newDispatcher(t *testing.T, busy bool, told *kevents.FakeRecorder) *Dispatcher {
	t.Helper()
	c, err := newCounts(nil, nil)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return &Dispatcher{
		recorder: reconcile.Recorder{Sink: told}, counts: c, now: func() time.Time { return noon }, leads: func() bool { return true }, machines: map[machine]int{},
		hosts: map[types.UID]*host{"u": {key: key, uid: "u", source: "u", underWay: busy, alerts: rate.NewLimiter(rate.Every(alertPause), alertBurst)}},
	}
}

// TestAStreamIsOpenBeforeTheHostIsHeardOf: what the host missed before is told all the same.
func TestAStreamIsOpenBeforeTheHostIsHeardOf(t *testing.T) {
	g := NewWithT(t)
	dispatcher, woken := newDispatcher(t, false, nil), 0
	dispatcher.OnHost(func(types.NamespacedName, bool) { woken++ })
	dispatcher.begins("u")
	dispatcher.begins("nobody")
	dispatcher.Wake(events.Wake{Host: "u", Kind: meaning.Look})
	g.Expect(woken).To(Equal(1))
}

// TestWhoIsWoken: each kind of event wakes those who do its reads; a host at rest waits
// for its power only, so that a fleet that talks costs no passes.
func TestWhoIsWoken(t *testing.T) {
	for _, c := range []struct {
		kind         meaning.Kind
		busy         bool
		host, health bool
	}{
		{meaning.Power, false, true, false},
		{meaning.Power, true, true, false},
		{meaning.Boot, false, false, false},
		{meaning.Boot, true, true, false},
		{meaning.Task, false, false, false},
		{meaning.Task, true, true, false},
		{meaning.Health, true, false, true},
		{meaning.Log, false, false, true},
		{meaning.Look, false, false, true},
		{meaning.Look, true, true, true},
		{meaning.Other, true, false, false},
	} {
		g := NewWithT(t)
		dispatcher, host, health := newDispatcher(t, c.busy, nil), 0, 0
		dispatcher.OnHost(func(k types.NamespacedName, power bool) {
			g.Expect(k).To(Equal(key))
			g.Expect(power).To(Equal(c.kind == meaning.Power))
			host++
		})
		dispatcher.OnHealth(func(types.NamespacedName) { health++ })
		dispatcher.Wake(events.Wake{Host: "u", Kind: c.kind})
		dispatcher.Wake(events.Wake{Host: "nobody", Kind: c.kind})
		g.Expect([]bool{host == 1, health == 1}).To(Equal([]bool{c.host, c.health}), "%s, busy %t", c.kind, c.busy)
	}
}

// TestWhoseMachineItIs: a BMC with several machines tells of them all to each of their hosts.
// What is another host's is left out; all else is heard.
func TestWhoseMachineItIs(t *testing.T) {
	for _, c := range []struct {
		address, origin string
		want            bool
	}{
		{"redfish://192.0.2.1/redfish/v1/Systems/1", "/redfish/v1/Systems/1", true},
		{"redfish://192.0.2.1/redfish/v1/Systems/1", "/redfish/v1/Systems/1/LogServices/SEL/Entries/3", true},
		{"redfish://192.0.2.1/redfish/v1/Systems/1/", "/redfish/v1/systems/1/Processors/CPU1", true},
		{"redfish://192.0.2.1/redfish/v1/Systems/1", "/redfish/v1/Systems/2", false},
		{"redfish://192.0.2.1/redfish/v1/Systems/1", "/redfish/v1/Systems/2/Memory/DIMM1", false},
		{"redfish-virtualmedia+https://192.0.2.1/redfish/v1/Systems/1", "https://192.0.2.1/redfish/v1/Systems/2/Memory/DIMM1", false},
		{"redfish://192.0.2.1/redfish/v1/Systems/1", "/redfish/v1/Systems/12", true}, // nobody's, as a board with accelerators is
		{"redfish://192.0.2.1/redfish/v1/Systems/1", "", true},
		{"redfish://192.0.2.1/redfish/v1/Systems/1", "/redfish/v1/Systems", true},
		{"redfish://192.0.2.1/redfish/v1/Systems/1", "/redfish/v1/Chassis/2/Sensors/Fan1", true},
		{"redfish://192.0.2.1/redfish/v1/Systems/1", "/redfish/v1/Managers/2/LogServices/IML/Entries/3", true},
		{"redfish://192.0.2.1/redfish/v1/Systems/1", "/redfish/v1/TaskService/Tasks/2", true},
		{"redfish://192.0.2.1", "/redfish/v1/Systems/2", true},                      // its BMC has but one
		{"redfish://192.0.2.9/redfish/v1/Systems/1", "/redfish/v1/Systems/2", true}, // that of the neighbour is another BMC's
	} {
		g := NewWithT(t)
		told := kevents.NewFakeRecorder(10)
		dispatcher, woken := newDispatcher(t, true, told), 0
		dispatcher.OnHost(func(types.NamespacedName, bool) { woken++ })
		keys, err := events.NewKeys(secretOf("k"))
		g.Expect(err).NotTo(HaveOccurred())
		dispatcher.receiver = events.NewReceiver(events.Options{Keys: keys, Sink: dispatcher})
		own, neighbour := &metal3.BareMetalHost{}, &metal3.BareMetalHost{}
		own.UID, own.Spec.BMC.Address = "own", c.address
		neighbour.UID, neighbour.Spec.BMC.Address = "neighbour", "redfish://192.0.2.1/redfish/v1/Systems/2"
		dispatcher.put(own)
		dispatcher.put(neighbour)
		tell := func() {
			system := meaning.SystemOf(c.origin)
			dispatcher.Wake(events.Wake{Host: sourceOf(own), Kind: meaning.Task, System: system})
			dispatcher.Alert(events.Alert{Host: sourceOf(own), Severity: meaning.Critical, System: system})
		}
		tell()
		g.Expect([]bool{woken == 1, len(told.Events) == 1}).To(HaveEach(c.want), "%s of %s", c.origin, c.address)
		neighbour.Spec.BMC.Address = "redfish://192.0.2.1/redfish/v1/Systems/3"
		dispatcher.put(neighbour)
		woken = 0
		tell()
		g.Expect(woken).To(Equal(1), "it is nobody's any more")
		dispatcher.drop(neighbour)
		dispatcher.drop(own)
		g.Expect(dispatcher.machines).To(BeEmpty())
	}
}

// TestAMadBMC does not fill the cluster with events.
func TestAMadBMC(t *testing.T) {
	g := NewWithT(t)
	told := kevents.NewFakeRecorder(2000)
	dispatcher := newDispatcher(t, false, told)
	for range 1000 {
		dispatcher.Alert(events.Alert{Host: "u", Severity: meaning.Warning, Message: "hot"})
	}
	g.Expect(told.Events).To(HaveLen(alertBurst))
	g.Expect(<-told.Events).To(ContainSubstring("Warning " + EventAlertWarning))
}

// TestNotes: what is told of a host at once is one note, a host that says much costs one in
// five seconds, and each delivery is followed by one as long as a test event is waited for.
func TestNotes(t *testing.T) {
	g := NewWithT(t)
	dispatcher := newDispatcher(t, false, nil)
	now := noon
	dispatcher.leads, dispatcher.notes = func() bool { return false }, newNotes(nil, func() time.Time { return now })
	for i := range 1000 {
		dispatcher.heard("u", noon.Add(time.Duration(i)*time.Millisecond))
	}
	g.Expect(dispatcher.notes.pending).To(Equal(map[types.NamespacedName][]meaning.Kind{key: {meaning.Other}}))
	for range 1000 {
		dispatcher.Wake(events.Wake{Host: "u", Kind: meaning.Power})
	}
	g.Expect(dispatcher.notes.pending).To(Equal(map[types.NamespacedName][]meaning.Kind{key: {meaning.Other, meaning.Power}}))
	due := func(after time.Duration, want ...meaning.Kind) {
		t.Helper()
		now = now.Add(after)
		got, more := dispatcher.notes.due()
		g.Expect(got[key]).To(Equal(want))
		g.Expect(more).To(Equal(len(dispatcher.notes.pending) > 0))
	}
	due(0, meaning.Other, meaning.Power)
	dispatcher.Wake(events.Wake{Host: "u", Kind: meaning.Power})
	due(notePause - 1)
	due(1, meaning.Power)
	dispatcher.heard("u", now)
	due(arrivalPause - 1)
	due(1, meaning.Other)
	g.Expect(arrivalPause + noteGap).To(BeNumerically("<", testTime))
	due(arrivalPause)
	g.Expect(dispatcher.notes.written).To(BeEmpty())
	g.Expect(noteOf([]meaning.Kind{meaning.Other, meaning.Power}, noon)).To(Equal("Other,Power 2026-01-02T12:00:00Z"))
}
