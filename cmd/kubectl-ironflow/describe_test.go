package main

import (
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	ironflowv1 "github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/api/names"
)

// TestDescribe: a host whose deployment has failed, with everything that belongs to it. Several conditions have
// one text, as the controllers write them.
func TestDescribe(t *testing.T) {
	s := newSite(t).rack()
	s.change("a", func(h *metal3v1.BareMetalHost) {
		h.Spec.Online, h.Status.Provisioning.State = true, metal3v1.StateProvisioning
		failed("ProvisioningError")(h)
		for _, c := range []metav1.Condition{
			{Type: metal3v1.ReadyCondition, Status: "False", Reason: "Error", Message: "disk sda: write error"},
			{Type: metal3v1.ManageableCondition, Status: "True", Reason: "Manageable"},
			{Type: metal3v1.ProgressingCondition, Status: "True", Reason: "Provisioning", Message: "deploy failed; waiting for the next attempt"},
		} {
			meta.SetStatusCondition(&h.Status.Conditions, c)
		}
	})
	b := aBMC("a")
	b.Status.Report.BMCVersion = "7.1"
	b.Status.Conditions = []metav1.Condition{
		{Type: ironflowv1.Ready, Status: "False", Reason: "Unreachable", Message: "no route to 192.0.2.1", LastTransitionTime: metav1.NewTime(noon)},
		{Type: ironflowv1.Reachable, Status: "False", Reason: "Unreachable", Message: "no route to 192.0.2.1", LastTransitionTime: metav1.NewTime(noon)},
		{Type: ironflowv1.PreflightPassed, Status: "True", Reason: "Passed", LastTransitionTime: metav1.NewTime(noon)},
	}
	components := &metal3v1.HostFirmwareComponents{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	components.Spec.Updates = []metal3v1.FirmwareUpdate{{Component: "bios", URL: "https://192.0.2.9/bios.bin"}}
	components.Status.Components = []metal3v1.FirmwareComponentStatus{{Component: "bios", CurrentVersion: "1.2"}, {Component: "bmc", CurrentVersion: "7.1"}}
	settings := &metal3v1.HostFirmwareSettings{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	settings.Spec.Settings = metal3v1.DesiredSettingsMap{"Turbo": intstr.FromString("Off"), "Cores": intstr.FromInt32(8)}
	settings.Status.Settings = metal3v1.SettingsMap{"Turbo": "On", "Cores": "8"}
	agent := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Name: "0000-a", Labels: map[string]string{names.AgentHostLabel: "a"}}}
	agent.Spec.Approved, agent.Spec.Hostname, agent.Status.DebugInfo.State, agent.Status.DebugInfo.StateInfo = true, "a", "error", "disk sda: write error"
	agent.Status.Progress = &agentv1.HostProgressInfo{CurrentStage: "Writing image to disk", ProgressInfo: "45%", InstallationPercentage: 30}
	agent.Status.Conditions = []agentv1.Condition{
		{Type: agentv1.ConditionInstalled, Status: "False", Reason: agentv1.ReasonInstallationFailed, Message: "disk sda: write error"},
		{Type: agentv1.ConditionRequirementsMet, Status: "True", Reason: agentv1.ReasonAgentInstallationStopped, Message: "disk sda: write error"},
	}
	image := &metal3v1.PreprovisioningImage{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	image.Status.Conditions = []metav1.Condition{
		{Type: "Ready", Status: "True", Reason: "ImageSuccess", Message: "the image is there", LastTransitionTime: metav1.NewTime(noon)},
		{Type: "Error", Status: "False", Reason: "ImageSuccess", Message: "the image is there", LastTransitionTime: metav1.NewTime(noon)},
	}
	s.create(b, components, settings, agent, image, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a-bmc"}, Data: map[string][]byte{"password": []byte("s3cret")}})

	out, _, err := s.run("", "describe", "a")
	s.Expect(err).NotTo(HaveOccurred())
	golden(t, "describe.txt", out)
	s.Expect(out).NotTo(ContainSubstring("s3cret"))
	s.Expect(strings.Count(out, "no route to 192.0.2.1")).To(Equal(1))
	s.Expect(strings.Count(out, "the image is there")).To(Equal(1))
	host, _, found := strings.Cut(out, "Agent/")
	s.Expect(found).To(BeTrue())
	s.Expect(strings.Count(host, "disk sda: write error")).To(Equal(1))
	same, _, err := s.run("", "describe", "host", "bmh/a")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(same).To(Equal(out))
	_, _, err = s.run("", "describe", "nobody")
	s.Expect(err).To(MatchError("host site/nobody is not there"))
}
