package link_test

import (
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/deployowner"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/hub/wire"
)

// host returns a labelled, linked host in the given state.
func host(state metal3v1.ProvisioningState, change ...func(*metal3v1.BareMetalHost)) *metal3v1.BareMetalHost {
	h := &metal3v1.BareMetalHost{}
	h.Name, h.Namespace = "node-0", "site"
	h.Labels = map[string]string{names.InfraEnvLabel: "edge", names.BackupLabel: "true"}
	h.Finalizers = []string{names.BMACFinalizer}
	h.Annotations = map[string]string{names.DeployOwner: deployowner.InfraEnvValue}
	h.Spec.BootMACAddress = "02:00:00:00:00:01"
	h.Status.Provisioning.State = state
	for _, c := range change {
		c(h)
	}
	return h
}

func asked(h *metal3v1.BareMetalHost) {
	h.Spec.CustomDeploy = &metal3v1.CustomDeploy{Method: names.StartAssistedInstall}
}

// delayed is the annotation of a host whose deletion waits for this controller.
const delayed = `{"deleteAction":"delay","by":"assisted-service-controller"}`

// unrecorded is a host that this controller has never had.
func unrecorded(h *metal3v1.BareMetalHost) { h.Annotations = nil }

func unlabelled(h *metal3v1.BareMetalHost) { h.Labels = nil }

func deleting(h *metal3v1.BareMetalHost) {
	now := metav1.Now()
	h.DeletionTimestamp = &now
}

func annotated(key, value string) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) { h.Annotations[key] = value }
}

func image(status metav1.ConditionStatus, reason string) *metal3v1.PreprovisioningImage {
	i := &metal3v1.PreprovisioningImage{}
	i.Labels = map[string]string{names.InfraEnvLabel: "edge"}
	i.Status.Conditions = []metav1.Condition{{Type: string(metal3v1.ConditionImageReady), Status: status, Reason: reason}}
	return i
}

func agent(change ...func(*agentv1.Agent)) *agentv1.Agent {
	a := &agentv1.Agent{}
	a.Name = "11111111-2222-3333-4444-555555555555"
	a.Spec.Role = "auto-assign"
	for _, c := range change {
		c(a)
	}
	return a
}

// linked says that the Agent was linked to the host.
func linked(a *agentv1.Agent) { a.Labels = map[string]string{names.AgentHostLabel: "node-0"} }

func provisioningError(message string) func(*metal3v1.BareMetalHost) {
	return func(h *metal3v1.BareMetalHost) {
		h.Status.ErrorType, h.Status.ErrorMessage = metal3v1.ProvisioningError, message
	}
}

// inHub gives the agent a status in the hub.
func inHub(state string) func(*agentv1.Agent) {
	return func(a *agentv1.Agent) { a.Status.DebugInfo.State = state }
}

func TestHostSide(t *testing.T) {
	ready := image(metav1.ConditionTrue, agentv1.ReasonInfraEnvAvailable)
	for name, tc := range map[string]struct {
		in     link.Input
		want   func(g *WithT, h *metal3v1.BareMetalHost)
		reason string // of the condition
		tells  string // what it says, among other things
	}{
		"a host without the label is left alone": {
			in: link.Input{Host: host(metal3v1.StateAvailable, unlabelled, unrecorded, func(h *metal3v1.BareMetalHost) { h.Finalizers = nil }), Image: ready},
		},
		"but what was recorded of it goes with the label, although somebody took the finalizer along": {
			in: link.Input{Host: host(metal3v1.StateAvailable, unlabelled, func(h *metal3v1.BareMetalHost) { h.Finalizers = nil })},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Annotations).NotTo(HaveKey(names.DeployOwner), "claims would keep off it for ever")
			},
		},
		"it is recorded whose the deployment is, before anything is asked for": {
			in: link.Input{Host: host(metal3v1.StateInspecting, func(h *metal3v1.BareMetalHost) { h.Finalizers, h.Annotations = nil, nil })},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Finalizers).To(ConsistOf(names.BMACFinalizer))
				g.Expect(h.Annotations).To(HaveKeyWithValue(names.DeployOwner, deployowner.InfraEnvValue))
				g.Expect(h.Spec.CustomDeploy).To(BeNil())
			},
			reason: link.ReasonWaitingForImage,
		},
		"the step is asked for when the image with the agent is ready": {
			in: link.Input{Host: host(metal3v1.StateAvailable), Image: ready},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Spec.CustomDeploy.Method).To(Equal("start_assisted_install"))
			},
			reason: link.ReasonWaitingForAgent,
		},
		"a wish to have a free host back is not kept for what is deployed later": {
			in: link.Input{Host: host(metal3v1.StateAvailable, annotated(names.GiveBack, "node-0"))},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Annotations).NotTo(HaveKey(names.GiveBack))
			},
			reason: link.ReasonWaitingForImage,
		},
		"an image without the agent is not enough": {
			in:     link.Input{Host: host(metal3v1.StateAvailable), Image: image(metav1.ConditionTrue, "ImageSuccess")},
			reason: link.ReasonWaitingForImage,
		},
		"an image that is not ready is not enough": {
			in:     link.Input{Host: host(metal3v1.StateAvailable), Image: image(metav1.ConditionFalse, agentv1.ReasonInfraEnvAvailable)},
			reason: link.ReasonWaitingForImage,
		},
		"an image with the agent of another InfraEnv is not enough": {
			in: link.Input{Image: ready, Host: host(metal3v1.StateAvailable, func(h *metal3v1.BareMetalHost) {
				h.Labels[names.InfraEnvLabel] = "pool"
			})},
			reason: link.ReasonWaitingForImage, tells: "InfraEnv pool",
		},
		"without an image nothing is asked for": {
			in: link.Input{Host: host(metal3v1.StateInspecting)}, reason: link.ReasonWaitingForImage,
		},
		"a host whose Agent nobody could tell is not started": {
			in: link.Input{Image: ready, Host: host(metal3v1.StateAvailable, func(h *metal3v1.BareMetalHost) {
				h.Spec.BootMACAddress = ""
			})},
			reason: link.ReasonNoBootMACAddress, tells: "spec.bootMACAddress",
		},
		"a host that is deployed from an image is not taken over": {
			in: link.Input{Image: ready, Host: host(metal3v1.StateProvisioned, unrecorded, func(h *metal3v1.BareMetalHost) {
				h.Spec.Image = &metal3v1.Image{URL: "http://images.example/os.raw"}
			})},
			reason: link.EventNotTakenOver, tells: "remove spec.image",
		},
		"nor is a machine that somebody else has installed": {
			in: link.Input{Image: ready, Host: host(metal3v1.StateExternallyProvisioned, unrecorded, func(h *metal3v1.BareMetalHost) {
				h.Spec.ExternallyProvisioned = true
			})},
			reason: link.EventNotTakenOver, tells: "remove spec.externallyProvisioned",
		},
		"nor is a host of a claim": {
			in: link.Input{Image: ready, Host: host(metal3v1.StateAvailable, unrecorded, func(h *metal3v1.BareMetalHost) {
				h.Spec.ConsumerRef = &corev1.ObjectReference{Kind: "HostClaim", Namespace: "team-a", Name: "mine"}
			})},
			reason: link.EventNotTakenOver, tells: "HostClaim team-a/mine",
		},
		"a method that a person has chosen is not replaced, whatever runs": {
			in: link.Input{Image: ready, Host: host(metal3v1.StateProvisioned, unrecorded, func(h *metal3v1.BareMetalHost) {
				h.Spec.CustomDeploy = &metal3v1.CustomDeploy{Method: names.InstallCoreOS}
				h.Status.Provisioning.CustomDeploy = h.Spec.CustomDeploy
			})},
			reason: link.EventNotTakenOver, tells: `kubectl label bmh -n site node-0 infraenvs.agent-install.openshift.io-`,
		},
		"a method that nobody has carried out yet is not replaced either": {
			in: link.Input{Host: host(metal3v1.StateInspecting, unrecorded, func(h *metal3v1.BareMetalHost) {
				h.Spec.CustomDeploy = &metal3v1.CustomDeploy{Method: names.InstallCoreOS}
			})},
			reason: link.EventNotTakenOver, tells: "remove spec.customDeploy",
		},
		"who writes a method over ours has the host": {
			in: link.Input{Image: ready, Host: host(metal3v1.StateAvailable, func(h *metal3v1.BareMetalHost) {
				h.Spec.CustomDeploy = &metal3v1.CustomDeploy{Method: names.InstallCoreOS}
			})},
			want:   func(g *WithT, h *metal3v1.BareMetalHost) { g.Expect(h.Annotations).NotTo(HaveKey(names.DeployOwner)) },
			reason: link.EventNotTakenOver,
		},
		"the method that a person takes away from an installed machine is not asked for again": {
			in: link.Input{Image: ready, Host: host(metal3v1.StateProvisioned, annotated(names.BMACManage, ""), func(h *metal3v1.BareMetalHost) {
				h.Status.Provisioning.CustomDeploy = &metal3v1.CustomDeploy{Method: names.StartAssistedInstall}
			})},
			reason: link.ReasonGivingBack,
		},
		"nor from one that is being installed": {
			in: link.Input{Image: ready, Host: host(metal3v1.StateProvisioning)}, reason: link.ReasonGivingBack,
		},
		"nor before it is clean": {
			in: link.Input{Image: ready, Host: host(metal3v1.StateDeprovisioning)}, reason: link.ReasonGivingBack,
		},
		"a person's method outlives the label": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, unlabelled, func(h *metal3v1.BareMetalHost) {
				h.Spec.CustomDeploy = &metal3v1.CustomDeploy{Method: names.InstallCoreOS}
			})},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Spec.CustomDeploy.Method).To(Equal(names.InstallCoreOS))
				g.Expect(h.Finalizers).To(BeEmpty())
			},
		},
		"an installed host is detached": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, asked), Image: ready},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Annotations).To(HaveKeyWithValue(names.Detached, link.Owner))
			},
			reason: link.ReasonWaitingForAgent,
		},
		"one that is to be cleaned when it is deleted is detached until then": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, asked, annotated(names.BMACRemove, ""), annotated(names.Detached, link.Owner))},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Annotations).To(HaveKeyWithValue(names.Detached, delayed))
			},
			reason: link.ReasonWaitingForAgent,
		},
		"and no longer when that is taken back": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, asked, annotated(names.Detached, delayed))},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Annotations).To(HaveKeyWithValue(names.Detached, link.Owner), "the deletion of the host would wait for ever")
			},
			reason: link.ReasonWaitingForAgent,
		},
		"a person's delay of the deletion stays": {
			in:     link.Input{Host: host(metal3v1.StateProvisioned, asked, annotated(names.Detached, `{"deleteAction":"delay"}`))},
			reason: link.ReasonWaitingForAgent,
		},
		"an installed host that the user manages stays attached": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, asked, annotated(names.BMACManage, "")), Image: ready}, reason: link.ReasonWaitingForAgent,
		},
		"a label that goes ends the care, and no more": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, asked, unlabelled, annotated(names.Detached, link.Owner))},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Spec.CustomDeploy).NotTo(BeNil())
				g.Expect(h.Annotations).To(Equal(map[string]string{names.Detached: link.Owner}))
				g.Expect(h.Finalizers).To(BeEmpty())
			},
		},
		"what a person detached stays detached": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, asked, unlabelled, annotated(names.Detached, "by hand"))},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Annotations).To(HaveKeyWithValue(names.Detached, "by hand"))
			},
		},
		"a deleted host is let go with its spec untouched": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, asked, deleting)},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Finalizers).To(BeEmpty())
				g.Expect(h.Spec.CustomDeploy).NotTo(BeNil())
			},
		},
		"one whose machine is to be cleaned with it is attached first": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, asked, deleting, annotated(names.BMACRemove, ""), annotated(names.Detached, delayed))},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Annotations).NotTo(HaveKey(names.Detached))
				g.Expect(h.Finalizers).NotTo(BeEmpty())
			},
			reason: link.ReasonRemoving, tells: "kubectl delete node",
		},
		"and let go once it is": {
			in:   link.Input{Host: host(metal3v1.StatePoweringOffBeforeDelete, asked, deleting, annotated(names.BMACRemove, ""))},
			want: func(g *WithT, h *metal3v1.BareMetalHost) { g.Expect(h.Finalizers).To(BeEmpty()) },
		},
		"a held host is not touched": {
			in: link.Input{Host: host(metal3v1.StateAvailable, annotated(names.Hold, "")), Image: ready},
		},
		"nor is one that is paused in this controller's name as well": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, asked, annotated(names.Hold, "me"), annotated(names.Paused, link.Owner), annotated(names.GiveBack, "node-0"))},
		},
		"a paused host is not touched": {
			in: link.Input{Host: host(metal3v1.StateAvailable, annotated(names.Paused, "")), Image: ready},
		},
		"the deletion of a paused host waits": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, asked, deleting, annotated(names.Paused, "by hand"))},
		},
		"what was paused in this controller's name is let go by it": {
			in: link.Input{Host: host(metal3v1.StateProvisioned, asked, deleting, annotated(names.Paused, link.Owner))},
			want: func(g *WithT, h *metal3v1.BareMetalHost) {
				g.Expect(h.Annotations).NotTo(HaveKey(names.Paused))
				g.Expect(h.Finalizers).To(BeEmpty())
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			before := tc.in.Host.DeepCopy()
			plan := link.Decide(tc.in)
			g.Expect(tc.in.Host).To(Equal(before), "a decision never changes its input")
			g.Expect(plan.Says.Reason).To(Equal(tc.reason))
			g.Expect(plan.Says.Message).To(ContainSubstring(tc.tells))
			if tc.want == nil {
				g.Expect(plan.Host).To(BeNil())
				return
			}
			g.Expect(plan.Host).NotTo(BeNil())
			tc.want(g, plan.Host)
		})
	}
}

// ownNetwork gives the host network data of its own for the live system.
func ownNetwork(h *metal3v1.BareMetalHost) { h.Spec.PreprovisioningNetworkDataName = "node-0-network" }

// installedWith expects these arguments of the installer.
func installedWith(args string) func(g *WithT, p link.Plan) {
	return func(g *WithT, p link.Plan) { g.Expect(p.Agent.Spec.InstallerArgs).To(Equal(args)) }
}

func TestAgentSide(t *testing.T) {
	gone := func(g *WithT, p link.Plan) { g.Expect(p.DeleteAgent).To(BeTrue()) }
	stays := func(g *WithT, p link.Plan) {
		g.Expect(p).To(And(HaveField("DeleteAgent", false), HaveField("Agent", BeNil())))
	}
	for name, tc := range map[string]struct {
		in   link.Input
		want func(g *WithT, p link.Plan)
	}{
		"what the user said about the host reaches its agent": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, annotated(names.BMACRole, "master"),
				annotated(names.BMACHostname, "edge-1"), annotated(names.BMACCluster, "site/edge-1")), Agent: agent()},
			func(g *WithT, p link.Plan) {
				g.Expect(p.Agent.Spec).To(And(
					HaveField("Approved", true), HaveField("Role", "master"), HaveField("Hostname", "edge-1"),
					HaveField("ClusterDeploymentName", Equal(&agentv1.ClusterReference{Namespace: "site", Name: "edge-1"}))))
				g.Expect(p.Agent.Labels).To(HaveKeyWithValue(names.AgentHostLabel, "node-0"))
			},
		},
		"an empty cluster reference unbinds": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, annotated(names.BMACCluster, "")), Agent: agent(func(a *agentv1.Agent) {
				a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Name: "edge-1"}
			})},
			func(g *WithT, p link.Plan) { g.Expect(p.Agent.Spec.ClusterDeploymentName).To(BeNil()) },
		},
		"a reference that is none changes nothing and says so": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, annotated(names.BMACCluster, "edge-1")), Agent: agent(func(a *agentv1.Agent) {
				a.Spec.ClusterDeploymentName = &agentv1.ClusterReference{Namespace: "site", Name: "edge-1"}
			})},
			func(g *WithT, p link.Plan) {
				g.Expect(p.Agent.Spec.ClusterDeploymentName).NotTo(BeNil())
				g.Expect(p.Says.Reason).To(Equal(link.ReasonBadClusterReference))
			},
		},
		"another cluster waits for the end of an installation, and the rest reaches the agent": {
			link.Input{
				Host:  host(metal3v1.StateProvisioning, asked, annotated(names.BMACCluster, "site/other"), annotated(names.BMACRole, "master")),
				Agent: agent(inCluster, inHub(wire.HostStatusInstalling)),
			},
			func(g *WithT, p link.Plan) {
				g.Expect(p.Agent.Spec).To(And(HaveField("ClusterDeploymentName.Name", "prod"), HaveField("Role", "master")))
				g.Expect(p.Says.Reason).To(Equal(link.ReasonClusterReferenceLate))
			},
		},
		"so does none, as long as the host is prepared": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, annotated(names.BMACCluster, "")), Agent: agent(inCluster, inHub(wire.HostStatusPreparingSuccessful))},
			func(g *WithT, p link.Plan) {
				g.Expect(p.Agent.Spec.ClusterDeploymentName).NotTo(BeNil())
				g.Expect(p.Says.Reason).To(Equal(link.ReasonClusterReferenceLate))
			},
		},
		"a host that is added to a running cluster is taken out at once": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, annotated(names.BMACCluster, "")), Agent: agent(inCluster, inHub(wire.HostStatusInstallingInProgress), func(a *agentv1.Agent) {
				a.Status.Kind = wire.HostKindAddToExistingClusterHost
			})},
			func(g *WithT, p link.Plan) { g.Expect(p.Agent.Spec.ClusterDeploymentName).To(BeNil()) },
		},
		"once it is installed, another cluster is the agent's": {
			link.Input{Host: host(metal3v1.StateProvisioned, asked, annotated(names.BMACCluster, "site/other")), Agent: agent(inCluster, inHub(wire.HostStatusInstalled))},
			func(g *WithT, p link.Plan) { g.Expect(p.Agent.Spec.ClusterDeploymentName.Name).To(Equal("other")) },
		},
		"overrides reach the agent, and go with their annotation's text": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, annotated(names.BMACInstallerArgs, `["--append-karg","quiet"]`),
				annotated(names.BMACIgnitionOverrides, ""), annotated(names.BMACMachineConfigPool, "infra")), Agent: agent(func(a *agentv1.Agent) {
				a.Spec.IgnitionConfigOverrides = "{}"
			})},
			func(g *WithT, p link.Plan) {
				g.Expect(p.Agent.Spec).To(And(HaveField("InstallerArgs", `["--append-karg","quiet"]`), HaveField("IgnitionConfigOverrides", ""), HaveField("MachineConfigPool", "infra")))
			},
		},
		"network data of its own stays on the installed system": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, ownNetwork), Agent: agent(inHub("known"))},
			installedWith(`["--copy-network"]`),
		},
		"beside arguments of the user's": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, ownNetwork, annotated(names.BMACInstallerArgs, `["--append-karg","quiet"]`)), Agent: agent()},
			installedWith(`["--append-karg","quiet","--copy-network"]`),
		},
		"unless they say how the system gets its addresses": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, ownNetwork, annotated(names.BMACInstallerArgs, `["--append-karg","ip=eno1:dhcp"]`)), Agent: agent()},
			installedWith(`["--append-karg","ip=eno1:dhcp"]`),
		},
		"or are none": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, ownNetwork, annotated(names.BMACInstallerArgs, `--quiet`)), Agent: agent()},
			installedWith(`--quiet`),
		},
		"an installation that began without it goes on so": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, ownNetwork, annotated(names.BMACRole, "master")), Agent: agent(inHub("installing"))},
			installedWith(""),
		},
		"and one that began with it, likewise": {
			link.Input{
				Host:  host(metal3v1.StateProvisioning, asked, ownNetwork, annotated(names.BMACInstallerArgs, `[]`), annotated(names.BMACRole, "master")),
				Agent: agent(inHub("installing"), func(a *agentv1.Agent) { a.Spec.InstallerArgs = `["--copy-network"]` }),
			},
			installedWith(`["--copy-network"]`),
		},
		"an agent on its way out is left alone": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked), Agent: agent(func(a *agentv1.Agent) {
				now := metav1.Now()
				a.DeletionTimestamp = &now
			})},
			func(g *WithT, p link.Plan) {
				g.Expect(p).To(And(HaveField("Agent", BeNil()), HaveField("Host", BeNil()), HaveField("DeleteAgent", false)))
			},
		},
		"a failed deployment ends the installation": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, provisioningError("deploy step failed")), Agent: agent(inHub("installing-in-progress"))},
			func(g *WithT, p link.Plan) { g.Expect(p.Failed).To(Equal("deploy step failed")) },
		},
		"a failed deployment without a text still says something": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, provisioningError("")), Agent: agent(inHub("installing"))},
			func(g *WithT, p link.Plan) { g.Expect(p.Failed).To(ContainSubstring("see the BareMetalHost")) },
		},
		"an installation that the hub ended already is not ended again": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, provisioningError("x")), Agent: agent(inHub("error"))},
			func(g *WithT, p link.Plan) { g.Expect(p.Failed).To(BeEmpty()) },
		},
		"another error of the host ends no installation": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked, func(h *metal3v1.BareMetalHost) {
				h.Status.ErrorType = metal3v1.PowerManagementError
			}), Agent: agent(inHub("installing"))},
			func(g *WithT, p link.Plan) { g.Expect(p.Failed).To(BeEmpty()) },
		},
		"an agent that is as wanted is not written": {
			link.Input{Host: host(metal3v1.StateProvisioning, asked), Agent: agent(func(a *agentv1.Agent) {
				a.Spec.Approved = true
				a.Labels = map[string]string{names.AgentHostLabel: "node-0"}
			})},
			func(g *WithT, p link.Plan) { g.Expect(p.Agent).To(BeNil()) },
		},
		"a deprovisioned host loses its agent": {link.Input{Host: host(metal3v1.StateDeprovisioning, asked), Agent: agent()}, gone},
		"an available host has no agent":       {link.Input{Host: host(metal3v1.StateAvailable, asked), Agent: agent(linked)}, gone},
		"a deleted host takes it along":        {link.Input{Host: host(metal3v1.StateProvisioned, asked, deleting), Agent: agent(linked)}, gone},
		"so does one that is removed when it is clean": {
			link.Input{Host: host(metal3v1.StateDeleting, asked, deleting, annotated(names.BMACRemove, "")), Agent: agent(linked)}, gone,
		},
		"a label that goes takes nothing along": {link.Input{Host: host(metal3v1.StateProvisioned, asked, unlabelled), Agent: agent(linked)}, stays},
		"nor does a deleted host take along what a person has booted": {
			link.Input{Host: host(metal3v1.StateAvailable, deleting), Agent: agent()}, stays,
		},
		"a machine that a person has booted is neither approved nor removed": {link.Input{Host: host(metal3v1.StateAvailable), Agent: agent()}, stays},
		"nor while its host is given back that runs something else": {
			link.Input{Host: host(metal3v1.StateDeprovisioning, unrecorded, func(h *metal3v1.BareMetalHost) {
				h.Spec.Image = &metal3v1.Image{URL: "http://images.example/os.raw"}
			}), Agent: agent()}, stays,
		},
		"a detached machine outlives its host object": {
			link.Input{Host: host(metal3v1.StateProvisioned, asked, deleting, annotated(names.Detached, link.Owner)), Agent: agent(linked)},
			func(g *WithT, p link.Plan) { g.Expect(p.DeleteAgent).To(BeFalse()) },
		},
	} {
		t.Run(name, func(t *testing.T) { tc.want(NewWithT(t), link.Decide(tc.in)) })
	}
}

func TestInstallationDisk(t *testing.T) {
	yes := true
	eligible := agentv1.HostInstallationEligibility{Eligible: true}
	disks := []agentv1.HostDisk{
		{ID: "usb", Path: "/dev/sda", DriveType: "HDD", SizeBytes: 900 << 30, Model: "Stick"},
		{ID: "small", Path: "/dev/sdb", DriveType: "SSD", SizeBytes: 100 << 30, Model: "Fast 100", Serial: "S1", Wwn: "0x5000c500a1b2c3d4", InstallationEligibility: eligible},
		{ID: "big", Path: "/dev/sdc", DriveType: "HDD", SizeBytes: 800 << 30, Model: "Big 800", Serial: "S2", InstallationEligibility: eligible},
		{ID: "mpath", Path: "/dev/dm-0", DriveType: "Multipath", SizeBytes: 800 << 30, Model: "Big 800", InstallationEligibility: eligible},
	}
	for name, tc := range map[string]struct {
		hints *metal3v1.RootDeviceHints
		want  string
		found bool
	}{
		"no hints leave the choice to the hub":    {nil, "", false},
		"empty hints leave the choice to the hub": {&metal3v1.RootDeviceHints{}, "", false},
		"by serial number":                        {&metal3v1.RootDeviceHints{SerialNumber: "S2"}, "big", true},
		"by device name":                          {&metal3v1.RootDeviceHints{DeviceName: "/dev/sdb"}, "small", true},
		"the first that fits, multipath first":    {&metal3v1.RootDeviceHints{MinSizeGigabytes: 200}, "mpath", true},
		"all hints must fit":                      {&metal3v1.RootDeviceHints{Model: "Big", Rotational: &yes}, "big", true},
		"an ineligible disk never fits":           {&metal3v1.RootDeviceHints{Model: "Stick"}, link.NoSuchDisk, true},
		"no match is never the first disk":        {&metal3v1.RootDeviceHints{SerialNumber: "S9"}, link.NoSuchDisk, true},
		"a WWN extension is compared too":         {&metal3v1.RootDeviceHints{WWNVendorExtension: "0xa1b2c3d4"}, "small", true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			id, found := link.InstallationDisk(disks, tc.hints)
			g.Expect(id).To(Equal(tc.want))
			g.Expect(found).To(Equal(tc.found))
		})
	}
}
