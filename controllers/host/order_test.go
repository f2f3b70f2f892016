package host

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// byHand asks Ironic for a provision state as somebody else does, and waits until the node rests.
func (w *world) byHand(targets ...ironic.Target) {
	w.t.Helper()
	gateway, err := ironic.New(w.t.Context(), ironic.Config{URL: "http://ironic.test", Transport: w.sim.Transport()})
	w.g.Expect(err).NotTo(HaveOccurred())
	for _, target := range targets {
		n, _ := w.sim.Node("lab~host-1")
		w.g.Expect(gateway.Transition(w.t.Context(), n.UUID, ironic.Transition{Target: target})).To(Succeed())
		let(time.Minute)
	}
}

// wantMirror asks for volumes.
func (w *world) wantMirror() {
	w.edit(func(h *metal3.BareMetalHost) { h.Spec.RAID = mirror.DeepCopy() })
}

// wantUpdate asks for an update of the firmware.
func (w *world) wantUpdate() {
	components := &metal3.HostFirmwareComponents{}
	w.g.Expect(w.kube.Get(w.t.Context(), w.key, components)).To(Succeed())
	components.Spec.Updates = []metal3.FirmwareUpdate{{Component: "bios", URL: "http://images/bios-2"}}
	w.g.Expect(w.kube.Update(w.t.Context(), components)).To(Succeed())
}

// order is what the host's node says of its work; nil for nothing.
func (w *world) order() *plan.Order {
	n, _ := w.sim.Node("lab~host-1")
	extra, _ := n.Fields["extra"].(map[string]any)
	return plan.OrderOf(&ironic.Node{Extra: extra})
}

// TestAnOrderThatWaitsInLineIsNotDoneByAnInspection: whatever somebody does in Ironic to the node of a host that waits for
// its turn to be prepared is not the work that was asked for.
func TestAnOrderThatWaitsInLineIsNotDoneByAnInspection(t *testing.T) {
	for name, targets := range map[string][]ironic.Target{
		"inspected":               {ironic.TargetManage, ironic.TargetInspect},
		"cleaned and taken back":  {ironic.TargetManage, ironic.TargetProvide, ironic.TargetManage},
		"inspected, then cleaned": {ironic.TargetManage, ironic.TargetInspect, ironic.TargetProvide},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorldWith(t, assisted(nil), Options{Limits: capacity.Limits{Domain: 1}}, func(h *metal3.BareMetalHost) {
					onRedfish(h)
					h.Labels = map[string]string{names.FailureDomain: "rack-1"}
				})
				defer func() { w.stop() }()
				w.untilAtRest()
				other := client.ObjectKey{Namespace: "lab", Name: "other"}
				w.rec.schedule.Slots.Queue.Hold(other, capacity.Place{Domain: "rack-1"})
				w.wantMirror()
				w.until("delayed", time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.OperationalStatus == metal3.OperationalStatusDelayed && h.Status.Provisioning.State == metal3.StatePreparing
				})
				w.byHand(targets...)
				w.g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StatePreparing))
				w.g.Expect(w.host().Status.Provisioning.RAID).NotTo(Equal(mirror), "there are no volumes")
				w.g.Expect(w.order()).To(BeNil(), "what is not about to be asked for is not on the node")
				w.rec.schedule.Slots.Queue.Leave(other)
				w.untilState(metal3.StateAvailable, 5*time.Minute)
				w.g.Expect(w.sim.Steps()["raid.create_configuration"]).To(Equal(1))
				w.g.Expect(w.host().Status.Provisioning.RAID).To(Equal(mirror))
			})
		})
	}
}

// turnAway has Ironic refuse requests for provision states while it says so.
func (w *world) turnAway(closed *atomic.Bool) {
	closed.Store(true)
	w.sim.Intercept(func(r *http.Request) *simulator.Fault {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/states/provision") || !closed.Load() {
			return nil
		}
		return &simulator.Fault{Status: http.StatusConflict, Text: "Node host-1 is locked by host conductor-2, please retry after the current operation is completed."}
	})
}

// somebodyMoves has somebody take the node to another state and back.
func (w *world) somebodyMoves(there, back string) {
	for _, state := range []string{there, back} {
		w.g.Expect(w.sim.Edit("lab~host-1", map[string]any{"provision_state": state})).To(BeTrue())
		let(30 * time.Second)
	}
}

// TestAnOrderThatIsTurnedAwayIsNotDoneByAnInspection: Ironic does not take the request, and somebody inspects the machine.
func TestAnOrderThatIsTurnedAwayIsNotDoneByAnInspection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, onRedfish)
		defer func() { w.stop() }()
		w.untilAtRest()
		w.byHand(ironic.TargetManage)
		var closed atomic.Bool
		w.turnAway(&closed)
		w.wantMirror()
		w.wish()
		let(time.Minute)
		w.g.Expect(w.order()).NotTo(BeNil())
		w.somebodyMoves("inspecting", "manageable")
		w.g.Expect(w.host().Status.Provisioning.RAID).NotTo(Equal(mirror), "there are no volumes")
		closed.Store(false)
		w.untilState(metal3.StateAvailable, 5*time.Minute)
		w.settled(0, 1)
		w.g.Expect(w.host().Status.Provisioning.RAID).To(Equal(mirror))
	})
}

// TestAServiceOrderThatIsTurnedAwayIsNotDoneByARescue: of a machine in use, likewise.
func TestAServiceOrderThatIsTurnedAwayIsNotDoneByARescue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, wantInstall)
		defer func() { w.stop() }()
		w.untilState(metal3.StateProvisioned, 5*time.Minute)
		let(time.Minute)
		var closed atomic.Bool
		w.turnAway(&closed)
		w.allowServicing()
		w.wish()
		w.annotate(names.Reboot, `{"mode":"hard"}`)
		w.until("about to be serviced", time.Minute, func(*metal3.BareMetalHost) bool { return w.order() != nil })
		let(10 * time.Second)
		w.somebodyMoves("rescue", "active")
		components := &metal3.HostFirmwareComponents{}
		w.g.Expect(w.kube.Get(t.Context(), w.key, components)).To(Succeed())
		w.g.Expect(components.Status.Updates).To(BeEmpty(), "nothing was flashed")
		w.g.Expect(w.events.list()).NotTo(ContainElement("ServicingComplete"))
		closed.Store(false)
		w.until("serviced", 5*time.Minute, func(h *metal3.BareMetalHost) bool {
			return w.sim.Steps()["firmware.update"] > 0 && h.Status.OperationalStatus == metal3.OperationalStatusOK && h.Status.PoweredOn
		})
		let(time.Minute)
		w.settled(0, 0)
	})
}

// killedAsking kills the program as it asks Ironic for the work that a change leads to, before or after Ironic handles that.
func (w *world) killedAsking(handled bool, change func()) {
	w.t.Helper()
	die := make(chan struct{})
	var once atomic.Bool
	w.sim.Intercept(func(r *http.Request) *simulator.Fault {
		if r.Method != http.MethodPut || !strings.HasSuffix(r.URL.Path, "/states/provision") || w.order() == nil || !once.CompareAndSwap(false, true) {
			return nil
		}
		close(die)
		return &simulator.Fault{Cut: true, AfterHandling: handled}
	})
	go func() {
		<-die
		w.stop()
	}()
	change()
	<-die
	<-w.over
}

// TestWorkOfWhichNobodyKnowsIsNeitherRepeatedNorRecorded: the program dies as it asks for the work, and is not there again before
// Ironic is done with it, or somebody has inspected the machine. It cannot tell the one from the other.
func TestWorkOfWhichNobodyKnowsIsNeitherRepeatedNorRecorded(t *testing.T) {
	for name, handled := range map[string]bool{"it was done": true, "it was not begun": false} {
		done := 0
		if handled {
			done = 1
		}
		t.Run("volumes, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := workingWorld(t, onRedfish)
				defer func() { w.stop() }()
				w.untilAtRest()
				w.byHand(ironic.TargetManage)
				w.killedAsking(handled, w.wantMirror)
				let(time.Minute)
				if !handled {
					w.somebodyMoves("inspecting", "manageable")
				}
				w.start(policy.Settings{})
				w.until("said", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.PreparationError })
				let(time.Hour)
				h := w.host()
				w.g.Expect(w.sim.Steps()["raid.create_configuration"]).To(Equal(done), "nothing is repeated")
				w.g.Expect(h.Status.Provisioning.RAID).NotTo(Equal(mirror), "nothing is recorded")
				w.g.Expect(h.Status.ErrorMessage).To(And(ContainSubstring("not known"), ContainSubstring(names.Retry)))
				w.annotate(names.Retry, "1")
				w.untilState(metal3.StateAvailable, 5*time.Minute)
				w.g.Expect(w.sim.Steps()["raid.create_configuration"]).To(Equal(done+1), "as somebody asks for")
				w.g.Expect(w.host().Status.Provisioning.RAID).To(Equal(mirror))
			})
		})
		t.Run("updates, "+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := workingWorld(t, nil)
				defer func() { w.stop() }()
				w.untilAtRest()
				w.byHand(ironic.TargetManage)
				w.killedAsking(handled, w.wantUpdate)
				let(time.Minute)
				if !handled {
					w.somebodyMoves("inspecting", "manageable")
				}
				w.start(policy.Settings{})
				let(10 * time.Minute)
				h := w.host()
				w.g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateAvailable))
				w.g.Expect(w.sim.Steps()["firmware.update"]).To(Equal(done), "nothing is repeated")
				components := &metal3.HostFirmwareComponents{}
				w.g.Expect(w.kube.Get(t.Context(), w.key, components)).To(Succeed())
				w.g.Expect(components.Status.Conditions).To(ContainElement(HaveField("Reason", "TakenAsMade")), "it is said that nobody knows")
			})
		})
	}
}

// TestWorkThatIsSeenUnderWayCounts: the program dies as Ironic takes its request, and is there again before that is over.
func TestWorkThatIsSeenUnderWayCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := workingWorld(t, onRedfish, func(o *simulator.Options) { o.Delays.Clean = 10 * time.Minute })
		defer func() { w.stop() }()
		w.until("available", 30*time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.PoweredOn
		})
		let(time.Minute)
		w.killedAsking(true, w.wantMirror)
		let(time.Minute)
		w.start(policy.Settings{})
		w.untilState(metal3.StateAvailable, time.Hour)
		w.g.Expect(w.sim.Steps()["raid.create_configuration"]).To(Equal(1))
		w.g.Expect(w.host().Status.Provisioning.RAID).To(Equal(mirror))
	})
}

// replaceFirmware has the host's firmware resources deleted and made anew, as GitOps tools do, with the updates that are wished for.
func (w *world) replaceFirmware(updates []metal3.FirmwareUpdate) {
	w.t.Helper()
	ctx := w.t.Context()
	settings, components := &metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{}
	w.g.Expect(w.kube.Get(ctx, w.key, settings)).To(Succeed())
	w.g.Expect(w.kube.Get(ctx, w.key, components)).To(Succeed())
	w.g.Expect(w.kube.Delete(ctx, settings.DeepCopy())).To(Succeed())
	w.g.Expect(w.kube.Delete(ctx, components.DeepCopy())).To(Succeed())
	let(5 * time.Second)
	at := metav1.ObjectMeta{Namespace: w.key.Namespace, Name: w.key.Name}
	put := func(o client.Object, change func() error) { // the controller may have made it meanwhile
		err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
			_, err := controllerutil.CreateOrUpdate(ctx, w.kube, o, change)
			return err
		})
		w.g.Expect(err).NotTo(HaveOccurred())
	}
	newSettings, newComponents := &metal3.HostFirmwareSettings{ObjectMeta: at}, &metal3.HostFirmwareComponents{ObjectMeta: at}
	put(newSettings, func() error { newSettings.Spec = settings.Spec; return nil })
	put(newComponents, func() error { newComponents.Spec.Updates = updates; return nil })
}

// TestFirmwareIsNotFlashedAgainForAnObjectThatIsMadeAnew: what was flashed is known without the status of HostFirmwareComponents,
// which goes with it. A wish that was not fulfilled before is.
func TestFirmwareIsNotFlashedAgainForAnObjectThatIsMadeAnew(t *testing.T) {
	for name, change := range map[string]func(*metal3.BareMetalHost){"available": nil, "provisioned": wantInstall} {
		for when, stopped := range map[string]bool{"": false, ", while nobody looks": true} {
			t.Run(name+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := workingWorld(t, nil)
					defer func() { w.stop() }()
					w.untilFlashed(change)
					if change != nil {
						w.allowServicing()
					}
					let(5 * time.Minute)
					reboot := func() {
						if change != nil {
							w.annotate(names.Reboot, "")
						}
					}
					replace := func(updates ...metal3.FirmwareUpdate) {
						if stopped {
							w.halt()
						}
						w.replaceFirmware(updates)
						if stopped {
							w.start(policy.Settings{})
						}
						let(time.Minute)
						reboot()
						let(10 * time.Minute)
					}
					bios := metal3.FirmwareUpdate{Component: "bios", URL: "http://images/bios-2"}
					replace(bios)
					w.g.Expect(w.sim.Steps()["firmware.update"]).To(Equal(1), "the machine has it")
					w.g.Expect(w.sim.Steps()["bios.apply_configuration"]).To(Equal(1), "and the settings, which it tells by itself")
					components := &metal3.HostFirmwareComponents{}
					w.g.Expect(w.kube.Get(t.Context(), w.key, components)).To(Succeed())
					w.g.Expect(components.Status.Updates).To(Equal([]metal3.FirmwareUpdate{bios}), "it is shown again")
					replace(bios, metal3.FirmwareUpdate{Component: "bmc", URL: "http://images/bmc-2"})
					w.g.Expect(w.sim.Steps()["firmware.update"]).To(Equal(2), "the machine does not have that of the BMC")
					n, _ := w.sim.Node(nodespec.NodeName(w.host()))
					w.g.Expect(n.ProvisionState).To(BeElementOf("available", "manageable", "active"))
					replace()
					replace(bios)
					w.g.Expect(w.sim.Steps()["firmware.update"]).To(Equal(2), "also after a time without a wish")
				})
			})
		}
	}
}
