package cluster

import (
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// filesOf are the objects that the annotation names.
func filesOf(objects string) func(*hiveextv1.AgentClusterInstall) {
	return func(a *hiveextv1.AgentClusterInstall) {
		metav1.SetMetaDataAnnotation(&a.ObjectMeta, "ironflow.io/ignition-files", objects)
	}
}

func roleMap(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "roles"}, Data: data}
}

func roleSecret(data map[string]string) *corev1.Secret {
	out := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "access"}, Data: map[string][]byte{}}
	for name, text := range data {
		out.Data[name] = []byte(text)
	}
	return out
}

func motd(text string) string {
	return `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/motd","contents":{"source":"data:,` + text + `"}}]}}`
}

// TestRoleFilesOfObjectsAreHandedOut, filled in for the host, with the changes that were made before the
// installation, and the credentials of the Secret. What a change would be too late for is said. The store has
// none of it in plain text.
func TestRoleFilesOfObjectsAreHandedOut(t *testing.T) {
	cd := deployment()
	roles, access := roleMap(map[string]string{"master.ign": motd("first")}), roleSecret(map[string]string{"kubeconfig-noingress": "kind: Config\n", "kubeadmin-password": "a-b-c"})
	w := newWorld(t, cd, roles, access, install(filesOf("ConfigMap/roles, Secret/access")))
	w.Expect(condition(w.pass(), "SpecSynced").Status).To(Equal(corev1.ConditionTrue))
	roles.Data["master.ign"] = motd("second-@{host.name}-@{cluster.name}")
	w.Expect(w.kube.Update(t.Context(), roles)).To(Succeed())
	w.Expect(condition(w.pass(), "SpecSynced").Status).To(Equal(corev1.ConditionTrue))
	settled := w.pass()
	w.Expect(w.pass().ResourceVersion).To(Equal(settled.ResourceVersion), "a pass without news writes nothing")

	_, host := w.installing(cd)
	file, err := w.hub.HostIgnition(t.Context(), host)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(string(file.Content)).To(ContainSubstring("data:,second-node-1-prod"))
	w.Expect(w.hub.CredentialsFile(t.Context(), hubid.Cluster(cd), "kubeconfig-noingress")).To(BeEquivalentTo("kind: Config\n"))

	w.pass() // it names the credentials, and begins again
	roles.Data["master.ign"] = motd("third")
	w.Expect(w.kube.Update(t.Context(), roles)).To(Succeed())
	w.Expect(condition(w.pass(), "SpecSynced")).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "InputError"), HaveField("Message",
		And(ContainSubstring("is installing"), ContainSubstring("metadata.annotations{ironflow.io/ignition-files}")))))
	w.hub.Stop()
	w.Expect(w.stored(hubid.Cluster(cd))).To(And(Not(BeEmpty()), HaveEach(Not(Or(ContainSubstring("second"), ContainSubstring("Config"), ContainSubstring("master.ign"))))))
}

// TestRoleFilesWhoseObjectGoes: a cluster is not installed of what is not there any more, until its object is back. One
// that is installed already goes on with what it has, and says so.
func TestRoleFilesWhoseObjectGoes(t *testing.T) {
	cd, roles := deployment(), roleMap(map[string]string{"master.ign": motd("here")})
	w := newWorld(t, cd, roles, install(filesOf("ConfigMap/roles")))
	w.pass()
	remove := func() *hiveextv1.AgentClusterInstall {
		w.Expect(w.kube.Delete(t.Context(), roles)).To(Succeed())
		roles.ResourceVersion = ""
		return w.pass()
	}
	missing := And(HaveField("Status", corev1.ConditionFalse), HaveField("Message", ContainSubstring("ConfigMap site/roles of annotation ironflow.io/ignition-files to be created")))
	w.Expect(condition(remove(), "SpecSynced")).To(missing)
	agent, host := w.registered(cd, true)
	for range 30 {
		for _, step := range agent.Poll(t, host).Instructions {
			w.Expect(step.StepType).NotTo(Equal(wire.StepTypeInstall))
			agent.Answer(t, host, step, testhub.Inventory(1))
		}
		w.Expect(w.pass().Status.DebugInfo.State).NotTo(BeElementOf(wire.ClusterStatusPreparingForInstallation, wire.ClusterStatusInstalling))
	}
	w.Expect(w.kube.Create(t.Context(), roles)).To(Succeed())
	w.Expect(condition(w.pass(), "SpecSynced").Status).To(Equal(corev1.ConditionTrue))
	agent.UntilInstall(t, host, testhub.Inventory(1))

	w.Expect(condition(remove(), "SpecSynced")).To(missing)
	file, err := w.hub.HostIgnition(t.Context(), host)
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(string(file.Content)).To(ContainSubstring("data:,here"))
	w.Expect(w.pass().Status.DebugInfo.State).To(Equal(wire.ClusterStatusInstalling))
}

// stored are the texts that the store of a hub which has ended has of the cluster beside its record.
func (w *world) stored(id string) (all []string) {
	w.t.Helper()
	records, err := store.OpenSQLite(w.t.Context(), filepath.Join(w.hub.Dir, "hub.sqlite"))
	w.Expect(err).NotTo(HaveOccurred())
	w.t.Cleanup(func() { _ = records.Close() })
	w.Expect(records.View(w.t.Context(), func(r *store.Reader) error {
		names, err := r.ClusterFileNames(id, "")
		for _, name := range names {
			text, err := r.ClusterFile(id, name)
			w.Expect(err).NotTo(HaveOccurred())
			all = append(all, text)
		}
		return err
	})).To(Succeed())
	return all
}

// TestRoleFilesThatCannotBeHadAreSaid, with file and line, and nothing is installed of them.
func TestRoleFilesThatCannotBeHadAreSaid(t *testing.T) {
	good := roleMap(map[string]string{"worker.ign": "{}"})
	for name, tc := range map[string]struct {
		annotation string
		objects    []client.Object
		says       string
	}{
		"no kind":               {"roles", []client.Object{good}, `"roles": want ConfigMap/NAME or Secret/NAME of namespace site`},
		"another kind":          {"Pod/roles", []client.Object{good}, `"Pod/roles": want ConfigMap/NAME or Secret/NAME`},
		"another namespace":     {"ConfigMap/other/roles", []client.Object{good}, `"ConfigMap/other/roles": want`},
		"named twice":           {"ConfigMap/roles,ConfigMap/roles", []client.Object{good}, `names "ConfigMap/roles" twice`},
		"no such ConfigMap":     {"ConfigMap/roles", nil, "ConfigMap site/roles of annotation ironflow.io/ignition-files to be created"},
		"no such Secret":        {"Secret/access", nil, "Secret site/access of annotation ironflow.io/ignition-files to be created"},
		"nothing in it":         {"ConfigMap/roles", []client.Object{roleMap(nil)}, "ConfigMap site/roles of annotation ironflow.io/ignition-files holds no files"},
		"no file of the source": {"ConfigMap/roles", []client.Object{roleMap(map[string]string{"gpu.ign": "{}"})}, "ConfigMap site/roles: gpu.ign: the source files knows no such file"},
		"an unknown variable": {
			"ConfigMap/roles",
			[]client.Object{roleMap(map[string]string{"worker.ign": "{\n\"a\": \"@{host.nam}\"}"})},
			`ConfigMap site/roles: worker.ign:2:7: there is no variable "host.nam"`,
		},
		"no text": {
			"Secret/access",
			[]client.Object{roleSecret(map[string]string{"worker.ign": "\xff\xfe"})},
			"Secret site/access of annotation ironflow.io/ignition-files: worker.ign is no text in UTF-8",
		},
		"credentials for all to read": {
			"ConfigMap/roles",
			[]client.Object{roleMap(map[string]string{"kubeconfig-noingress": "kind: Config"})},
			"has kubeconfig-noingress, which opens the cluster: put it into a Secret",
		},
		"one file of two objects": {
			"ConfigMap/roles,Secret/access",
			[]client.Object{good, roleSecret(map[string]string{"worker.ign": "{}"})},
			"ConfigMap site/roles and Secret site/access both have a file worker.ign",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, append([]client.Object{deployment(), install(filesOf(tc.annotation))}, tc.objects...)...)
			w.Expect(condition(w.pass(), "SpecSynced")).To(And(
				HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "InputError"), HaveField("Message", ContainSubstring(tc.says))))
		})
	}
	t.Run("another source", func(t *testing.T) {
		w := newWorldOf(t, plainKubernetes, deployment(), good.DeepCopy(), install(filesOf("ConfigMap/roles"), func(a *hiveextv1.AgentClusterInstall) {
			a.Annotations["ironflow.io/ignition-source"] = "kubernetes"
		}))
		w.Expect(condition(w.pass(), "SpecSynced").Message).To(ContainSubstring("the files of ConfigMap site/roles are of the Ignition source files, and the cluster's is kubernetes"))
	})
}

// TestWhatARoleFileLacksForAHostIsSaid on the cluster, with file, line and host, before a disk is touched; a change
// of the object mends it.
func TestWhatARoleFileLacksForAHostIsSaid(t *testing.T) {
	cd, roles := deployment(), roleMap(map[string]string{"master.ign": "{\n\"ignition\": {\"version\": \"3.2.0\"}, \"storage\": {\"files\": [{\"path\": \"/etc/@{cluster.api_vip}\"}]}}"})
	w := newWorld(t, cd, roles, install(filesOf("ConfigMap/roles")))
	w.pass()
	agent, host := w.registered(cd, true)
	w.Eventually(func() string {
		for _, step := range agent.Poll(t, host).Instructions {
			w.Expect(step.StepType).NotTo(Equal(wire.StepTypeInstall))
			agent.Answer(t, host, step, testhub.Inventory(1))
		}
		return condition(w.pass(), "LastInstallationPreparationFailed").Message
	}, "60s", "10ms").Should(ContainSubstring("ConfigMap site/roles: master.ign:2:"))
	w.Expect(condition(w.pass(), "LastInstallationPreparationFailed").Message).To(ContainSubstring("variable cluster.api_vip has no value for host node-1"))
	w.Expect(w.r.installsOfConfigMap(t.Context(), roles)).To(HaveExactElements(HaveField("NamespacedName", key)), "its change is seen")
	roles.Data["master.ign"] = motd("mended")
	w.Expect(w.kube.Update(t.Context(), roles)).To(Succeed())
	w.pass()
	agent.UntilInstall(t, host, testhub.Inventory(1))
}
