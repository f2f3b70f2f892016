package infraenv

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// world is a reconciler between a fake API server and a real hub.
type world struct {
	*WithT
	t    *testing.T
	kube client.Client
	hub  *testhub.Hub
	r    *reconciler
}

func newWorld(t *testing.T, objects ...client.Object) *world {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, agentv1.AddToScheme, hivev1.AddToScheme, hiveextv1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	kube := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).WithStatusSubresource(&agentv1.InfraEnv{}).Build()
	hub := testhub.Start(t, testhub.Options{})
	return &world{WithT: g, t: t, kube: kube, hub: hub, r: newReconciler(kube, hub, hub.URL, func(context.Context, string, string) network.Live {
		return network.Live{Why: "base image 9 is too old"}
	})}
}

var key = types.NamespacedName{Namespace: "site", Name: "edge"}

func infraEnv(change ...func(*agentv1.InfraEnv)) *agentv1.InfraEnv {
	e := &agentv1.InfraEnv{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: types.UID(uuid.NewString())}}
	e.Spec.PullSecretRef = &corev1.LocalObjectReference{Name: "pull"}
	for _, c := range change {
		c(e)
	}
	return e
}

func pullSecret(data map[string][]byte) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "pull"}, Data: data}
}

var goodSecret = map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}

func deployment() *hivev1.ClusterDeployment {
	return &hivev1.ClusterDeployment{ObjectMeta: metav1.ObjectMeta{Namespace: "clusters", Name: "prod", UID: types.UID(uuid.NewString())}}
}

func inCluster(e *agentv1.InfraEnv) {
	e.Spec.ClusterRef = &agentv1.ClusterReference{Namespace: "clusters", Name: "prod"}
}

// pass reconciles once and returns what is left of the object.
func (w *world) pass() (ctrl.Result, *agentv1.InfraEnv) {
	w.t.Helper()
	result, err := w.r.Reconcile(w.t.Context(), ctrl.Request{NamespacedName: key})
	w.Expect(err).NotTo(HaveOccurred())
	env := &agentv1.InfraEnv{}
	if w.kube.Get(w.t.Context(), key, env) != nil {
		return result, nil
	}
	return result, env
}

func imageCreated(env *agentv1.InfraEnv) agentv1.Condition {
	if c := agentv1.FindCondition(env.Status.Conditions, agentv1.ConditionImageCreated); c != nil {
		return *c
	}
	return agentv1.Condition{}
}

// certificate is one that no program trusts for anything.
const certificate = `-----BEGIN CERTIFICATE-----
MIIBNDCB56ADAgECAhRNFw1bMXcGYfvdsg+bb8OMv7k46TAFBgMrZXAwDzENMAsG
A1UEAwwEc2l0ZTAgFw0yNjExMjgyMjE2NTNaGA8yMTI2MTEwNDIyMTY1M1owDzEN
MAsGA1UEAwwEc2l0ZTAqMAUGAytlcAMhALR1QpkpjrIdZWbXZDML6J2uOrmjd9VF
aUVJsOakVds7o1MwUTAdBgNVHQ4EFgQUOnGWFFPO7nsbimlZWObWjOlcjTAwHwYD
VR0jBBgwFoAUOnGWFFPO7nsbimlZWObWjOlcjTAwDwYDVR0TAQH/BAUwAwEB/zAF
BgMrZXADQQBQm/1tSjQE4NJF5zHl9KLK64+wmXV8yfmZUac0832dyDqAd7oHCCbr
i/80HfJwD6rGu98xVyMl2NhOEuIE8IcA
-----END CERTIFICATE-----
`

func TestRecordFollowsTheResource(t *testing.T) {
	w := newWorld(t, pullSecret(goodSecret), infraEnv(func(e *agentv1.InfraEnv) {
		e.Spec.SSHAuthorizedKey = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
		e.Spec.AdditionalTrustBundle, e.Spec.OSImageVersion, e.Spec.ImageType = certificate, "4.18", "minimal-iso"
		e.Spec.KernelArguments = []agentv1.KernelArgument{{Operation: "append", Value: "a=b"}}
		e.Spec.AdditionalNTPSources = []string{"ntp1.example", "ntp2.example"}
		e.Spec.Proxy = &agentv1.Proxy{HTTPProxy: "http://proxy.example:3128"}
	}))
	_, env := w.pass()
	w.Expect(env.Finalizers).To(ConsistOf(names.InfraEnvFinalizer))
	w.Expect(imageCreated(env)).To(And(HaveField("Status", corev1.ConditionTrue), HaveField("Reason", agentv1.ReasonImageCreated)))
	w.Expect(env.Status.CreatedTime).NotTo(BeNil())
	w.Expect(env.Status.AgentLabelSelector.MatchLabels).To(HaveKeyWithValue(names.InfraEnvLabel, "edge"))
	record, err := w.hub.Hub.InfraEnv(t.Context(), hubid.InfraEnv(env))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(record).To(And(
		HaveField("Name", "edge"), HaveField("SSHAuthorizedKey", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"), HaveField("PullSecretSet", true),
		HaveField("AdditionalNTPSources", "ntp1.example,ntp2.example"), HaveField("CPUArchitecture", "x86_64")))
	w.Expect(record).To(And(
		HaveField("AdditionalTrustBundle", certificate), HaveField("OpenshiftVersion", "4.18"), HaveField("Type", wire.ImageTypeMinimalISO)))
	w.Expect(*record.KernelArguments).To(MatchJSON(`[{"operation":"append","value":"a=b"}]`))
	w.Expect(*record.Proxy.HTTPProxy).To(Equal("http://proxy.example:3128"))

	_, again := w.pass()
	w.Expect(again.ResourceVersion).To(Equal(env.ResourceVersion), "a pass without news writes nothing")

	again.Spec.Proxy, again.Spec.AdditionalNTPSources, again.Spec.KernelArguments = nil, nil, nil
	w.Expect(w.kube.Update(t.Context(), again)).To(Succeed())
	w.pass()
	record, err = w.hub.Hub.InfraEnv(t.Context(), hubid.InfraEnv(env))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(record.KernelArguments).To(BeNil())
	w.Expect(record.Proxy).To(BeNil(), "what is removed from the resource goes from the record")
	w.Expect(record.AdditionalNTPSources).To(BeEmpty())
}

func TestImageCreatedSaysWhatIsMissing(t *testing.T) {
	for name, tc := range map[string]struct {
		objects []client.Object
		change  func(*agentv1.InfraEnv)
		status  corev1.ConditionStatus
		reason  string
		message string
	}{
		"no pull secret": {
			nil, nil,
			corev1.ConditionFalse, agentv1.ReasonImageCreationError, "pull secret site/pull does not exist: create it, or correct spec.pullSecretRef",
		},
		"a pull secret of another kind": {
			[]client.Object{pullSecret(map[string][]byte{"password": []byte("x")})},
			nil,
			corev1.ConditionFalse, agentv1.ReasonImageCreationError, "has no key .dockerconfigjson",
		},
		"no ClusterDeployment": {
			[]client.Object{pullSecret(goodSecret)},
			inCluster,
			corev1.ConditionUnknown, agentv1.ReasonMissingClusterDeployment, "ClusterDeployment clusters/prod",
		},
		"a cluster that the hub does not know yet": {
			[]client.Object{pullSecret(goodSecret), deployment()},
			inCluster,
			corev1.ConditionUnknown, agentv1.ReasonMissingClusterDeployment, "to be registered in the hub",
		},
		"an override that is no Ignition": {
			[]client.Object{pullSecret(goodSecret)},
			func(e *agentv1.InfraEnv) { e.Spec.IgnitionConfigOverride = "{" },
			corev1.ConditionFalse, agentv1.ReasonImageCreationError, "spec.ignitionConfigOverride",
		},
		"an installation at each boot": {
			[]client.Object{pullSecret(goodSecret)},
			func(e *agentv1.InfraEnv) {
				e.Spec.KernelArguments = []agentv1.KernelArgument{{Operation: "append", Value: "quiet"}, {Operation: "append", Value: "coreos.inst.install_dev=/dev/sda"}}
			},
			corev1.ConditionFalse, agentv1.ReasonImageCreationError, "InfraEnv spec.kernelArguments[1].value: coreos.inst.install_dev: ",
		},
		"a replacement without a new value": {
			[]client.Object{pullSecret(goodSecret)},
			func(e *agentv1.InfraEnv) {
				e.Spec.KernelArguments = []agentv1.KernelArgument{{Operation: "replace", Value: "a=b"}}
			},
			corev1.ConditionFalse, agentv1.ReasonImageCreationError, "want KEY=OLD=NEW",
		},
		"two clusters for one host": {
			[]client.Object{pullSecret(goodSecret), deployment()},
			func(e *agentv1.InfraEnv) {
				inCluster(e)
				e.Annotations = map[string]string{names.SingleHost: "true"}
			},
			corev1.ConditionFalse, agentv1.ReasonImageCreationError, "exclude each other",
		},
	} {
		t.Run(name, func(t *testing.T) {
			change := tc.change
			if change == nil {
				change = func(*agentv1.InfraEnv) {}
			}
			w := newWorld(t, append(tc.objects, infraEnv(change))...)
			_, env := w.pass()
			w.Expect(imageCreated(env)).To(And(
				HaveField("Status", tc.status), HaveField("Reason", tc.reason), HaveField("Message", ContainSubstring(tc.message))))
			w.Expect(w.hub.InfraEnvs(t.Context(), store.InfraEnvFilter{})).To(BeEmpty())
		})
	}
}

func TestTheSecretThatArrivesWakesTheEnvironment(t *testing.T) {
	w := newWorld(t, infraEnv())
	w.pass()
	secret := pullSecret(goodSecret)
	w.Expect(w.kube.Create(t.Context(), secret)).To(Succeed())
	w.Expect(w.r.envsOfSecret(t.Context(), secret)).To(ConsistOf(ctrl.Request{NamespacedName: key}))
	_, env := w.pass()
	w.Expect(imageCreated(env).Status).To(Equal(corev1.ConditionTrue))
}

func TestHostsJoinTheClusterOfTheReference(t *testing.T) {
	cd := deployment()
	w := newWorld(t, pullSecret(goodSecret), cd, infraEnv(inCluster))
	_, err := w.hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: hubid.Cluster(cd), Name: "prod", Masters: 1})
	w.Expect(err).NotTo(HaveOccurred())
	_, env := w.pass()
	w.Expect(imageCreated(env).Status).To(Equal(corev1.ConditionTrue))
	host := store.HostKey{InfraEnvID: hubid.InfraEnv(env), HostID: uuid.NewString()}
	_, err = w.hub.RegisterHost(t.Context(), service.Registration{InfraEnvID: host.InfraEnvID, HostID: host.HostID})
	w.Expect(err).NotTo(HaveOccurred())
	view, _, err := w.hub.View(t.Context(), host)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(view.ClusterID).To(Equal(hubid.Cluster(cd)))

	w.Expect(w.r.envsOfDeployment(t.Context(), cd)).To(ConsistOf(ctrl.Request{NamespacedName: key}))
	aci := &hiveextv1.AgentClusterInstall{ObjectMeta: metav1.ObjectMeta{Namespace: "clusters", Name: "other-name"}}
	aci.Spec.ClusterDeploymentRef.Name = "prod"
	w.Expect(w.r.envsOfInstall(t.Context(), aci)).To(ConsistOf(ctrl.Request{NamespacedName: key}))
}

func TestSingleHostGivesEachHostItsOwnCluster(t *testing.T) {
	for value, want := range map[string]string{"true": wire.HostStatusDiscovering, "false": wire.HostStatusDiscoveringUnbound} {
		t.Run(value, func(t *testing.T) {
			w := newWorld(t, pullSecret(goodSecret), infraEnv(func(e *agentv1.InfraEnv) {
				e.Annotations = map[string]string{names.SingleHost: value}
			}))
			_, env := w.pass()
			answer, err := w.hub.RegisterHost(t.Context(), service.Registration{InfraEnvID: hubid.InfraEnv(env), HostID: uuid.NewString()})
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(answer.Status).To(Equal(want))
		})
	}
}

func TestDeletionWaitsForAgents(t *testing.T) {
	w := newWorld(t, pullSecret(goodSecret), infraEnv())
	_, env := w.pass()
	host := store.HostKey{InfraEnvID: hubid.InfraEnv(env), HostID: uuid.NewString()}
	_, err := w.hub.RegisterHost(t.Context(), service.Registration{InfraEnvID: host.InfraEnvID, HostID: host.HostID})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(w.kube.Delete(t.Context(), env)).To(Succeed())

	result, env := w.pass()
	w.Expect(result.RequeueAfter).To(Equal(lookAgain))
	w.Expect(env.Finalizers).To(ConsistOf(names.InfraEnvFinalizer))
	w.Expect(imageCreated(env).Message).To(ContainSubstring("kubectl delete agents -n site -l infraenvs.agent-install.openshift.io=edge"))

	agent := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: "site", Name: host.HostID, Labels: map[string]string{names.InfraEnvLabel: "edge"}}}
	w.Expect(envOfAgent(t.Context(), agent)).To(ConsistOf(ctrl.Request{NamespacedName: key}), "the Agent's end wakes the environment")
	w.Expect(w.hub.DeleteHost(t.Context(), host)).To(Succeed())
	_, env = w.pass()
	w.Expect(env).To(BeNil())
	_, err = w.hub.Hub.InfraEnv(t.Context(), host.InfraEnvID)
	w.Expect(service.IsNotFound(err)).To(BeTrue())
}

func TestAHubThatDoesNotAnswerIsTriedAgain(t *testing.T) {
	g := NewWithT(t)
	w := newWorld(t, pullSecret(goodSecret), infraEnv())
	w.hub.Stop()
	result, env := w.pass()
	g.Expect(result.RequeueAfter).To(BeNumerically(">", 0))
	g.Expect(imageCreated(env)).To(And(
		HaveField("Status", corev1.ConditionFalse), HaveField("Reason", agentv1.ReasonWaitingForInfraEnvImageToBeMade),
		HaveField("Message", ContainSubstring("the hub's store is not available"))))
}

// TestWhatCannotChangeIsSaid, also where nothing refuses it when it is written.
func TestWhatCannotChangeIsSaid(t *testing.T) {
	for path, change := range map[string]func(*agentv1.InfraEnv){
		"spec.cpuArchitecture": func(e *agentv1.InfraEnv) { e.Spec.CpuArchitecture = "arm64" },
		"spec.clusterRef":      func(e *agentv1.InfraEnv) { e.Spec.ClusterRef = nil },
	} {
		t.Run(path, func(t *testing.T) {
			cd := deployment()
			w := newWorld(t, pullSecret(goodSecret), cd, infraEnv(inCluster))
			_, err := w.hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: hubid.Cluster(cd), Name: "prod", Masters: 1})
			w.Expect(err).NotTo(HaveOccurred())
			_, env := w.pass()
			w.Expect(imageCreated(env).Status).To(Equal(corev1.ConditionTrue))
			before := w.record(env)
			change(env)
			w.Expect(w.kube.Update(t.Context(), env)).To(Succeed())
			_, env = w.pass()
			w.Expect(imageCreated(env)).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Message", ContainSubstring(path+" of infra-env edge cannot change"))))
			w.Expect(w.record(env)).To(And(HaveField("ClusterID", before.ClusterID), HaveField("CPUArchitecture", before.CPUArchitecture)))
		})
	}
}

// TestAnInfraEnvFollowsItsClusterThatIsMadeAnew: whoever wants a cluster to be made otherwise deletes it and creates it again,
// and its hosts register for that one. A cluster that is still there is not exchanged.
func TestAnInfraEnvFollowsItsClusterThatIsMadeAnew(t *testing.T) {
	cd := deployment()
	w := newWorld(t, pullSecret(goodSecret), cd, infraEnv(inCluster))
	_, err := w.hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: hubid.Cluster(cd), Name: "prod", Masters: 1})
	w.Expect(err).NotTo(HaveOccurred())
	_, env := w.pass()
	w.Expect(imageCreated(env).Status).To(Equal(corev1.ConditionTrue))
	w.Expect(w.kube.Delete(t.Context(), cd)).To(Succeed())
	anew := deployment()
	w.Expect(w.kube.Create(t.Context(), anew)).To(Succeed())
	_, err = w.hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: hubid.Cluster(anew), Name: "prod", Masters: 1})
	w.Expect(err).NotTo(HaveOccurred())
	_, env = w.pass()
	w.Expect(imageCreated(env).Status).To(Equal(corev1.ConditionFalse), "the hub still has the other one, and its hosts")

	w.Expect(w.hub.DeleteCluster(t.Context(), hubid.Cluster(cd))).To(Succeed())
	_, env = w.pass()
	w.Expect(imageCreated(env)).To(HaveField("Status", corev1.ConditionTrue))
	host := store.HostKey{InfraEnvID: hubid.InfraEnv(env), HostID: uuid.NewString()}
	_, err = w.hub.RegisterHost(t.Context(), service.Registration{InfraEnvID: host.InfraEnvID, HostID: host.HostID})
	w.Expect(err).NotTo(HaveOccurred())
	view, _, err := w.hub.View(t.Context(), host)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(view.ClusterID).To(Equal(hubid.Cluster(anew)))
}

// TestAnnotationsThatChangeNothingAreNamed: nobody waits for what they ask for.
func TestAnnotationsThatChangeNothingAreNamed(t *testing.T) {
	const prefix = "infraenv.agent-install.openshift.io/"
	for name, tc := range map[string]struct{ annotation, value, says string }{
		"one that nobody knows":              {prefix + "levitate", "zone", "these annotations change nothing: " + prefix + "levitate"},
		"somebody else's":                    {"example.com/theirs", "zone", ""},
		"an image":                           {prefix + "ironic-agent-image-override", "registry.example/ipa", ""},
		"another hub's note":                 {prefix + "enable-ironic-agent", "true", ""},
		"a label that is there":              {prefix + "propagate-node-labels", "zone", ""},
		"a label that is not":                {prefix + "propagate-node-labels", "zone, rack,", "annotation " + prefix + "propagate-node-labels names what is no label of this InfraEnv: rack"},
		"a family of addresses":              {prefix + "ip-family", "v6", ""},
		"both":                               {prefix + "ip-family", "v4,v6", ""},
		"a family of addresses that is none": {prefix + "ip-family", "v4,v5", "annotation " + prefix + `ip-family "v4,v5" changes nothing: want v4, v6, or v4,v6`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, pullSecret(goodSecret), infraEnv(func(e *agentv1.InfraEnv) {
				e.Annotations, e.Labels = map[string]string{tc.annotation: tc.value}, map[string]string{"zone": "a"}
			}))
			_, env := w.pass()
			w.Expect(imageCreated(env).Status).To(Equal(corev1.ConditionTrue))
			_, says, _ := strings.Cut(imageCreated(env).Message, "; ")
			w.Expect(says).To(Equal(tc.says))
		})
	}
}

func TestOnlyWhatAPersonMendsIsAnImageCreationError(t *testing.T) {
	g := NewWithT(t)
	_, reason := verdict(errors.New("the API server was slow"))
	g.Expect(reason).To(Equal(agentv1.ReasonWaitingForInfraEnvImageToBeMade))
}

// TestTokensAreRevokedByAnAnnotation: once for each other text.
func TestTokensAreRevokedByAnAnnotation(t *testing.T) {
	w := newWorld(t, pullSecret(goodSecret), infraEnv())
	_, env := w.pass()
	token := func() string {
		text, err := w.hub.AgentToken(t.Context(), hubid.InfraEnv(env))
		w.Expect(err).NotTo(HaveOccurred())
		return text
	}
	revoke := func(word string) {
		env.Annotations = map[string]string{names.Revoke: word}
		w.Expect(w.kube.Update(t.Context(), env)).To(Succeed())
		_, env = w.pass()
	}
	first := token()
	revoke("stolen")
	second := token()
	w.Expect(second).NotTo(Equal(first))
	_, err := w.hub.CheckAgentToken(t.Context(), first)
	w.Expect(err).To(HaveOccurred())
	_, env = w.pass()
	revoke("stolen")
	w.Expect(token()).To(Equal(second), "it was done already")
	revoke("again")
	w.Expect(token()).NotTo(Equal(second))
}

// TestAHostIsApprovedByItsAgentAlone: where all hosts are approved, the record of one that has just registered has nothing yet of
// what its Agent says of the disk. Its inventory begins no installation.
func TestAHostIsApprovedByItsAgentAlone(t *testing.T) {
	env := infraEnv(func(e *agentv1.InfraEnv) {
		e.Annotations = map[string]string{names.SingleHost: "true"}
		e.Spec.AgentApproval = &agentv1.AgentApproval{AutoApprove: true}
	})
	w := newWorld(t, env, pullSecret(map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}))
	w.pass()
	host := store.HostKey{InfraEnvID: hubid.InfraEnv(env), HostID: uuid.NewString()}
	token, err := w.hub.AgentToken(t.Context(), host.InfraEnvID)
	w.Expect(err).NotTo(HaveOccurred())
	agent := w.hub.Agent(token)
	agent.Register(t, host)
	for _, step := range agent.Poll(t, host).Instructions {
		agent.Answer(t, host, step, testhub.Inventory(1))
	}
	view, record, err := w.hub.View(t.Context(), host)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(record.Status).To(Equal(wire.HostStatusKnown), record.StatusInfo)
	w.Expect(view.Approved).To(BeFalse())

	w.Expect(w.hub.ApproveHost(t.Context(), host, true)).To(Succeed())
	_, record, err = w.hub.View(t.Context(), host)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(record.Status).To(Equal(wire.HostStatusPreparingForInstallation), record.StatusInfo)
}
