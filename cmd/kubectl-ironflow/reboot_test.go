package main

import (
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"

	"github.com/ironflow/ironflow/api/names"
)

// inState has a host in a phase, switched on.
func inState(state metal3v1.ProvisioningState) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) {
		h.Spec.Online, h.Status.PoweredOn, h.Status.Provisioning.State = true, true, state
		h.Spec.ConsumerRef = &corev1.ObjectReference{Kind: "Metal3Machine", Name: "db"}
	}
}

// TestReboot sets the annotation that the API knows, with what was asked for.
func TestReboot(t *testing.T) {
	for name, c := range map[string]struct {
		args, annotation, value, says string
	}{
		"soft":      {"a --yes", names.Reboot, `{"mode":"soft","force":false}`, "host a: is to be rebooted\n"},
		"hard":      {"a --yes --hard", names.Reboot, `{"mode":"hard","force":false}`, "host a: is to be rebooted\n"},
		"by force":  {"a --yes --force", names.Reboot, `{"mode":"soft","force":true}`, "host a: is to be rebooted\n"},
		"with key":  {"a --yes --key disk-swap", names.Reboot + "/disk-swap", `{"mode":"soft","force":false}`, "host a: is switched off, and stays off until --key disk-swap --end\n"},
		"by labels": {"-l rack=1 --yes", names.Reboot, `{"mode":"soft","force":false}`, "host a: is to be rebooted\nhost b: is to be rebooted\n"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t).rack()
			s.change("a", inState(metal3v1.StateProvisioned))
			s.change("b", inState(metal3v1.StateProvisioned))
			out, _, err := s.run("", append([]string{"reboot"}, strings.Fields(c.args)...)...)
			s.Expect(err).NotTo(HaveOccurred())
			s.Expect(out).To(Equal(c.says))
			s.Expect(s.host("a").Annotations[c.annotation]).To(MatchJSON(c.value))
			s.Expect(s.host("c").Annotations).To(BeEmpty())
		})
	}
	s := newSite(t).rack()
	s.change("a", inState(metal3v1.StateProvisioned))
	for _, args := range [][]string{{"--key", "x"}, {"--key", "y"}, {"--key", "x", "--end"}} {
		_, _, err := s.run("", append([]string{"reboot", "a", "--yes"}, args...)...)
		s.Expect(err).NotTo(HaveOccurred())
	}
	s.Expect(s.host("a").Annotations).To(And(HaveKey(names.Reboot+"/y"), Not(HaveKey(names.Reboot+"/x"))), "another client's key stays")
}

// TestNoMachineInUseIsRebootedUnasked: each is named, and without a yes nothing is done, to none of them.
func TestNoMachineInUseIsRebootedUnasked(t *testing.T) {
	for answer, done := range map[string]bool{"": false, "no\n": false, "n": false, "\n": false, "yes\n": true, "y\n": true} {
		s := newSite(t).rack()
		s.change("a", inState(metal3v1.StateProvisioned))
		s.change("b", inState(metal3v1.StateExternallyProvisioned))
		out, asked, err := s.run(answer, "reboot", "a", "b", "--hard")
		s.Expect(asked).To(And(
			ContainSubstring("site/a: provisioned, used by Metal3Machine/db"), ContainSubstring("site/b: externally provisioned"), ContainSubstring("without a shutdown"), ContainSubstring("[yes/no]"),
		))
		for _, name := range []string{"a", "b"} {
			_, set := s.host(name).Annotations[names.Reboot]
			s.Expect(set).To(Equal(done), "%s after %q", name, answer)
		}
		if !done {
			s.Expect(out).To(BeEmpty())
			s.Expect(codeOf(err)).To(Equal(exitPerson))
			s.Expect(err).To(MatchError(ContainSubstring("nothing was done")))
		}
	}
}

// TestARebootThatNobodyWouldMakeIsRefused: its annotation would lie in wait, and have the machine off when nobody expects it.
func TestARebootThatNobodyWouldMakeIsRefused(t *testing.T) {
	with := func(state metal3v1.ProvisioningState, annotation string) func(*metal3v1.BareMetalHost) {
		return func(h *metal3v1.BareMetalHost) {
			inState(state)(h)
			if annotation != "" {
				h.Annotations = map[string]string{annotation: ""}
			}
		}
	}
	for name, c := range map[string]struct {
		edit func(*metal3v1.BareMetalHost)
		want string
		code exitCode
	}{
		"nothing runs on it": {with(metal3v1.StateAvailable, ""), "host a is available: only --force reboots", exitUsage},
		"at work":            {with(metal3v1.StateInspecting, ""), "host a is inspecting: only --force reboots", exitUsage},
		"on hold":            {with(metal3v1.StateProvisioned, names.Hold), "it is on hold, and nobody would reboot it until then: remove the annotation", exitPerson},
		"paused":             {with(metal3v1.StateProvisioned, names.Paused), "it is paused", exitPerson},
		"detached":           {with(metal3v1.StateProvisioned, names.Detached), "it is detached", exitPerson},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t).rack()
			s.change("a", c.edit)
			s.change("b", inState(metal3v1.StateProvisioned))
			_, _, err := s.run("", "reboot", "a", "b", "--yes")
			s.Expect(err).To(MatchError(ContainSubstring(c.want)))
			s.Expect(codeOf(err)).To(Equal(c.code))
			s.Expect(s.host("b").Annotations).NotTo(HaveKey(names.Reboot), "none is done")
		})
	}
}

// TestRebootWaits until the machine was off for it and runs again, or with a key until it is off.
func TestRebootWaits(t *testing.T) {
	s := newSite(t).rack()
	s.change("a", inState(metal3v1.StateProvisioned))
	p := s.start("reboot", "a", "--yes", "--wait")
	s.Eventually(p.out.String, "10s").Should(ContainSubstring("is to be rebooted"))
	s.Consistently(p.ended, "200ms").ShouldNot(Receive(), "it was not off yet")
	s.change("a", func(h *metal3v1.BareMetalHost) { h.Status.PoweredOn = false })
	s.change("a", func(h *metal3v1.BareMetalHost) { delete(h.Annotations, names.Reboot) })
	s.Consistently(p.ended, "200ms").ShouldNot(Receive(), "it is off")
	s.change("a", func(h *metal3v1.BareMetalHost) { h.Status.PoweredOn = true })
	s.Eventually(p.ended, "10s").Should(Receive(BeNil()))
	s.Expect(p.out.String()).To(HaveSuffix("host a: running\n"))

	p = s.start("reboot", "a", "--yes", "--wait", "--key", "x")
	s.Eventually(p.out.String, "10s").Should(ContainSubstring("switched off"))
	s.change("a", func(h *metal3v1.BareMetalHost) { h.Status.PoweredOn = false })
	s.Eventually(p.ended, "10s").Should(Receive(BeNil()))
	_, _, err := s.run("", "reboot", "a", "--key", "x", "--end", "--wait", "--timeout", "300ms")
	s.Expect(codeOf(err)).To(Equal(exitTimeout), "%v", err)
	s.Expect(err).To(MatchError(ContainSubstring("not there after 300ms: host a is provisioned")))

	for args, want := range map[string]string{"--end": "--end is of --key", "--key x/y": "--key", "--key x --end --hard": "switches nothing off"} {
		_, _, err := s.run("", append([]string{"reboot", "a"}, strings.Fields(args)...)...)
		s.Expect(err).To(MatchError(ContainSubstring(want)))
		s.Expect(codeOf(err)).To(Equal(exitUsage))
	}
}
