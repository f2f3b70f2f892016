package contract

import (
	"slices"
	"time"

	. "github.com/onsi/gomega" //nolint:staticcheck // these are tests: matchers read as sentences

	"github.com/ironflow/ironflow/ironic"
)

// StepName is the deploy, clean and service step that the targets' ramdisks
// have; with the argument fail=true it fails with FailureText.
const StepName = "contract_step"

// WrongPassword is one that no target's BMC accepts.
const WrongPassword = "wrong password"

// FailureText is what a failing step says.
const FailureText = "the disk smells of smoke"

func step(args map[string]any) ironic.Step {
	return ironic.Step{Interface: "deploy", Name: StepName, Args: args}
}

func deploySteps(args map[string]any) []ironic.Step {
	s := step(args)
	s.Priority = new(80)
	return []ironic.Step{s}
}

func manage(w *World) {
	n := w.Manageable()
	w.Expect(n.PowerState).To(Equal(ironic.PowerOff), "known since the verification")
	w.holds(n)
	w.Expect(w.Gateway.Transition(w.T.Context(), n.UUID, ironic.Transition{Target: ironic.TargetManage})).To(Succeed(), "asked again")
	broken, m := w.Enrol()
	w.Update(broken, ironic.Desired{DriverInfo: ironic.Fields{"redfish_password": WrongPassword}, SendSecrets: true})
	w.Accepted(func() error {
		return w.Gateway.Transition(w.T.Context(), broken.UUID, ironic.Transition{Target: ironic.TargetManage})
	})
	w.Eventually(func() (*ironic.Node, error) { return w.Gateway.Get(w.T.Context(), broken.UUID) }, w.Patience, w.Look).Should(
		And(HaveField("ProvisionState", ironic.StateEnroll), HaveField("LastError", Not(BeEmpty()))), "the BMC refuses the credentials")
	w.holds(w.Until(broken.UUID, ironic.StateEnroll))
	broken = w.Update(broken, ironic.Desired{DriverInfo: ironic.Fields{"redfish_password": m.DriverInfo["redfish_password"]}, SendSecrets: true})
	w.Do(broken, ironic.Transition{Target: ironic.TargetManage}, ironic.StateManageable)
}

func inspect(w *World) {
	n := w.Manageable()
	n = w.Update(n, ironic.Desired{Properties: ironic.Fields{"cpu_arch": ironic.Remove}})
	w.Accepted(func() error {
		return w.Gateway.Transition(w.T.Context(), n.UUID, ironic.Transition{Target: ironic.TargetInspect})
	})
	w.Expect(w.Gateway.Transition(w.T.Context(), n.UUID, ironic.Transition{Target: ironic.TargetInspect})).To(
		Or(Succeed(), HaveField("Kind", ironic.Busy)), "asked again")
	before := n.InspectionFinishedAt
	n = w.Until(n.UUID, ironic.StateManageable)
	w.Expect(before).To(BeZero())
	w.Expect(n.InspectionFinishedAt).NotTo(BeZero())
	_, err := w.Gateway.Inventory(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
}

func inventory(w *World) {
	n := w.Manageable()
	_, err := w.Gateway.Inventory(w.T.Context(), n.UUID)
	w.Expect(err).To(MatchError(ironic.ErrNoInventory))
	_, err = w.Gateway.Inventory(w.T.Context(), missing)
	w.Expect(ironic.KindOf(err)).To(Equal(ironic.Gone), "%v", err)
	w.Do(n, ironic.Transition{Target: ironic.TargetInspect}, ironic.StateManageable)
	i, err := w.Gateway.Inventory(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(i.CPU.Count).To(BeNumerically(">", 0))
	w.Expect(i.MemoryMiB).To(BeNumerically(">", 0))
	w.Expect(i.Disks).NotTo(BeEmpty())
	w.Expect(i.Disks[0].SizeBytes).To(BeNumerically(">", 0))
	w.Expect(i.NICs).NotTo(BeEmpty())
	w.Expect(i.NICs[0].MAC).To(MatchRegexp(`^([0-9a-f]{2}:){5}[0-9a-f]{2}$`))
}

func abort(w *World) {
	n := w.Manageable()
	w.Accepted(func() error {
		return w.Gateway.Transition(w.T.Context(), n.UUID, ironic.Transition{Target: ironic.TargetClean, CleanSteps: []ironic.Step{step(map[string]any{"seconds": 60})}})
	})
	n = w.Until(n.UUID, ironic.StateCleanWait)
	w.holds(n)
	w.Accepted(func() error {
		return w.Gateway.Transition(w.T.Context(), n.UUID, ironic.Transition{Target: ironic.TargetAbort})
	})
	n = w.Until(n.UUID, ironic.StateCleanFailed)
	w.Expect(n.LastError).To(ContainSubstring("abort"))
	w.Expect(w.Gateway.Transition(w.T.Context(), n.UUID, ironic.Transition{Target: ironic.TargetAbort})).To(Succeed(), "asked again")
	w.holds(n)
	w.release(n)
}

func raid(w *World) {
	n := w.Manageable()
	n = w.Update(n, ironic.Desired{Interfaces: ironic.Interfaces{RAID: "no-raid"}})
	disks := []ironic.LogicalDisk{{Level: "1", Name: "root", Root: true, SizeGiB: 100, NumberOfDisks: 2}, {Level: "0"}}
	w.Expect(ironic.KindOf(w.Gateway.SetRAID(w.T.Context(), n.UUID, disks))).To(Equal(ironic.Rejected), "the interface cannot")
	n = w.Update(n, ironic.Desired{Interfaces: ironic.Interfaces{RAID: "agent"}})
	w.Accepted(func() error { return w.Gateway.SetRAID(w.T.Context(), n.UUID, disks) })
	n, err := w.Gateway.Get(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(n.TargetRAIDConfig).To(HaveKeyWithValue("logical_disks", HaveLen(2)))
}

func clean(w *World) {
	n := w.Manageable()
	w.Do(n, ironic.Transition{Target: ironic.TargetClean, CleanSteps: []ironic.Step{step(nil), step(nil)}}, ironic.StateManageable)
	since := time.Now().Add(-time.Hour)
	failed := w.Do(n, ironic.Transition{Target: ironic.TargetClean, CleanSteps: []ironic.Step{step(map[string]any{"fail": true})}}, ironic.StateCleanFailed)
	w.Expect(failed.Maintenance).To(BeTrue())
	w.Expect(failed.Fault).To(Equal("clean failure"))
	reason, err := w.Gateway.FailureReason(w.T.Context(), n.UUID, since)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(reason).To(ContainSubstring(FailureText))
	w.Accepted(func() error { return w.Gateway.SetMaintenance(w.T.Context(), n.UUID, false, "") })
	w.Do(n, ironic.Transition{Target: ironic.TargetManage}, ironic.StateManageable)
}

func provide(w *World) {
	n := w.Available()
	w.holds(n)
	w.Expect(w.Gateway.Transition(w.T.Context(), n.UUID, ironic.Transition{Target: ironic.TargetProvide})).To(Succeed(), "asked again")
	n = w.Do(n, ironic.Transition{Target: ironic.TargetManage}, ironic.StateManageable)
	n = w.Update(n, ironic.Desired{AutomatedClean: new(true)})
	w.Do(n, ironic.Transition{Target: ironic.TargetProvide}, ironic.StateAvailable)
}

func deploy(w *World) {
	n := w.Available()
	t := ironic.Transition{
		Target: ironic.TargetActive, DeploySteps: deploySteps(nil),
		ConfigDrive: map[string]any{"meta_data": map[string]any{"name": "host"}, "user_data": "#!/bin/true"},
	}
	w.Accepted(func() error { return w.Gateway.Transition(w.T.Context(), n.UUID, t) })
	w.Expect(w.Gateway.Transition(w.T.Context(), n.UUID, t)).To(Or(Succeed(), HaveField("Kind", ironic.Busy)), "asked again")
	var steps []string
	w.Eventually(func(g Gomega) {
		var err error
		n, err = w.Gateway.Get(w.T.Context(), n.UUID)
		g.Expect(err).NotTo(HaveOccurred())
		if n.ProvisionState == ironic.StateDeployWait && !n.DeployStep.IsZero() {
			steps = append(steps, n.DeployStep.String())
		}
		g.Expect(n.ProvisionState).To(Equal(ironic.StateActive), n.LastError)
	}, w.Patience, w.Look).Should(Succeed())
	w.Expect(steps).To(ContainElement("deploy."+StepName), "the running step is seen while Ironic waits")
	w.Expect(n.Agent.LastHeartbeat).NotTo(BeZero())
	w.Expect(n.Agent.Version).NotTo(BeEmpty())
	w.Expect(n.InstanceInfo).To(HaveKeyWithValue("configdrive", ironic.Masked))
	n = w.Until(n.UUID, ironic.StateActive)
	w.Expect(n.DeployStep.IsZero()).To(BeTrue())
	w.Expect(w.Gateway.Transition(w.T.Context(), n.UUID, t)).To(Succeed(), "asked again when done")
}

func failureText(w *World) {
	n := w.Available()
	reason, err := w.Gateway.FailureReason(w.T.Context(), n.UUID, time.Time{})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(reason).To(BeEmpty())
	since := n.ProvisionUpdatedAt
	w.Do(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(map[string]any{"fail": true})}, ironic.StateDeployFailed)
	reason, err = w.Gateway.FailureReason(w.T.Context(), n.UUID, since)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(reason).To(ContainSubstring(FailureText))
	failed, err := w.Gateway.Get(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	reason, err = w.Gateway.FailureReason(w.T.Context(), n.UUID, failed.ProvisionUpdatedAt.Add(time.Minute))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(reason).To(BeEmpty(), "nothing since")
	w.Do(failed, ironic.Transition{Target: ironic.TargetDeleted}, ironic.StateAvailable)
}

func undeploy(w *World) {
	n := w.Available()
	w.Do(n, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(nil)}, ironic.StateActive)
	n, err := w.Gateway.Get(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	n = w.Update(n, ironic.Desired{AutomatedClean: new(true)})
	n = w.Update(n, ironic.Desired{AutomatedClean: new(false)})
	w.Do(n, ironic.Transition{Target: ironic.TargetDeleted}, ironic.StateAvailable)
	w.Expect(w.Gateway.Transition(w.T.Context(), n.UUID, ironic.Transition{Target: ironic.TargetDeleted})).To(Succeed(), "asked again")
	w.Accepted(func() error {
		return w.Gateway.Transition(w.T.Context(), n.UUID, ironic.Transition{Target: ironic.TargetActive, DeploySteps: deploySteps(map[string]any{"seconds": 60})})
	})
	w.holds(w.Until(n.UUID, ironic.StateDeployWait))
	after := w.Do(n, ironic.Transition{Target: ironic.TargetDeleted}, ironic.StateAvailable)
	w.Expect(after.InstanceInfo).NotTo(HaveKey("configdrive"))
	w.Expect(after.PowerState).To(Equal(ironic.PowerOff), "cancelled in the middle of a deployment")
}

func adopt(w *World) {
	n := w.Manageable()
	n = w.Update(n, ironic.Desired{InstanceInfo: ironic.Fields{"capabilities": map[string]any{}}})
	n = w.Do(n, ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
	w.Expect(w.Gateway.Transition(w.T.Context(), n.UUID, ironic.Transition{Target: ironic.TargetAdopt})).To(Succeed(), "asked again")
	w.holds(n)
	w.fixed(n)
	for _, on := range []bool{true, false} { // somebody's maintenance, and its end
		w.Expect(w.Gateway.SetMaintenance(w.T.Context(), n.UUID, on, "by hand")).To(Succeed())
		n, err := w.Gateway.Get(w.T.Context(), n.UUID)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(n.Maintenance).To(Equal(on))
		w.Expect(n.ProvisionState).To(Equal(ironic.StateActive))
	}
}

func service(w *World) {
	n := w.Manageable()
	n = w.Do(n, ironic.Transition{Target: ironic.TargetAdopt}, ironic.StateActive)
	w.Do(n, ironic.Transition{Target: ironic.TargetService, ServiceSteps: []ironic.Step{step(nil)}}, ironic.StateActive)
	w.Do(n, ironic.Transition{Target: ironic.TargetService, ServiceSteps: []ironic.Step{step(map[string]any{"fail": true})}}, ironic.StateServiceFailed)
	reason, err := w.Gateway.FailureReason(w.T.Context(), n.UUID, time.Time{})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(reason).To(ContainSubstring(FailureText), "last_error and maintenance are erased by the power-off")
	w.Accepted(func() error { return w.Gateway.SetMaintenance(w.T.Context(), n.UUID, false, "") })
	// The failed step of the ramdisk is left behind, and taken for the one that
	// runs: nothing is carried out. The steps of BMCs, which Ironflow asks for, are
	// known beforehand and do not suffer from it.
	n = w.Do(n, ironic.Transition{Target: ironic.TargetService, ServiceSteps: []ironic.Step{step(map[string]any{"fail": true})}}, ironic.StateActive)
	w.Do(n, ironic.Transition{Target: ironic.TargetService, ServiceSteps: []ironic.Step{step(map[string]any{"fail": true})}}, ironic.StateServiceFailed)
	w.Accepted(func() error { return w.Gateway.SetMaintenance(w.T.Context(), n.UUID, false, "") })
	n = w.Until(n.UUID, ironic.StateServiceFailed)
	w.holds(n)
	w.fixed(n)
	w.Do(n, ironic.Transition{Target: ironic.TargetAbort}, ironic.StateActive)
}

func power(w *World) {
	n := w.Manageable()
	for _, c := range []struct {
		request ironic.PowerRequest
		want    ironic.PowerState
	}{
		{ironic.PowerRequest{Target: ironic.PowerOn}, ironic.PowerOn},
		{ironic.PowerRequest{Target: ironic.PowerOn}, ironic.PowerOn},
		{ironic.PowerRequest{Target: ironic.PowerRebooting}, ironic.PowerOn},
		{ironic.PowerRequest{Target: ironic.PowerSoftOff, Timeout: 30 * time.Second}, ironic.PowerOff},
		{ironic.PowerRequest{Target: ironic.PowerOff}, ironic.PowerOff},
	} {
		w.Accepted(func() error { return w.Gateway.SetPower(w.T.Context(), n.UUID, c.request) })
		w.Eventually(func() (*ironic.Node, error) { return w.Gateway.Get(w.T.Context(), n.UUID) }, w.Patience, w.Look).Should(
			And(HaveField("PowerState", c.want), HaveField("TargetPowerState", ironic.PowerUnknown), HaveField("Reservation", "")), string(c.request.Target))
	}
}

func media(w *World) {
	n := w.Manageable()
	w.Accepted(func() error { return w.Gateway.AttachMedia(w.T.Context(), n.UUID, w.ImageURL) })
	_, err := w.Gateway.VirtualMedia(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred(), "reading needs no lock")
	inserted := func() []ironic.MediaDevice {
		devices, err := w.Gateway.VirtualMedia(w.T.Context(), n.UUID)
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(devices).NotTo(BeEmpty())
		return slices.DeleteFunc(devices, func(d ironic.MediaDevice) bool { return !d.Inserted })
	}
	w.Eventually(inserted, w.Patience, w.Look).Should(ConsistOf(HaveField("Image", ContainSubstring("cdrom-"+n.UUID))),
		"Ironic hands the image out under a name of its own, which tells it from a boot image")
	w.Accepted(func() error { return w.Gateway.DetachMedia(w.T.Context(), n.UUID) })
	w.Eventually(inserted, w.Patience, w.Look).Should(BeEmpty())
	w.Expect(ironic.KindOf(w.Gateway.AttachMedia(w.T.Context(), n.UUID, "gopher://nowhere"))).To(Equal(ironic.Rejected))

	// What fails in the background shows when the lock is gone.
	w.Accepted(func() error { return w.Gateway.AttachMedia(w.T.Context(), n.UUID, w.ImageURL+MissingImage) })
	n = w.Until(n.UUID, ironic.StateManageable)
	w.Expect(n.LastError).To(ContainSubstring("Could not attach device"))
	reason, err := w.Gateway.FailureReason(w.T.Context(), n.UUID, time.Time{})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(reason).To(Equal(n.LastError))
	w.Expect(inserted()).To(BeEmpty())
}

// MissingImage is the end of an address that is not served.
const MissingImage = ".missing"

func subscriptions(w *World) {
	n := w.Manageable()
	want := ironic.Subscription{Destination: "https://events.test/x", Context: "contract", Headers: map[string]string{"X-Token": "hush hush"}}
	id, err := w.Gateway.CreateSubscription(w.T.Context(), n.UUID, want)
	if !w.Events {
		w.Expect(err).To(HaveOccurred(), "this BMC has no event service")
		w.Expect(err.Error()).To(ContainSubstring("EventService"))
		return
	}
	w.Expect(err).NotTo(HaveOccurred())
	again, err := w.Gateway.CreateSubscription(w.T.Context(), n.UUID, want)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(again).To(Equal(id), "found instead of made twice")
	w.Expect(w.Gateway.DeleteSubscription(w.T.Context(), n.UUID, id)).To(Succeed())
	w.Expect(w.Gateway.DeleteSubscription(w.T.Context(), n.UUID, id)).To(Succeed(), "gone already")
	left, err := w.Gateway.Subscriptions(w.T.Context(), n.UUID)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(left).To(BeEmpty())
}
