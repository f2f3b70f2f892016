// Package controllers_test runs the controllers of the hub's side together, in
// one manager, on a real kube-apiserver with the real schemas and with a real
// hub and image store. Only Ironic is not there: what the host controller would
// write is written by the test.
package controllers_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/uuid"
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/controllers/agents"
	"github.com/ironflow/ironflow/controllers/cluster"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/controllers/infraenv"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/controllers/progress"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	testmedia "github.com/ironflow/ironflow/test/media"
)

const (
	site     = "default"
	patience = time.Minute
	often    = 50 * time.Millisecond
)

// world is a running manager with everything around it.
type world struct {
	*WithT
	t    *testing.T
	kube client.Client
	hub  *testhub.Hub
}

// noNmstatectl is a live system of which nothing is known.
func noNmstatectl(context.Context, string, string) network.Live { return network.Live{} }

func newWorld(t *testing.T) *world {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{Controllers: true})
	crds, err := config.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	_, err = envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{CRDs: crds})
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, metal3v1.AddToScheme, agentv1.AddToScheme, hivev1.AddToScheme, hiveextv1.AddToScheme,
	} {
		g.Expect(add(scheme)).To(Succeed())
	}
	w := &world{WithT: g, t: t, hub: testhub.Start(t, testhub.Options{})}
	w.kube, err = client.New(plane.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())
	w.enforce(plane.Config())
	w.run(plane.Config(), scheme)
	return w
}

// enforce puts the admission rules of config/ in force: no controller may ask for what they refuse.
func (w *world) enforce(access *rest.Config) {
	w.t.Helper()
	w.Expect(lab.InstallAdmission(w.t.Context(), access)).To(Succeed())
	bad := &agentv1.AgentClassification{ObjectMeta: metav1.ObjectMeta{Namespace: site, Name: "bad"}}
	bad.Spec.LabelKey, bad.Spec.LabelValue, bad.Spec.Query = "no/key", "x", "."
	w.Eventually(func() error { return w.kube.Create(w.t.Context(), bad, client.DryRunAll) }, patience, often).Should(MatchError(ContainSubstring("ValidatingAdmissionPolicy")))
}

// run starts the controllers as the program does.
func (w *world) run(config *rest.Config, scheme *runtime.Scheme) {
	w.t.Helper()
	iso := filepath.Join(w.t.TempDir(), "live.iso")
	w.Expect(testmedia.WriteFile(iso, testmedia.Options{RootfsBytes: 1 << 20})).To(Succeed())
	registry, err := media.Open(w.t.Context(), iso, media.Options{})
	w.Expect(err).NotTo(HaveOccurred())
	built, err := images.NewStore(w.t.Context(), images.Options{Media: registry, BaseURL: "http://192.0.2.1:8080", SigningKey: make([]byte, 32)})
	w.Expect(err).NotTo(HaveOccurred())
	yes := true
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &yes}},
		Controller: ctrlconfig.Controller{SkipNameValidation: &yes}, // each test runs them anew
	})
	w.Expect(err).NotTo(HaveOccurred())
	for _, failure := range []error{
		infraenv.Setup(mgr, w.hub, w.hub.URL, noNmstatectl, nil), cluster.Setup(mgr, w.hub, nil, w.hub.URL), agents.Setup(mgr, w.hub, link.Behind(mgr.GetClient())), link.Setup(mgr, w.hub, link.Options{}),
		image.Setup(mgr, image.Options{
			Store: built, Architectures: func() []string { return []string{"x86_64"} }, IPA: ipa, Agent: w.agentConfig,
		}),
	} {
		w.Expect(failure).NotTo(HaveOccurred())
	}
	source := progress.New(w.hub, built, mgr.GetClient(), logr.Discard())
	w.Expect(mgr.Add(source)).To(Succeed())
	done := make(chan error, 1)
	ctx := w.t.Context()
	go func() { done <- mgr.Start(ctx) }()
	go drain(ctx, source)
	w.t.Cleanup(func() { w.Expect(<-done).To(Succeed()) })
}

// drain takes the news that the host controller would take.
func drain(ctx context.Context, s *progress.Source) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Changed:
		}
	}
}

func ipa(string) (ignition.IPA, error) {
	return ignition.IPA{APIURLs: []string{"https://ironic.example:6385"}, Command: []string{"/usr/local/bin/ironic-python-agent"}}, nil
}

func (w *world) agentConfig(ctx context.Context, env *agentv1.InfraEnv, machine string) (ignition.Agent, error) {
	token, err := w.hub.MachineToken(ctx, hubid.InfraEnv(env), machine)
	return ignition.Agent{URL: w.hub.URL, InfraEnvID: hubid.InfraEnv(env), Version: "agent:1", Token: ignition.Secret(token), Gate: true}, err
}

func meta(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: site, Name: name} }

// create writes what a user writes, and what the host controller makes of it.
func (w *world) create() {
	w.t.Helper()
	cd := &hivev1.ClusterDeployment{ObjectMeta: meta("prod")}
	cd.Spec.ClusterName, cd.Spec.BaseDomain = "prod", "lab.example"
	cd.Spec.PullSecretRef = &corev1.LocalObjectReference{Name: "pull"}
	aci := &hiveextv1.AgentClusterInstall{ObjectMeta: meta("prod")}
	aci.Spec.ClusterDeploymentRef.Name = "prod"
	aci.Spec.ProvisionRequirements.ControlPlaneAgents = 1
	host := &metal3v1.BareMetalHost{ObjectMeta: meta("node-0"), Spec: metal3v1.BareMetalHostSpec{
		Online: true, BootMACAddress: testhub.Inventory(1).Interfaces[0].MACAddress,
	}}
	host.Labels = map[string]string{names.InfraEnvLabel: "edge"}
	host.Annotations = map[string]string{names.BMACCluster: site + "/prod", names.BMACRole: "master", names.BMACHostname: "edge-1"}
	live := &metal3v1.PreprovisioningImage{ObjectMeta: meta("node-0"), Spec: metal3v1.PreprovisioningImageSpec{
		Architecture: "x86_64", AcceptFormats: []metal3v1.ImageFormat{metal3v1.ImageFormatISO},
	}}
	live.Labels = host.Labels
	for _, o := range []client.Object{
		// The host first and the Secret last: whatever comes later has to wake what waits for it.
		host, live, aci, cd,
		&agentv1.InfraEnv{ObjectMeta: meta("edge"), Spec: agentv1.InfraEnvSpec{PullSecretRef: &corev1.LocalObjectReference{Name: "pull"}}},
		&corev1.Secret{ObjectMeta: meta("pull"), Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(`{"auths":{}}`)}},
	} {
		w.Expect(w.kube.Create(w.t.Context(), o)).To(Succeed())
	}
}

// state writes the host's provisioning state, as the host controller would.
func (w *world) state(state metal3v1.ProvisioningState) {
	w.t.Helper()
	w.Eventually(func() error {
		host := &metal3v1.BareMetalHost{ObjectMeta: meta("node-0")}
		if err := w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(host), host); err != nil {
			return err
		}
		host.Status.OperationalStatus, host.Status.Provisioning.State = metal3v1.OperationalStatusOK, state
		return w.kube.Status().Update(w.t.Context(), host)
	}, patience, often).Should(Succeed())
}

// get reads the object anew.
func get[T client.Object](w *world, obj T) T {
	w.t.Helper()
	w.Expect(w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(obj), obj)).To(Succeed())
	return obj
}

func (w *world) agent(key store.HostKey) func() *agentv1.Agent {
	return func() *agentv1.Agent {
		a := &agentv1.Agent{ObjectMeta: meta(key.HostID)}
		_ = w.kube.Get(w.t.Context(), client.ObjectKeyFromObject(a), a)
		return a
	}
}

// because is the reason of an Agent's condition.
func because(kind, reason string) func(*agentv1.Agent) bool {
	return func(a *agentv1.Agent) bool {
		c := agentv1.FindCondition(a.Status.Conditions, kind)
		return c != nil && c.Reason == reason
	}
}

func TestFromObjectsToAnInstalledHost(t *testing.T) {
	w := newWorld(t)
	w.create()
	w.state(metal3v1.StateAvailable)
	host := &metal3v1.BareMetalHost{ObjectMeta: meta("node-0")}
	w.Eventually(func() string {
		if deploy := get(w, host).Spec.CustomDeploy; deploy != nil {
			return deploy.Method
		}
		return ""
	}, patience, often).Should(Equal(names.StartAssistedInstall), "the image with the agent became Ready")
	w.Expect(get(w, &metal3v1.PreprovisioningImage{ObjectMeta: meta("node-0")}).Status.ImageUrl).NotTo(BeEmpty())
	w.state(metal3v1.StateProvisioning)

	env := get(w, &agentv1.InfraEnv{ObjectMeta: meta("edge")})
	key := store.HostKey{InfraEnvID: hubid.InfraEnv(env), HostID: uuid.NewString()}
	token, err := w.hub.MachineToken(t.Context(), key.InfraEnvID, get(w, host).Spec.BootMACAddress) // which is in the host's live image
	w.Expect(err).NotTo(HaveOccurred())
	machine := w.hub.Agent(token)
	answer := func() {
		for _, step := range machine.Poll(t, key).Instructions {
			machine.Answer(t, key, step, testhub.Inventory(1))
		}
	}
	machine.Register(t, key)
	answer()
	agent := w.agent(key)
	w.Eventually(agent, patience, often).Should(Satisfy(because(agentv1.ConditionBound, agentv1.ReasonBinding)),
		"the Agent was made, found by its MAC address, dressed, and bound")
	w.Expect(agent().Spec).To(And(HaveField("Approved", true), HaveField("Role", "master"), HaveField("Hostname", "edge-1")))

	machine.Register(t, key) // as agents do that were bound
	answer()
	w.Eventually(agent, patience, often).Should(Satisfy(because(agentv1.ConditionBound, agentv1.ReasonBound)))
	w.Eventually(agent, patience, often).Should(HaveField("Status.Inventory.Disks", HaveLen(1)))
	w.Eventually(func() *agentv1.Agent { answer(); return agent() }, patience, often).
		Should(Satisfy(because(agentv1.ConditionInstalled, agentv1.ReasonInstallationInProgress)))
	w.Eventually(func() bool {
		answer()
		view, _, err := w.hub.View(t.Context(), key)
		return err == nil && view.Installing
	}, patience, often).Should(BeTrue())

	machine.Progress(t, key, wire.HostStageRebooting, "")
	w.state(metal3v1.StateProvisioned)
	w.Eventually(agent, patience, often).Should(Satisfy(because(agentv1.ConditionInstalled, agentv1.ReasonInstallationCompleted)))
	w.Eventually(func() string {
		aci := get(w, &hiveextv1.AgentClusterInstall{ObjectMeta: meta("prod")})
		if c := hiveextv1.FindCondition(aci.Status.Conditions, hiveextv1.ConditionCompleted); c != nil {
			return c.Reason
		}
		return ""
	}, patience, often).Should(Equal(hiveextv1.ReasonHostsInstalled), "nothing tells of a cluster on them")
	w.Expect(get(w, host).Annotations).To(HaveKeyWithValue(names.Detached, link.Owner))
}

func TestEverythingGoesAgain(t *testing.T) {
	w := newWorld(t)
	w.create()
	env := &agentv1.InfraEnv{ObjectMeta: meta("edge")}
	w.Eventually(func() bool {
		c := agentv1.FindCondition(get(w, env).Status.Conditions, agentv1.ConditionImageCreated)
		return c != nil && c.Status == corev1.ConditionTrue
	}, patience, often).Should(BeTrue())
	key := store.HostKey{InfraEnvID: hubid.InfraEnv(env), HostID: uuid.NewString()}
	token, err := w.hub.AgentToken(t.Context(), key.InfraEnvID)
	w.Expect(err).NotTo(HaveOccurred())
	w.hub.Agent(token).Register(t, key)
	w.Eventually(w.agent(key), patience, often).Should(HaveField("UID", Not(BeEmpty())))

	// The ClusterDeployment takes its AgentClusterInstall along, once it owns it, and the InfraEnv waits for its Agent.
	w.Eventually(func() []metav1.OwnerReference {
		return get(w, &hiveextv1.AgentClusterInstall{ObjectMeta: meta("prod")}).OwnerReferences
	}, patience, often).ShouldNot(BeEmpty())
	for _, o := range []client.Object{
		&hivev1.ClusterDeployment{ObjectMeta: meta("prod")}, env, w.agent(key)(),
		&metal3v1.PreprovisioningImage{ObjectMeta: meta("node-0")}, &metal3v1.BareMetalHost{ObjectMeta: meta("node-0")},
	} {
		w.Expect(w.kube.Delete(t.Context(), o)).To(Succeed())
	}
	w.Eventually(func() (left []string, err error) {
		for _, list := range []client.ObjectList{
			&hiveextv1.AgentClusterInstallList{}, &agentv1.InfraEnvList{}, &agentv1.AgentList{}, &metal3v1.PreprovisioningImageList{}, &metal3v1.BareMetalHostList{},
		} {
			if err := w.kube.List(t.Context(), list, client.InNamespace(site)); err != nil {
				return nil, err
			}
			err := apimeta.EachListItem(list, func(o runtime.Object) error {
				left = append(left, fmt.Sprintf("%T: %+v", o, o))
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		return left, nil
	}, patience, often).Should(BeEmpty())
	w.Expect(w.hub.Clusters(t.Context(), store.ClusterFilter{})).To(BeEmpty())
	w.Expect(w.hub.InfraEnvs(t.Context(), store.InfraEnvFilter{})).To(BeEmpty())
	w.Expect(w.hub.Hosts(t.Context(), store.HostFilter{})).To(BeEmpty())
}
