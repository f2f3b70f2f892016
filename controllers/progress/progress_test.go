package progress

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// patience bounds what takes milliseconds on an idle machine.
const patience = 20 * time.Second

// counted is a real hub that counts how often it is asked by address.
type counted struct {
	*testhub.Hub
	asked atomic.Int32
}

func (c *counted) HostByMAC(ctx context.Context, infraEnvID, mac string, images ...string) (service.HostView, bool, error) {
	c.asked.Add(1)
	return c.Hub.HostByMAC(ctx, infraEnvID, mac, images...)
}

// reads is an image store with one image that is being read.
type reads struct {
	progress map[string]images.ReadProgress
	events   chan images.Event
}

func (r *reads) Progress(key string) (images.ReadProgress, bool) {
	p, ok := r.progress[key]
	return p, ok
}

func (r *reads) Watch(context.Context) <-chan images.Event { return r.events }

// world is a source between a fake API server with two hosts and a real hub.
type world struct {
	*WithT
	t      *testing.T
	kube   client.Client
	hub    *counted
	images *reads
	source *Source
	token  string
	host   store.HostKey
}

var (
	node0 = types.NamespacedName{Namespace: "site", Name: "node-0"}
	node1 = types.NamespacedName{Namespace: "site", Name: "node-1"}
)

func newWorld(t *testing.T) *world {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(metal3v1.AddToScheme(scheme)).To(Succeed())
	g.Expect(agentv1.AddToScheme(scheme)).To(Succeed())
	host := func(key types.NamespacedName, mac string) *metal3v1.BareMetalHost {
		return &metal3v1.BareMetalHost{
			ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, Labels: map[string]string{names.InfraEnvLabel: "edge"}},
			Spec:       metal3v1.BareMetalHostSpec{BootMACAddress: mac},
		}
	}
	w := &world{WithT: g, t: t, hub: &counted{Hub: testhub.Start(t, testhub.Options{})}}
	env, _ := w.hub.InfraEnv(t, "edge")
	token, err := w.hub.MachineToken(t.Context(), env, "02:00:00:00:00:01") // which is in node-0's live image
	g.Expect(err).NotTo(HaveOccurred())
	w.kube = fake.NewClientBuilder().WithScheme(scheme).WithObjects(host(node0, "02:00:00:00:00:01"), host(node1, "02:00:00:00:00:02"),
		&agentv1.InfraEnv{ObjectMeta: metav1.ObjectMeta{Namespace: node0.Namespace, Name: "edge", UID: types.UID(env)}}).Build()
	w.images = &reads{progress: map[string]images.ReadProgress{}, events: make(chan images.Event)}
	w.source = New(w.hub, w.images, w.kube, logr.Discard())
	w.token, w.host = token, store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}
	return w
}

// start runs the source until the test ends; wait for woken hosts with woken.
func (w *world) start() {
	w.t.Helper()
	done := make(chan error, 1)
	ctx := w.t.Context()
	go func() { done <- w.source.Start(ctx) }()
	w.t.Cleanup(func() { w.Expect(<-done).To(Succeed()) })
	w.Eventually(func() bool {
		w.source.views.mu.Lock()
		defer w.source.views.mu.Unlock()
		return w.source.views.following
	}, patience).Should(BeTrue())
}

// woken waits until the host is told to look, after which the source knows all
// that was stored before.
func (w *world) woken(key types.NamespacedName) {
	w.t.Helper()
	w.Eventually(w.source.Changed, patience).Should(Receive(Equal(key)))
}

// settled takes what the source tells until want holds for the host.
func (w *world) settled(key types.NamespacedName, want func() bool) {
	w.t.Helper()
	w.Eventually(func() bool {
		select {
		case <-w.source.Changed:
		default:
		}
		return want()
	}, patience, time.Millisecond).Should(BeTrue())
}

// register lets the machine register and report an inventory with node-0's address.
func (w *world) register() *testhub.Caller {
	w.t.Helper()
	agent := w.hub.Agent(w.token)
	agent.Register(w.t, w.host)
	for _, step := range agent.Poll(w.t, w.host).Instructions {
		agent.Answer(w.t, w.host, step, testhub.Inventory(1))
	}
	return agent
}

// TestAMachineThatHasNotBootedTheHostsImage tells nothing of it, whatever address it says that it has: its failure would end
// the deployment of the host's own.
func TestAMachineThatHasNotBootedTheHostsImage(t *testing.T) {
	w := newWorld(t)
	shared, err := w.hub.AgentToken(t.Context(), w.host.InfraEnvID)
	w.Expect(err).NotTo(HaveOccurred())
	other, err := w.hub.MachineToken(t.Context(), w.host.InfraEnvID, "02:00:00:00:00:02")
	w.Expect(err).NotTo(HaveOccurred())
	own := w.token
	for _, w.token = range []string{shared, other} {
		w.host.HostID = uuid.NewString()
		w.register()
		_, shown := w.source.HostProgress(node0)
		w.Expect(shown).To(BeFalse())
	}
	w.token, w.host.HostID = own, uuid.NewString()
	w.register()
	_, shown := w.source.HostProgress(node0)
	w.Expect(shown).To(BeTrue())
}

// TestAHostWhoseImageIsOlderThanItsAddress is named by its object in it: the boot MAC address was set once the machine ran it.
func TestAHostWhoseImageIsOlderThanItsAddress(t *testing.T) {
	w := newWorld(t)
	var err error
	w.token, err = w.hub.MachineToken(t.Context(), w.host.InfraEnvID, node0.String())
	w.Expect(err).NotTo(HaveOccurred())
	w.register()
	_, shown := w.source.HostProgress(node0)
	w.Expect(shown).To(BeTrue())
}

// TestARecordThatIsAnotherMachinesNow: the host was removed from the hub, and whoever registers under its id has not booted its image.
// What is known of the id is not shown on.
func TestARecordThatIsAnotherMachinesNow(t *testing.T) {
	w := newWorld(t)
	w.source.views.follow()
	w.register()
	_, shown := w.source.HostProgress(node0)
	w.Expect(shown).To(BeTrue())
	w.Expect(w.hub.DeleteHost(t.Context(), w.host)).To(Succeed())
	var err error
	w.token, err = w.hub.AgentToken(t.Context(), w.host.InfraEnvID)
	w.Expect(err).NotTo(HaveOccurred())
	w.register()
	go func() {
		for range w.source.Changed {
		}
	}()
	w.source.fromHub(t.Context(), service.Event{InfraEnvID: w.host.InfraEnvID, HostID: w.host.HostID})
	close(w.source.Changed)
	_, shown = w.source.HostProgress(node0)
	w.Expect(shown).To(BeFalse())
}

// prepare answers the hub's checks until the installation may begin.
func (w *world) prepare(agent *testhub.Caller) {
	w.t.Helper()
	agent.UntilInstall(w.t, w.host, testhub.Inventory(1))
}

func TestAnAbsentHostIsAskedForOnce(t *testing.T) {
	w := newWorld(t)
	w.start()
	for range 5 {
		_, ok := w.source.HostProgress(node0)
		w.Expect(ok).To(BeFalse())
	}
	w.Expect(w.hub.asked.Load()).To(BeEquivalentTo(1))
	w.register()
	w.woken(node0)
	w.settled(node0, func() bool { _, ok := w.source.HostProgress(node0); return ok })
	w.settled(node0, func() bool { // once its last news has arrived, a present host is remembered, too
		before := w.hub.asked.Load()
		w.source.HostProgress(node0)
		return w.hub.asked.Load() == before
	})
	_, ok := w.source.HostProgress(node1)
	w.Expect(ok).To(BeFalse(), "the neighbour has registered nothing")
}

// deaf hears only what the test says.
type deaf struct {
	*counted
	events chan service.Event
}

func (d deaf) Subscribe() (<-chan service.Event, func()) { return d.events, func() {} }

// TestMissedNews: nothing that is remembered counts any more, and whoever asked is to ask again.
func TestMissedNews(t *testing.T) {
	w := newWorld(t)
	news := make(chan service.Event)
	w.source.hub = deaf{w.hub, news}
	w.start()
	_, ok := w.source.HostProgress(node0)
	w.Expect(ok).To(BeFalse())
	w.register()
	_, ok = w.source.HostProgress(node0)
	w.Expect(ok).To(BeFalse(), "nobody has told")
	news <- service.Event{What: service.ChangedAll}
	w.woken(node0)
	_, ok = w.source.HostProgress(node0)
	w.Expect(ok).To(BeTrue())
}

func TestNothingIsKeptBeforeNewsArrive(t *testing.T) {
	w := newWorld(t)
	_, ok := w.source.HostProgress(node0)
	w.Expect(ok).To(BeFalse())
	w.register()
	p, ok := w.source.HostProgress(node0)
	w.Expect(ok).To(BeTrue(), "a host that registered before the source ran is found")
	w.Expect(p.Stage).NotTo(BeEmpty())
}

func TestStagesReachTheirHost(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.source.HostProgress(node0)
	w.source.HostProgress(node1)
	agent := w.register()
	w.prepare(agent)
	agent.Progress(t, w.host, wire.HostStageWritingImageToDisk, "45%")
	w.woken(node0)
	w.settled(node0, func() bool {
		p, ok := w.source.HostProgress(node0)
		return ok && p.Stage == string(wire.HostStageWritingImageToDisk) && p.Text == "45%" && p.Percent > 0
	})

	agent.Progress(t, w.host, wire.HostStageFailed, "no space left")
	w.settled(node0, func() bool {
		p, _ := w.source.HostProgress(node0)
		return p.Failure == "no space left" && !p.FailedAt.IsZero()
	})

	w.Expect(w.hub.DeleteHost(t.Context(), w.host)).To(Succeed())
	w.settled(node0, func() bool { _, ok := w.source.HostProgress(node0); return !ok })
}

// TestAnAddressThatAnotherMachineClaims: a machine that registers in another
// infra-env says nothing about this host, nor does one in the same that has not
// booted the host's image, whether the host's own is there or not.
func TestAnAddressThatAnotherMachineClaims(t *testing.T) {
	for name, source := range map[string]bool{"remembered": true, "asked for each time": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if source {
				w.start()
			}
			w.source.HostProgress(node0)
			w.register()
			own := w.host
			shown := func(want bool) {
				t.Helper()
				w.settled(node0, func() bool {
					p, ok := w.source.HostProgress(node0)
					return ok == want && p.Failure == ""
				})
			}
			shown(true)
			w.host.InfraEnvID, w.token = w.hub.InfraEnv(t, "pool")
			w.host.HostID = uuid.NewString()
			claim := w.register()
			w.prepare(claim)
			claim.Progress(t, w.host, wire.HostStageFailed, "deploy me again")
			for range 3 {
				w.Expect(w.hub.ApproveHost(t.Context(), own, false)).To(Succeed(), "news of the host's own machine")
				w.Expect(w.hub.ApproveHost(t.Context(), own, true)).To(Succeed(), "and more")
				shown(true)
			}
			w.host.InfraEnvID, w.token = w.hub.InfraEnv(t, "edge")
			w.register()
			shown(true)
			w.Expect(w.hub.DeleteHost(t.Context(), own)).To(Succeed())
			shown(false)
		})
	}
}

func TestTheBMCsReadingIsShown(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.images.progress["site/node-1"] = images.ReadProgress{Bytes: 45, Size: 100, Percent: 45, LastRead: time.Now()}
	w.images.events <- images.Event{Key: "site/node-1"}
	w.woken(node1)
	p, ok := w.source.HostProgress(node1)
	w.Expect(ok).To(BeTrue())
	w.Expect(p.Stage).To(Equal("BMC reads the live image"))
	w.Expect(p.Reading).To(BeTrue(), "it is not the host's own word")
	w.Expect(p.Percent).To(Equal(45))
	_, ok = w.source.HostProgress(node0)
	w.Expect(ok).To(BeFalse())

	w.images.progress["site/node-1"] = images.ReadProgress{Bytes: 45, Size: 100, Percent: 45, LastRead: time.Now().Add(-2 * time.Minute)}
	_, ok = w.source.HostProgress(node1)
	w.Expect(ok).To(BeFalse(), "a machine that runs reads no more, and what it does is shown instead")
	w.images.progress["site/node-1"] = images.ReadProgress{Bytes: 45, Size: 100, Percent: 45, LastRead: time.Now().Add(-2 * time.Minute), Readers: 1}
	_, ok = w.source.HostProgress(node1)
	w.Expect(ok).To(BeTrue(), "a slow BMC is still at it")

	w.images.progress["site/node-1"] = images.ReadProgress{Bytes: 100, Size: 100, Percent: 100, LastRead: time.Now()}
	_, ok = w.source.HostProgress(node1)
	w.Expect(ok).To(BeFalse(), "what was read is no progress any more")
}

func TestABMCThatStopsReadingIsAnEvent(t *testing.T) {
	w := newWorld(t)
	sink := events.NewFakeRecorder(1)
	w.source.Events = reconcile.Recorder{Sink: sink}
	w.start()
	w.images.events <- images.Event{Key: "site/node-1", Kind: images.ReaderStalled, Percent: 45.4}
	w.woken(node1)
	w.Expect(sink.Events).To(Receive(And(HavePrefix("Warning LiveImageReaderStalled"), ContainSubstring("at 45 %"))))
	w.images.events <- images.Event{Key: "site/gone", Kind: images.ReaderStalled}
	w.woken(types.NamespacedName{Namespace: "site", Name: "gone"})
	w.Expect(sink.Events).NotTo(Receive())
}

func TestADeletedHostIsForgotten(t *testing.T) {
	w := newWorld(t)
	w.start()
	w.source.HostProgress(node0)
	w.source.Leave(node0)
	w.Expect(w.source.views.askers).To(BeEmpty())
	w.Expect(w.source.views.absent).To(BeEmpty())
}

func TestAnAnswerOlderThanTheNewsIsNotKept(t *testing.T) {
	g := NewWithT(t)
	v := newViews()
	v.follow()
	mac, key := "02:00:00:00:00:01", store.HostKey{InfraEnvID: "e", HostID: "h"}
	at := address{infraEnv: "e", mac: mac}
	_, _, ask, news := v.get(at, node0)
	g.Expect(ask).To(BeTrue())
	g.Expect(v.update(key, service.HostView{Key: key, Status: "known"}, []string{mac})).To(ConsistOf(node0))
	v.put(at, service.HostView{}, false, news)
	_, _, ask, news = v.get(at, node0)
	g.Expect(ask).To(BeTrue(), "the host that registered in the meantime is not overlooked")

	v.put(at, service.HostView{Key: key, Status: "known"}, true, news)
	g.Expect(v.update(key, service.HostView{Key: key, Status: "installing"}, []string{mac})).To(ConsistOf(node0))
	view, found, ask, _ := v.get(at, node0)
	g.Expect(ask).To(BeFalse())
	g.Expect(found).To(BeTrue())
	g.Expect(view.Status).To(Equal("installing"))
	other := store.HostKey{InfraEnvID: "e", HostID: "other"}
	for range 2 {
		v.update(other, service.HostView{Key: other}, []string{mac})
		_, found, ask, _ = v.get(at, node0)
		g.Expect(found).To(BeFalse())
		g.Expect(ask).To(BeTrue(), "whose address it is is the hub's to say")
	}
}
