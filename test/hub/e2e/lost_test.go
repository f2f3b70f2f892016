//go:build e2e

package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/cluster/incluster"
	"github.com/ironflow/ironflow/test/needs"
)

// lose removes the records of a hub that does not run; its keys stay.
func (w *world) lose() {
	w.Helper()
	files, err := filepath.Glob(filepath.Join(w.hub.Data, "hub.sqlite*"))
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(files).NotTo(BeEmpty())
	for _, f := range files {
		w.Expect(os.Remove(f)).To(Succeed())
	}
}

// ironflow runs a command of the program.
func (w *world) ironflow(args ...string) string {
	w.Helper()
	out, err := exec.CommandContext(w.Context(), needs.Shipped(w.T, "ironflow"), args...).CombinedOutput()
	w.Expect(err).NotTo(HaveOccurred(), string(out))
	return string(out)
}

// TestTheStoreIsRestored: a copy is made while three machines are written; the data
// folder is lost, and the hub goes on with the copy.
func TestTheStoreIsRestored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p, id := w.threeWriting()
	file := filepath.Join(w.dir, "hub.tgz")
	w.Expect(w.ironflow("hub", "backup", file, "--data-dir", w.hub.Data)).To(ContainSubstring("copied 1 infra-envs, 1 clusters, 3 hosts"))
	w.hub.Kill()
	w.Expect(os.RemoveAll(w.hub.Data)).To(Succeed())
	w.Expect(w.ironflow("hub", "restore", file, "--data-dir", w.hub.Data)).To(ContainSubstring("put back 1 infra-envs, 1 clusters, 3 hosts"))
	w.start(w.hub)
	w.arrives(p, id)
}

// site is a user's objects.
type site struct {
	client.Client
	cluster *hivev1.ClusterDeployment
	install *hiveextv1.AgentClusterInstall
	env     *agentv1.InfraEnv
}

// kube reads and writes the objects of users on an API server.
func (w *world) kube(p incluster.Plane) client.Client {
	w.Helper()
	access, err := p.ConfigFor("lab-admin", "system:masters")
	w.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, agentv1.AddToScheme, hivev1.AddToScheme, hiveextv1.AddToScheme, metal3v1.AddToScheme} {
		w.Expect(add(scheme)).To(Succeed())
	}
	kube, err := client.New(access, client.Options{Scheme: scheme})
	w.Expect(err).NotTo(HaveOccurred())
	return kube
}

// newSite writes a cluster of one host and its infra-env.
func (w *world) newSite() *site {
	w.Helper()
	kube := w.kube(plane)
	meta := metav1.ObjectMeta{Namespace: w.namespace(), Name: "edge"}
	s := &site{Client: kube}
	s.cluster = &hivev1.ClusterDeployment{ObjectMeta: meta}
	s.cluster.Spec.ClusterName, s.cluster.Spec.BaseDomain = "edge", "lab.example"
	s.cluster.Spec.ClusterInstallRef = &hivev1.ClusterInstallReference{
		Group: hiveextv1.GroupVersion.Group, Version: hiveextv1.GroupVersion.Version, Kind: "AgentClusterInstall", Name: meta.Name,
	}
	s.install = &hiveextv1.AgentClusterInstall{ObjectMeta: meta}
	s.install.Spec.ClusterDeploymentRef.Name = meta.Name
	s.install.Spec.ProvisionRequirements.ControlPlaneAgents = 1
	s.env = &agentv1.InfraEnv{ObjectMeta: meta}
	s.env.Spec.PullSecretRef = &corev1.LocalObjectReference{Name: meta.Name}
	s.env.Spec.ClusterRef = &agentv1.ClusterReference{Namespace: meta.Namespace, Name: meta.Name}
	s.env.Spec.CpuArchitecture = "x86_64"
	s.env.Spec.AgentApproval = &agentv1.AgentApproval{AutoApprove: true}
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: meta.Namespace}},
		&corev1.Secret{ObjectMeta: meta, Type: corev1.SecretTypeDockerConfigJson, Data: map[string][]byte{corev1.DockerConfigJsonKey: []byte(pullSecret)}},
		s.cluster, s.install, s.env,
	} {
		w.Expect(kube.Create(w.Context(), o)).To(Succeed())
	}
	return s
}

// poolOf is the infra-env as the hub has it.
func (w *world) poolOf(s *site) *pool {
	w.Helper()
	w.Eventually(func() (map[string]string, error) {
		err := s.Get(w.Context(), client.ObjectKeyFromObject(s.env), s.env)
		return s.env.Status.AgentLabelSelector.MatchLabels, err
	}, patience, look).ShouldNot(BeEmpty(), "the hub knows the InfraEnv")
	id := hubid.InfraEnv(s.env)
	token, err := w.hub.AgentToken(id)
	w.Expect(err).NotTo(HaveOccurred())
	return &pool{id: id, token: token}
}

// TestTheStoreIsLost, and there is no copy: what was installed comes back from the
// resources, and booting its live image once more does not install it again.
func TestTheStoreIsLost(t *testing.T) {
	t.Parallel()
	w := prepare(t, "--hub-ignition-source", "files") // the cluster has no release
	w.start(w.hub)
	w.connect(w.hub.URL, w.hub.CA)
	s := w.newSite()
	p, id := w.poolOf(s), hubid.Cluster(s.cluster)
	machine := w.boot(p)
	w.installs(p)
	w.finish(p, id)
	host := w.host(machine)
	agent := &agentv1.Agent{ObjectMeta: metav1.ObjectMeta{Namespace: s.env.Namespace, Name: host.ID}}
	shown := func() (string, error) {
		err := s.Get(w.Context(), client.ObjectKeyFromObject(agent), agent)
		return agent.Status.DebugInfo.State + ": " + agent.Status.DebugInfo.StateInfo, err
	}
	w.Eventually(shown, patience, look).Should(HavePrefix("installed: "))
	w.Eventually(func() (string, error) {
		err := s.Get(w.Context(), client.ObjectKeyFromObject(s.install), s.install)
		return s.install.Status.DebugInfo.State, err
	}, patience, look).Should(BeElementOf(over))

	w.hub.Kill()
	w.lose()
	<-time.After(time.Second) // an Agent's age is counted in seconds
	machine.reboot()          // it asks as soon as there is a hub, before that knows anything
	w.start(w.hub)
	w.Eventually(shown, patience, look).Should(And(HavePrefix("installed: "), ContainSubstring("store was lost")))
	w.until(p, wire.HostStatusInstalled)
	w.untilOver(p, id)
	w.Expect(w.host(machine).RequestedHostname).To(Equal(host.RequestedHostname), "its hardware and its name are known again")
	w.Expect(w.written(host.ID)).To(BeZero(), "who was faster does not matter")

	machine.reboot()
	w.Eventually(func() (told []string) {
		var events wire.EventList
		w.do(http.MethodGet, "/events?host_id="+host.ID, nil, &events)
		for _, e := range events {
			told = append(told, e.Message)
		}
		return told
	}, patience, look).Should(ContainElement(ContainSubstring("registration refused")))
	w.until(p, wire.HostStatusInstalled)
	w.Expect(w.written(host.ID)).To(BeZero())
}
