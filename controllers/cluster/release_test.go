package cluster

import (
	"context"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	hiveextv1 "github.com/ironflow/ironflow/api/hiveext/v1beta1"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/releases/registry"
	"github.com/ironflow/ironflow/test/hub/realregistry"
)

// closed is a registry that nobody reaches.
type closed struct{}

func (closed) Release(context.Context, string, string) (registry.Release, error) {
	return registry.Release{}, errors.New("no route to host")
}

// read passes until no release is being read any more.
func (w *world) read() *hiveextv1.AgentClusterInstall {
	w.t.Helper()
	aci := w.pass()
	for strings.Contains(condition(aci, "SpecSynced").Message, beingRead) {
		<-w.r.releases.Finished()
		aci = w.pass()
	}
	return aci
}

const beingRead = "to be read from its registry"

// slow is a registry that does not answer.
type slow struct{}

func (slow) Release(ctx context.Context, _, _ string) (registry.Release, error) {
	<-ctx.Done()
	return registry.Release{}, context.Cause(ctx)
}

// TestNoPassWaitsForARegistry.
func TestNoPassWaitsForARegistry(t *testing.T) {
	set := &hivev1.ClusterImageSet{ObjectMeta: metav1.ObjectMeta{Name: "v4"}}
	set.Spec.ReleaseImage = "quay.example/release@sha256:aa"
	w := newWorld(t, deployment(), set, install(func(a *hiveextv1.AgentClusterInstall) {
		a.Spec.ImageSetRef = &hiveextv1.ClusterImageSetReference{Name: "v4"}
	}))
	w.r.releases = &lookup.Finder{Reader: slow{}, Mode: lookup.Needed, Context: t.Context()}
	for range 2 {
		w.Expect(condition(w.pass(), "SpecSynced")).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Message", ContainSubstring(beingRead))))
	}
}

// TestAReleaseIsReadFromItsRegistry: an image set names it by digest, in a registry that is reached by a mirror and a
// pull secret, and the hub's list does not have it. What the registry refused is said on the cluster.
func TestAReleaseIsReadFromItsRegistry(t *testing.T) {
	debian := realregistry.Start(t)
	_, digest, _ := strings.Cut(debian.Push(t, "mirror/release", realregistry.Release(t)), "@")
	image := "quay.example.invalid/ocp/release@" + digest
	mirrors, err := registry.ParseMirrors(debian.Mirrors("quay.example.invalid/ocp", "mirror"))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())

	cd := deployment(func(cd *hivev1.ClusterDeployment) { cd.Spec.PullSecretRef = &corev1.LocalObjectReference{Name: "pull"} })
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: "pull"}, Data: map[string][]byte{".dockerconfigjson": []byte(debian.PullSecret("wrong-password"))}}
	set := &hivev1.ClusterImageSet{ObjectMeta: metav1.ObjectMeta{Name: "v4"}}
	set.Spec.ReleaseImage = image
	w := newWorld(t, cd, secret, set, install(func(a *hiveextv1.AgentClusterInstall) {
		a.Spec.ImageSetRef, a.Spec.HoldInstallation = &hiveextv1.ClusterImageSetReference{Name: "v4"}, true
	}))
	w.r.releases = &lookup.Finder{Reader: &registry.Reader{Mirrors: mirrors, CA: debian.CA}, Mode: lookup.Needed}

	aci := w.read()
	w.Expect(condition(aci, "SpecSynced")).To(And(HaveField("Status", corev1.ConditionFalse), HaveField("Reason", "InputError"), HaveField("Message", And(
		ContainSubstring(debian.Host+"/mirror/release"), ContainSubstring("401 Unauthorized"), ContainSubstring("with the login of the pull secret"),
		ContainSubstring("ClusterImageSet v4"), Not(ContainSubstring("wrong-password"))))))
	w.Expect(kstatus(w, &aci.Status)).To(Equal("InProgress"), "it is tried again by itself")
	_, err = w.hub.Cluster(t.Context(), hubid.Cluster(cd), false)
	w.Expect(err).To(HaveOccurred(), "nothing is made of a release that nobody knows")

	secret.Data[".dockerconfigjson"] = []byte(debian.PullSecret(realregistry.Password))
	w.Expect(w.kube.Update(t.Context(), secret)).To(Succeed())
	w.Expect(condition(w.read(), "SpecSynced").Status).To(Equal(corev1.ConditionTrue))
	record := func() any {
		c, err := w.hub.Cluster(t.Context(), hubid.Cluster(cd), false)
		w.Expect(err).NotTo(HaveOccurred())
		return c
	}
	w.Expect(record()).To(And(HaveField("OpenshiftVersion", "4.20.1"), HaveField("OcpReleaseImage", image)))

	w.r.releases = &lookup.Finder{Reader: closed{}, Mode: lookup.Always} // another replica, and the registry is gone
	w.Expect(condition(w.pass(), "SpecSynced").Status).To(Equal(corev1.ConditionTrue), "what was found out is known")
	w.Expect(record()).To(HaveField("OpenshiftVersion", "4.20.1"))

	w.Expect(w.kube.Get(t.Context(), types.NamespacedName{Name: "v4"}, set)).To(Succeed())
	set.Spec.ReleaseImage = "quay.example.invalid/ocp/other@" + digest
	w.Expect(w.kube.Update(t.Context(), set)).To(Succeed())
	w.Expect(condition(w.read(), "SpecSynced").Message).To(ContainSubstring("no route to host"), "another image is another release")
}
