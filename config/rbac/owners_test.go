// Package rbac_test holds the roles of this folder, and of the features beside it, against what
// the program does on a real API server.
package rbac_test

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// site is an API server with the default roles in force.
type site struct {
	*WithT
	t      *testing.T
	plane  *lab.ControlPlane
	scheme *runtime.Scheme
	admin  client.Client
	// ours has the rights of the program.
	ours client.Client
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{WithT: NewWithT(t), t: t, plane: labtest.ControlPlane(t, lab.ControlPlaneOptions{}), scheme: runtime.NewScheme()}
	_, err := envtest.InstallCRDs(s.plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../crd/metal3", "../crd/ironflow"}})
	s.Expect(err).NotTo(HaveOccurred())
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, metal3.AddToScheme, v1alpha1.AddToScheme} {
		s.Expect(add(s.scheme)).To(Succeed())
	}
	s.admin, err = client.New(s.plane.Config(), client.Options{Scheme: s.scheme})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(s.admin.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ironflow-system"}})).To(Succeed())
	s.apply("role.yaml", "role_binding.yaml")
	s.ours = s.as("system:serviceaccount:ironflow-system:ironflow-controllers")
	return s
}

// apply makes what files hold.
func (s *site) apply(files ...string) {
	s.t.Helper()
	for _, name := range files {
		raw, err := os.ReadFile(name)
		s.Expect(err).NotTo(HaveOccurred())
		for part := range bytes.SplitSeq(bytes.TrimPrefix(raw, []byte("---\n")), []byte("\n---\n")) {
			o := &unstructured.Unstructured{}
			s.Expect(yaml.Unmarshal(part, &o.Object)).To(Succeed())
			s.Expect(s.admin.Create(s.t.Context(), o)).To(Succeed())
		}
	}
}

// as is the access of a user.
func (s *site) as(user string) client.Client {
	s.t.Helper()
	access, err := s.plane.ConfigFor(user, "system:authenticated")
	s.Expect(err).NotTo(HaveOccurred())
	c, err := client.New(access, client.Options{Scheme: s.scheme})
	s.Expect(err).NotTo(HaveOccurred())
	return c
}

// meta is the name of the one host, and of all that belongs to it.
var meta = metav1.ObjectMeta{Namespace: "default", Name: "a"}

// TestWhoMayBecomeAnOwner: owners of an object are changed only by who may delete it, where the
// API server has the admission plugin OwnerReferencesPermissionEnforcement. The program makes
// hosts, and live images, the owners of these kinds, which users make by hand.
func TestWhoMayBecomeAnOwner(t *testing.T) {
	s := newSite(t)
	host := &metal3.BareMetalHost{ObjectMeta: meta}
	s.Expect(s.admin.Create(t.Context(), host)).To(Succeed())
	image := &metal3.PreprovisioningImage{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "owner"}}
	s.Expect(s.admin.Create(t.Context(), image)).To(Succeed())
	cases := map[string]struct {
		object     client.Object
		owner      client.Object
		controller bool
	}{
		"Secret of the BMC":                   {object: &corev1.Secret{ObjectMeta: meta}, owner: host},
		"Secret with network data":            {object: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "net"}}, owner: image},
		"HostUpdatePolicy":                    {object: &metal3.HostUpdatePolicy{ObjectMeta: meta}, owner: host},
		"HostFirmwareSettings made by hand":   {object: &metal3.HostFirmwareSettings{ObjectMeta: meta, Spec: metal3.HostFirmwareSettingsSpec{Settings: metal3.DesiredSettingsMap{}}}, owner: host},
		"HostFirmwareComponents made by hand": {object: &metal3.HostFirmwareComponents{ObjectMeta: meta, Spec: metal3.HostFirmwareComponentsSpec{Updates: []metal3.FirmwareUpdate{}}}, owner: host},
		"DataImage":                           {object: &metal3.DataImage{ObjectMeta: meta, Spec: metal3.DataImageSpec{URL: "http://images.test/a.iso"}}, owner: host},
		"HardwareData made by hand":           {object: &metal3.HardwareData{ObjectMeta: meta}, owner: host, controller: true},
		"PreprovisioningImage that is there":  {object: &metal3.PreprovisioningImage{ObjectMeta: meta}, owner: host, controller: true},
		"BMC whose host is of the same name":  {object: &v1alpha1.BMC{ObjectMeta: meta}, owner: host, controller: true},
	}
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		t.Run(name, func(t *testing.T) {
			g, c := NewWithT(t), cases[name]
			g.Expect(s.admin.Create(t.Context(), c.object)).To(Succeed())
			before, _ := c.object.DeepCopyObject().(client.Object)
			own := func() error { return controllerutil.SetOwnerReference(c.owner, c.object, s.scheme) }
			if c.controller {
				own = func() error { return controllerutil.SetControllerReference(c.owner, c.object, s.scheme) }
			}
			g.Expect(own()).To(Succeed())
			g.Expect(s.ours.Patch(t.Context(), c.object, client.MergeFrom(before))).To(Succeed())
		})
	}
}

// TestSecretsAreCreatedByFeature: by default the program creates no Secret, and has no right to.
func TestSecretsAreCreatedByFeature(t *testing.T) {
	s := newSite(t)
	create := func(name string) error {
		return s.ours.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
	}
	s.Expect(apierrors.IsForbidden(create("before"))).To(BeTrue())
	for _, feature := range []string{"hostclaims", "bmc-rotation", "cluster-credentials"} {
		s.apply("../" + feature + "/role.yaml")
		s.Eventually(func() error { return create(feature) }).Should(Succeed()) // roles reach the authorizer by a watch
		s.Expect(s.admin.Delete(t.Context(), &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "ironflow-" + feature}})).To(Succeed())
		s.Eventually(func() bool { return apierrors.IsForbidden(create(feature)) }).Should(BeTrue(), "and without it, no more")
	}
}

// TestOthersWriteTheSecretsOfHosts has an operator that keeps the content of Secrets, such as one
// that syncs a vault, with no rights but on Secrets. That a host owns a Secret takes nothing from it: it
// changes the content, and makes the Secret anew with the owners that it had. What needs the
// right to delete, there too, is to drop the owners of somebody else.
func TestOthersWriteTheSecretsOfHosts(t *testing.T) {
	s := newSite(t)
	host := &metal3.BareMetalHost{ObjectMeta: meta}
	s.Expect(s.admin.Create(t.Context(), host)).To(Succeed())
	secret := &corev1.Secret{ObjectMeta: meta}
	s.Expect(s.admin.Create(t.Context(), secret)).To(Succeed())
	before := secret.DeepCopy()
	s.Expect(controllerutil.SetOwnerReference(host, secret, s.scheme)).To(Succeed())
	s.Expect(s.ours.Patch(t.Context(), secret, client.MergeFrom(before))).To(Succeed())
	s.Expect(secret.OwnerReferences[0].BlockOwnerDeletion).To(BeNil(), "which would need rights on hosts")
	s.Expect(s.admin.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "vault"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "create", "update", "patch"}}},
	})).To(Succeed())
	s.Expect(s.admin.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "vault"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "vault"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "vault"}},
	})).To(Succeed())
	vault := s.as("vault")
	s.Eventually(func() error { return vault.Get(t.Context(), client.ObjectKeyFromObject(secret), secret) }).Should(Succeed())
	secret.Data = map[string][]byte{"password": []byte("second")}
	s.Expect(vault.Update(t.Context(), secret)).To(Succeed(), "the content")
	anew := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "anew", OwnerReferences: secret.OwnerReferences}}
	s.Expect(vault.Create(t.Context(), anew)).To(Succeed(), "made anew with the same owners")
	secret.OwnerReferences = nil
	s.Expect(apierrors.IsForbidden(vault.Update(t.Context(), secret))).To(BeTrue(), "the owners of somebody else")
}
