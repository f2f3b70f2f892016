package cluster

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// change updates the spec of the install, and passes once.
func (w *world) change(change func(*hiveextv1.AgentClusterInstall)) *hiveextv1.AgentClusterInstall {
	w.t.Helper()
	aci := &hiveextv1.AgentClusterInstall{}
	w.Expect(w.kube.Get(w.t.Context(), key, aci)).To(Succeed())
	change(aci)
	w.Expect(w.kube.Update(w.t.Context(), aci)).To(Succeed())
	return w.pass()
}

// TestManifestsOfConfigMapsReachTheHub, with their changes, and beside those of users.
func TestManifestsOfConfigMapsReachTheHub(t *testing.T) {
	cd := deployment()
	files := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "more"}, Data: map[string]string{"a.yaml": "kind: A\n", "b.yaml": "kind: B\n"}}
	twice := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "twice"}, Data: map[string]string{"a.yaml": "kind: A\n"}}
	w := newWorld(t, cd, files, twice, install(func(a *hiveextv1.AgentClusterInstall) {
		a.Spec.ManifestsConfigMapRefs = []hiveextv1.ManifestsConfigMapReference{{Name: "more"}}
	}))
	id := hubid.Cluster(cd)
	named := func() (all []string) {
		list, err := w.hub.Manifests(t.Context(), id)
		w.Expect(err).NotTo(HaveOccurred())
		for _, m := range list {
			all = append(all, m.Folder+"/"+m.FileName)
		}
		return all
	}
	w.Expect(condition(w.pass(), "SpecSynced").Status).To(Equal(corev1.ConditionTrue))
	w.Expect(named()).To(ConsistOf("openshift/a.yaml", "openshift/b.yaml"))

	_, err := w.hub.PutManifest(t.Context(), id, wire.CreateManifestParams{FileName: "c.yaml", Content: "a2luZDogQwo="})
	w.Expect(err).NotTo(HaveOccurred())
	files.Data = map[string]string{"b.yaml": "kind: B2\n"}
	w.Expect(w.kube.Update(t.Context(), files)).To(Succeed())
	w.Expect(condition(w.pass(), "SpecSynced").Status).To(Equal(corev1.ConditionTrue))
	w.Expect(named()).To(ConsistOf("openshift/b.yaml", "manifests/c.yaml"))
	w.Expect(w.hub.Manifest(t.Context(), id, "openshift", "b.yaml")).To(Equal("kind: B2\n"))

	for name, tc := range map[string]struct {
		maps []string
		data map[string]string
		says string
	}{
		"a map that is not there": {[]string{"more", "missing"}, map[string]string{"b.yaml": "kind: B2\n"}, "ConfigMap site/missing of spec.manifestsConfigMapRefs to be created"},
		"a file of two maps":      {[]string{"more", "twice"}, map[string]string{"a.yaml": "kind: A\n"}, "both have a file a.yaml"},
		"a file of a user":        {[]string{"more"}, map[string]string{"c.yaml": "kind: C\n"}, "has a manifest c.yaml in folder manifests already"},
		"a file that is none":     {[]string{"more"}, map[string]string{"d.yaml": "["}, "d.yaml: it is no YAML"},
	} {
		files.Data = tc.data
		w.Expect(w.kube.Update(t.Context(), files)).To(Succeed())
		aci := w.change(func(a *hiveextv1.AgentClusterInstall) {
			a.Spec.ManifestsConfigMapRefs = nil
			for _, m := range tc.maps {
				a.Spec.ManifestsConfigMapRefs = append(a.Spec.ManifestsConfigMapRefs, hiveextv1.ManifestsConfigMapReference{Name: m})
			}
		})
		w.Expect(condition(aci, "SpecSynced")).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Message", ContainSubstring(tc.says))), name)
		w.Expect(named()).To(ConsistOf("openshift/b.yaml", "manifests/c.yaml"), name)
	}
}

// TestWhatIsRefusedIsNotInstalled: nor is the cluster installed as its objects said before.
func TestWhatIsRefusedIsNotInstalled(t *testing.T) {
	cd := deployment()
	w := newWorld(t, cd, install(func(a *hiveextv1.AgentClusterInstall) { a.Spec.HoldInstallation = true }))
	w.pass()
	mirrors := func(a *hiveextv1.AgentClusterInstall) {
		a.Spec.HoldInstallation, a.Spec.MirrorRegistryRef = false, &hiveextv1.MirrorRegistryReference{Namespace: "site", Name: "mirrors"}
	}
	aci := w.change(mirrors)
	w.Expect(condition(aci, "SpecSynced").Message).To(ContainSubstring("AgentClusterInstall spec.mirrorRegistryRef.name is refused"))
	w.Expect(aci.Status.DebugInfo.State).To(Equal(wire.ClusterStatusInsufficient), "its state is shown all the same")

	agent, host := w.registered(cd, true)
	w.Eventually(func() string {
		for _, step := range agent.Poll(t, host).Instructions {
			w.Expect(step.StepType).NotTo(Equal(wire.StepTypeInstall))
			agent.Answer(t, host, step, testhub.Inventory(1))
		}
		h, err := w.hub.Host(t.Context(), host)
		w.Expect(err).NotTo(HaveOccurred())
		return h.StatusInfo
	}, "60s", "10ms").Should(ContainSubstring("on hold"))
	w.change(func(a *hiveextv1.AgentClusterInstall) { a.Spec.MirrorRegistryRef = nil })
	agent.UntilInstall(t, host, testhub.Inventory(1)) // it goes on once the spec can be had
}

// TestWhatIsTooLateIsSaid, by its path, and the rest is taken.
func TestWhatIsTooLateIsSaid(t *testing.T) {
	cd := deployment()
	w := newWorld(t, cd, install())
	w.pass()
	agent, host := w.installing(cd)
	aci := w.change(func(a *hiveextv1.AgentClusterInstall) {
		a.Spec.APIVIPs = []string{"192.0.2.100"}
		a.Spec.IgnitionEndpoint = &hiveextv1.IgnitionEndpoint{Url: "https://api.prod.example:22623/config"}
	})
	w.Expect(condition(aci, "SpecSynced")).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "InputError"), HaveField("Message",
		And(ContainSubstring("is installing"), ContainSubstring("AgentClusterInstall spec.apiVIPs"), Not(ContainSubstring("ignitionEndpoint"))))))
	record, err := w.hub.Cluster(t.Context(), hubid.Cluster(cd), false)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(record.APIVIPs).To(BeEmpty())
	w.Expect(record.IgnitionEndpoint).NotTo(BeNil())
	agent.Progress(t, host, wire.HostStageWritingImageToDisk, "45%")
	w.Expect(w.pass().Status.Progress.TotalPercentage).To(BeNumerically(">", 0), "the installation is shown as it goes on")
	aci = w.change(func(a *hiveextv1.AgentClusterInstall) {
		a.Spec.APIVIPs, a.Spec.SSHPublicKey = nil, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f"
	})
	w.Expect(condition(aci, "SpecSynced").Message).To(ContainSubstring("AgentClusterInstall spec.sshPublicKey (it can change before the installation, and for hosts that join later)"),
		"nobody resets a cluster for what waiting for its end does")
	aci = w.change(func(a *hiveextv1.AgentClusterInstall) { a.Spec.SSHPublicKey = "" })
	w.Expect(condition(aci, "SpecSynced").Status).To(Equal(corev1.ConditionTrue))
}

// complete takes the host to its end.
func (w *world) complete(cd *hivev1.ClusterDeployment) (*testhub.Caller, string) {
	w.t.Helper()
	agent, host := w.installing(cd)
	for _, stage := range []wire.HostStage{wire.HostStageInstalling, wire.HostStageRebooting} {
		agent.Progress(w.t, host, stage, "")
	}
	w.Expect(w.hub.CompleteHost(w.t.Context(), host)).To(Succeed())
	return agent, host.InfraEnvID
}

// TestAClusterThatRunsAlreadyTellsWhereItsConfigurationIs: one that somebody else has installed, or whose record was lost,
// and whose objects name no Ignition endpoint. Its hosts would have none, and would not join.
func TestAClusterThatRunsAlreadyTellsWhereItsConfigurationIs(t *testing.T) {
	for name, change := range map[string]func(*hivev1.ClusterDeployment, *hiveextv1.AgentClusterInstall){
		"installed by somebody else": func(cd *hivev1.ClusterDeployment, _ *hiveextv1.AgentClusterInstall) { cd.Spec.Installed = true },
		"lost": func(_ *hivev1.ClusterDeployment, a *hiveextv1.AgentClusterInstall) {
			a.Status.DebugInfo.State = wire.ClusterStatusAddingHosts
		},
	} {
		t.Run(name, func(t *testing.T) {
			cd, aci := deployment(), install()
			change(cd, aci)
			w := newWorld(t, cd, aci)
			w.Expect(w.pass().Status.DebugInfo.State).To(Equal(wire.ClusterStatusAddingHosts))
			record, err := w.hub.Cluster(t.Context(), hubid.Cluster(cd), false)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(record.Imported != nil && *record.Imported).To(Equal(cd.Spec.Installed))
			agent, host := w.registered(cd, false)
			asked := ""
			w.Eventually(func() string {
				for _, step := range agent.Poll(t, host).Instructions {
					if step.StepType == wire.StepTypeAPIVIPConnectivityCheck {
						asked = step.Args[0]
					}
					agent.Answer(t, host, step, testhub.Inventory(1))
				}
				return asked
			}, "10s", "100ms").Should(ContainSubstring("https://api.prod.lab.example:22623/config/worker"))
		})
	}
}

// TestAnInstalledClusterTakesMoreHosts: day 2 with resources alone.
func TestAnInstalledClusterTakesMoreHosts(t *testing.T) {
	cd := deployment()
	w := newWorld(t, cd, install())
	w.pass()
	agent, env := w.complete(cd)
	w.Expect(w.pass().Status.DebugInfo.State).To(Equal(wire.ClusterStatusAddingHosts))
	aci := w.change(func(a *hiveextv1.AgentClusterInstall) { a.Spec.ProvisionRequirements.WorkerAgents = 2 })
	w.Expect(condition(aci, "SpecSynced").Status).To(Equal(corev1.ConditionTrue), "more workers may come")
	code, raw := agent.Do(t, http.MethodPost, "/infra-envs/"+env+"/hosts", wire.HostCreateParams{HostID: uuid.NewString()}, nil)
	w.Expect(code).To(Equal(http.StatusCreated), raw)
}

// TestCompletedMeansThatAClusterRuns: one has credentials, and they are where Hive looks for them.
func TestCompletedMeansThatAClusterRuns(t *testing.T) {
	cd := deployment()
	w := newWorld(t, cd, install())
	w.pass()
	w.complete(cd)
	aci := w.pass()
	_, err := w.hub.CredentialsFile(t.Context(), hubid.Cluster(cd), "kubeconfig")
	missing := w.kube.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: cd.Name + "-admin-kubeconfig"}, &corev1.Secret{})
	if condition(aci, "Completed").Status == corev1.ConditionTrue {
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(missing).NotTo(HaveOccurred())
	}
	w.Expect(condition(aci, "Completed")).To(And(HaveField("Reason", "HostsInstalled"), HaveField("Message", ContainSubstring("no credentials of a cluster"))))
	w.Expect(condition(aci, "Stopped").Status).To(Equal(corev1.ConditionTrue))
}

// withCredentials is a world whose Ignition source has the cluster's credentials.
func withCredentials(t *testing.T, cd *hivev1.ClusterDeployment, objects ...client.Object) *world {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, hubid.Cluster(cd))
	NewWithT(t).Expect(os.Mkdir(dir, 0o700)).To(Succeed())
	for name, text := range map[string]string{"kubeconfig-noingress": "kind: Config\n", "kubeadmin-password": "a-b-c\n"} {
		NewWithT(t).Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	return newWorldOf(t, testhub.Options{IgnitionDir: top}, append(objects, cd)...)
}

// TestCredentialsAreWhereHiveLooks for them, as soon as the hub hands them out, and again when somebody removes them.
func TestCredentialsAreWhereHiveLooks(t *testing.T) {
	cd := deployment()
	w := withCredentials(t, cd, install())
	read := func(name string) *corev1.Secret {
		secret := &corev1.Secret{}
		w.Expect(w.kube.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: name}, secret)).To(Succeed())
		return secret
	}
	w.Expect(w.pass().Spec.ClusterMetadata).To(BeNil(), "there is no cluster yet")
	w.installing(cd)
	w.pass()
	w.pass() // what is kept of the status follows it
	aci := w.pass()
	w.Expect(aci.Spec.ClusterMetadata).To(HaveValue(And(HaveField("InfraID", hubid.Cluster(cd)), HaveField("ClusterID", Not(BeEmpty())),
		HaveField("AdminKubeconfigSecretRef.Name", "prod-admin-kubeconfig"), HaveField("AdminPasswordSecretRef.Name", "prod-admin-password"))))
	config := read("prod-admin-kubeconfig")
	w.Expect(config.Data).To(HaveKeyWithValue("kubeconfig", []byte("kind: Config\n")))
	w.Expect(config.Labels).To(And(HaveKeyWithValue("hive.openshift.io/secret-type", "kubeconfig"), HaveKeyWithValue("hive.openshift.io/cluster-deployment-name", "prod")))
	w.Expect(config.OwnerReferences).To(ConsistOf(HaveField("UID", cd.UID)))
	w.Expect(read("prod-admin-password").Data).To(And(HaveKeyWithValue("username", []byte("kubeadmin")), HaveKeyWithValue("password", []byte("a-b-c"))))
	w.Expect(w.pass().ResourceVersion).To(Equal(aci.ResourceVersion), "a pass without news writes nothing")
	w.Expect(w.kube.Delete(t.Context(), config)).To(Succeed())
	w.pass()
	read("prod-admin-kubeconfig")
}

// forbidding is an API server on which Secrets cannot be created.
type forbidding struct{ client.Client }

func (f forbidding) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if _, is := o.(*corev1.Secret); is {
		return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, o.GetName(), nil)
	}
	return f.Client.Create(ctx, o, opts...)
}

// TestCredentialsThatCannotBeStoredAreSaid: a Secret of somebody else stays, and a right that is missing is named.
func TestCredentialsThatCannotBeStoredAreSaid(t *testing.T) {
	foreign := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "theirs"}, Data: map[string][]byte{"kubeconfig": []byte("theirs")}}
	for name, tc := range map[string]struct {
		secret string
		says   string
	}{
		"a Secret of somebody else": {"theirs", "Secret site/theirs is there already"},
		"no right":                  {"ours", "kubectl apply -k config/cluster-credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			cd := deployment(func(cd *hivev1.ClusterDeployment) {
				cd.Spec.ClusterMetadata = &hivev1.ClusterMetadata{AdminKubeconfigSecretRef: corev1.LocalObjectReference{Name: tc.secret}}
			})
			w := withCredentials(t, cd, install(), foreign.DeepCopy())
			w.r.Client = forbidding{w.kube}
			w.pass()
			w.installing(cd)
			aci := w.pass()
			w.Expect(condition(aci, "SpecSynced")).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "CredentialsNotStored"), HaveField("Message", ContainSubstring(tc.says))))
			w.Expect(aci.Spec.ClusterMetadata).To(BeNil())
			secret := &corev1.Secret{}
			w.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(foreign), secret)).To(Succeed())
			w.Expect(secret.Data).To(Equal(foreign.Data))
		})
	}
}
