//go:build machine

package flows

import (
	"context"
	"strings"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/vm"
)

// forCluster makes a machine with its own cluster of one, and the host. The
// machine's configuration is changed before, if there is something to change.
func (f *flow) forCluster(name, word string, config func(*vm.Config)) (*Host, *Console) {
	f.Helper()
	h := f.host(Spec{Name: name, Config: config})
	f.Expect(f.world.CreateInfraEnv(f.Context())).To(Succeed())
	f.Expect(f.world.CreateCluster(f.Context(), name, 1)).To(Succeed())
	console := h.Console()
	f.Expect(h.Create(f.Context(), both(ForCluster(name, "master"), SayInstalled(word)))).To(Succeed())
	return h, console
}

// pause lets a fault last.
func (f *flow) pause(d time.Duration) {
	f.Helper()
	select {
	case <-time.After(d):
	case <-f.Context().Done():
		f.Fatal(context.Cause(f.Context()))
	}
}

// untilShown waits until the host shows a text, with at least that percentage.
func (f *flow) untilShown(h *Host, text string, percent int, limit time.Duration) {
	f.Helper()
	f.Expect(h.Until(f.Context(), text, limit, func(v view.View) bool {
		return strings.Contains(v.Text, text) && v.Percent >= percent
	})).To(Succeed())
}

// untilWritten waits until the installer has written that much of the disk.
func (f *flow) untilWritten(h *Host, percent int) {
	f.Helper()
	f.Expect(h.Until(f.Context(), writing, bootLimit+installLimit, func(v view.View) bool { return Written(v) >= percent })).To(Succeed())
}

// untilReason waits for an error of the host with this in its text.
func (f *flow) untilReason(h *Host, reason OmegaMatcher, limit time.Duration) {
	f.Helper()
	f.Eventually(func() []string {
		var reasons []string
		for _, s := range h.Timeline.Seen() {
			if s.Reason != "" {
				reasons = append(reasons, s.Reason)
			}
		}
		return reasons
	}).WithTimeout(limit).WithPolling(look).Should(ContainElement(reason))
}

// survives: nothing of this ends an installation. The image server is restarted
// while the BMC reads, then the agent is killed, IPA is killed, and the network is
// gone for two minutes.
func survives(f *flow) {
	const name, word = "survivor", "survivor-e1"
	// The drive on USB tries again while the image server is away, as BMCs do.
	h, console := f.forCluster(name, word, func(c *vm.Config) { c.Drive = vm.DriveUSB })
	f.untilShown(h, reading, 10, bootLimit)
	h.Timeline.Happened(time.Now(), "the image server is killed")
	f.world.Ironflow.Kill(f.Context())

	f.untilWritten(h, 5)
	f.Expect(h.Type(f.Context(), "systemctl kill --signal=KILL agent.service")).To(Succeed())
	f.pause(10 * time.Second)
	f.Expect(h.Type(f.Context(), "podman kill ironic-agent")).To(Succeed())
	for nic := range h.Config.NICs {
		f.Expect(h.Machine.SetLink(f.Context(), nic, false)).To(Succeed())
	}
	f.pause(2 * time.Minute)
	for nic := range h.Config.NICs {
		f.Expect(h.Machine.SetLink(f.Context(), nic, true)).To(Succeed())
	}
	f.arrives(h, console, word, name)
	for _, s := range h.Timeline.Seen() {
		f.Expect(s.Reason).To(BeEmpty(), "at the first attempt")
	}
}

// interrupted is what a host says whose machine started anew in mid step: IPA's next step
// misses the one before, or the hub misses the agent, whichever notices first.
var interrupted = Or(ContainSubstring("restarted during the installation"), ContainSubstring("stopped answering during the installation"))

// powerCut: the host says so, is not counted as installed, and arrives on the
// retry, with a firmware that tries the medium first.
func powerCut(f *flow) {
	const name, word = "outage", "outage-e2"
	h, console := f.forCluster(name, word, nil)
	f.untilWritten(h, 20)
	f.Expect(h.Machine.PowerCut(f.Context())).To(Succeed())
	h.Machine.SetOrder([]vm.Source{vm.SourceMedium, vm.SourceDisk})
	f.untilReason(h, interrupted, bootLimit)
	f.Expect(h.Timeline.Phases(time.Now())).NotTo(ContainElement(HaveField("Name", string(metal3v1.StateProvisioned))), "not counted as installed")
	f.arrives(h, console, word, name)
}

// restarted: the live system restarts in mid step, into the live image again.
func restarted(f *flow) {
	const name, word = "restart", "restart-e3"
	h, console := f.forCluster(name, word, nil)
	f.untilWritten(h, 20)
	h.Machine.SetOrder([]vm.Source{vm.SourceMedium, vm.SourceDisk})
	f.Expect(h.Type(f.Context(), "reboot --force --force")).To(Succeed())
	f.untilReason(h, interrupted, bootLimit)
	f.arrives(h, console, word, name)
}

// diskFails: the disk's own words are on the host, and in the hub.
func diskFails(f *flow) {
	const name, word = "bad-disk", "bad-disk-e4"
	h, _ := f.forCluster(name, word, nil)
	f.untilWritten(h, 20)
	f.Expect(h.Machine.FailDisk(f.Context(), 0, vm.Fault{Writes: true, Flushes: true})).To(Succeed())
	words := And(ContainSubstring(writing), MatchRegexp("(?i)input/output error"))
	f.untilReason(h, words, installLimit)
	f.Eventually(func() (agentv1.Agent, error) { return f.agentOf(h) }).WithTimeout(time.Minute).WithPolling(look).Should(HaveField("Status.DebugInfo", And(
		HaveField("State", string(wire.HostStatusError)), HaveField("StateInfo", MatchRegexp("(?i)input/output error")),
	)), "the hub knows the reason")
	f.Expect(h.Timeline.Phases(time.Now())).NotTo(ContainElement(HaveField("Name", string(metal3v1.StateProvisioned))), "not counted as installed")
}

// mediumGone: the medium is taken out while the live system boots.
func mediumGone(f *flow) {
	const name, word = "no-medium", "no-medium-e5"
	h, console := f.forCluster(name, word, nil)
	f.untilShown(h, reading, 20, bootLimit)
	f.Expect(h.Machine.BreakMedium(f.Context())).To(Succeed())
	f.untilReason(h, MatchRegexp(`has read \d+ % of the live image`), 2*bootLimit)
	f.arrives(h, console, word, name)
}
