package capi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
)

// What the provider writes on hosts and Secrets.
const (
	namespace      = "default"
	clusterLabel   = "cluster.x-k8s.io/cluster-name"
	nodeReuseLabel = "infrastructure.cluster.x-k8s.io/node-reuse"
	unhealthy      = "capi.metal3.io/unhealthy"
	pausedByCAPM3  = "metal3.io/capm3"
	workload       = "workload"
)

var machineKind = schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1", Kind: "Metal3Machine"}

// machineCRD is as much of the provider's kind as owner references need: what has an owner that is
// not there is collected.
func machineCRD() *apiextensionsv1.CustomResourceDefinition {
	open, crd := true, &apiextensionsv1.CustomResourceDefinition{}
	crd.Name = "metal3machines." + machineKind.Group
	crd.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: machineKind.Group, Scope: apiextensionsv1.NamespaceScoped,
		Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "metal3machines", Singular: "metal3machine", Kind: machineKind.Kind, ListKind: machineKind.Kind + "List"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: machineKind.Version, Served: true, Storage: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &open}},
		}},
	}
	return crd
}

// site is a cluster in which hosts are.
type site struct {
	kube client.Client
	// patience bounds each wait.
	patience time.Duration
}

func (s *site) host(t *testing.T, name string) *metal3.BareMetalHost {
	t.Helper()
	h := &metal3.BareMetalHost{}
	NewWithT(t).Expect(s.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, h)).To(Succeed())
	return h
}

// until waits for a state of the host.
func (s *site) until(t *testing.T, name, what string, ok func(*metal3.BareMetalHost) bool) {
	t.Helper()
	begin := time.Now()
	NewWithT(t).Eventually(func() error {
		h := s.host(t, name)
		if ok(h) {
			return nil
		}
		return fmt.Errorf("state %q, on %v, error %q, conditions %v", h.Status.Provisioning.State, h.Status.PoweredOn, h.Status.ErrorMessage, h.Status.Conditions)
	}, s.patience, 100*time.Millisecond).Should(Succeed(), name+": "+what)
	t.Logf("%s: %s after %s", name, what, time.Since(begin).Round(100*time.Millisecond))
}

// patch sends the difference, as the provider does: a merge patch without a lock.
func (s *site) patch(t *testing.T, name string, edit func(*metal3.BareMetalHost)) {
	t.Helper()
	h := s.host(t, name)
	before := h.DeepCopy()
	edit(h)
	NewWithT(t).Expect(s.kube.Patch(t.Context(), h, client.MergeFrom(before))).To(Succeed())
}

// machine is a Metal3Machine of a deployment of machines, and what it asks of its host.
type machine struct {
	*site

	name, deployment string
	host             string // the one that it has
	image            metal3.Image
	cleaning         metal3.AutomatedCleaningMode
	nodeReuse        bool
	owner            metav1.OwnerReference
}

// newMachine makes the object, and the Secrets that its bootstrap provider and its data template make.
func (s *site) newMachine(t *testing.T, name string, image metal3.Image, change ...func(*machine)) *machine {
	t.Helper()
	g := NewWithT(t)
	m := &machine{site: s, name: name, deployment: "md-0", image: image, cleaning: metal3.CleaningModeMetadata}
	for _, c := range change {
		c(m)
	}
	m.object(t)
	for suffix, data := range map[string]map[string]string{
		"":             {"value": "#cloud-config\nhostname: " + name + "\n", "format": "cloud-config"},
		"-metadata":    {"metaData": "local-hostname: " + name + "\nproviderid: x\n"},
		"-networkdata": {"networkData": `{"links":[],"networks":[],"services":[]}`},
	} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name + suffix}, StringData: data}
		g.Expect(s.kube.Create(t.Context(), secret)).To(Succeed())
	}
	return m
}

// object makes the Metal3Machine.
func (m *machine) object(t *testing.T) {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(machineKind)
	o.SetNamespace(namespace)
	o.SetName(m.name)
	NewWithT(t).Eventually(func() error { return m.kube.Create(t.Context(), o) }, m.patience).Should(Succeed(), "its definition may be new")
	controls := true
	m.owner = metav1.OwnerReference{APIVersion: machineKind.GroupVersion().String(), Kind: machineKind.Kind, Name: m.name, UID: o.GetUID(), Controller: &controls}
}

// choose picks a host as the provider does; an empty name where none can be had.
func (m *machine) choose(t *testing.T) string {
	t.Helper()
	var list metal3.BareMetalHostList
	NewWithT(t).Expect(m.kube.List(t.Context(), &list, client.InNamespace(namespace))).To(Succeed())
	var kept, free []string
	for i := range list.Items {
		h := &list.Items[i]
		_, paused := h.Annotations[names.Paused]
		_, ill := h.Annotations[unhealthy]
		reuse, marked := h.Labels[nodeReuseLabel]
		switch {
		case h.Spec.ConsumerRef != nil, !h.DeletionTimestamp.IsZero(), h.Status.ErrorMessage != "", paused, ill:
		case h.Status.Provisioning.State != metal3.StateAvailable:
		case marked && reuse == m.deployment:
			kept = append(kept, h.Name)
		case !marked:
			free = append(free, h.Name)
		}
	}
	if all := slices.Concat(kept, free); len(all) > 0 {
		return all[0]
	}
	return ""
}

// associate makes the host the machine's: label, consumerRef and owner, and the label of its BMC's Secret.
func (m *machine) associate(t *testing.T) {
	t.Helper()
	m.host = m.choose(t)
	NewWithT(t).Expect(m.host).NotTo(BeEmpty(), "a host can be had")
	m.labelSecret(t, workload)
	m.patch(t, m.host, func(h *metal3.BareMetalHost) {
		metav1.SetMetaDataLabel(&h.ObjectMeta, clusterLabel, workload)
		m.take(h)
	})
}

// take makes the host the machine's, also again after a move.
func (m *machine) take(h *metal3.BareMetalHost) {
	h.Spec.ConsumerRef = &corev1.ObjectReference{Kind: machineKind.Kind, APIVersion: machineKind.GroupVersion().String(), Namespace: namespace, Name: m.name}
	h.OwnerReferences = append(slices.DeleteFunc(h.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == machineKind.Kind }), m.owner)
	delete(h.Labels, nodeReuseLabel)
}

func (m *machine) labelSecret(t *testing.T, cluster string) {
	t.Helper()
	g := NewWithT(t)
	secret := &corev1.Secret{}
	g.Eventually(func() error {
		if err := m.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: m.site.host(t, m.host).Spec.BMC.CredentialsName}, secret); err != nil {
			return err
		}
		delete(secret.Labels, clusterLabel)
		if cluster != "" {
			metav1.SetMetaDataLabel(&secret.ObjectMeta, clusterLabel, cluster)
		}
		return m.kube.Update(t.Context(), secret)
	}).Should(Succeed())
}

// provision is the update once the data of the template is rendered.
func (m *machine) provision(t *testing.T) {
	t.Helper()
	m.patch(t, m.host, func(h *metal3.BareMetalHost) {
		m.take(h)
		if h.Spec.Image == nil {
			image := m.image
			h.Spec.Image = &image
			h.Spec.UserData = &corev1.SecretReference{Namespace: namespace, Name: m.name}
			h.Spec.MetaData = &corev1.SecretReference{Namespace: namespace, Name: m.name + "-metadata"}
			h.Spec.NetworkData = &corev1.SecretReference{Namespace: namespace, Name: m.name + "-networkdata"}
		}
		h.Spec.AutomatedCleaningMode, h.Spec.Online = m.cleaning, true
	})
}

// remediate switches the machine off for as long as its node is taken out of the cluster, and on again.
func (m *machine) remediate(t *testing.T) {
	t.Helper()
	key := names.Reboot + "/metal3-remediation-" + string(m.owner.UID)
	m.patch(t, m.host, func(h *metal3.BareMetalHost) { metav1.SetMetaDataAnnotation(&h.ObjectMeta, key, `{"mode":"hard"}`) })
	m.until(t, m.host, "off for the repair", func(h *metal3.BareMetalHost) bool { return !h.Status.PoweredOn })
	NewWithT(t).Expect(m.site.host(t, m.host).Annotations).To(HaveKey(key), "only the provider takes it away")
	m.patch(t, m.host, func(h *metal3.BareMetalHost) { delete(h.Annotations, key) })
	m.until(t, m.host, "on again", func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
}

// release gives the host back: first what runs on it, and once that is gone, the host.
func (m *machine) release(t *testing.T) {
	t.Helper()
	m.labelSecret(t, "")
	m.patch(t, m.host, func(h *metal3.BareMetalHost) {
		h.Spec.Image, h.Spec.UserData, h.Spec.MetaData, h.Spec.NetworkData, h.Spec.Online = nil, nil, nil, nil, false
	})
	m.until(t, m.host, "deprovisioned", func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == metal3.StateAvailable })
	m.patch(t, m.host, func(h *metal3.BareMetalHost) {
		if m.nodeReuse {
			metav1.SetMetaDataLabel(&h.ObjectMeta, nodeReuseLabel, m.deployment)
		}
		h.Spec.ConsumerRef = nil
		h.OwnerReferences = slices.DeleteFunc(h.OwnerReferences, func(o metav1.OwnerReference) bool { return o.Kind == machineKind.Kind })
		delete(h.Labels, clusterLabel)
	})
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(machineKind)
	o.SetNamespace(namespace)
	o.SetName(m.name)
	NewWithT(t).Expect(m.kube.Delete(t.Context(), o)).To(Succeed())
}

// pause stops the host's controller and lays its status down, which goes with the host.
func (m *machine) pause(t *testing.T) {
	t.Helper()
	g := NewWithT(t)
	m.patch(t, m.host, func(h *metal3.BareMetalHost) {
		raw, err := json.Marshal(h.Status)
		g.Expect(err).NotTo(HaveOccurred())
		status := map[string]any{}
		g.Expect(json.Unmarshal(raw, &status)).To(Succeed())
		delete(status, "hardware")
		raw, err = json.Marshal(status)
		g.Expect(err).NotTo(HaveOccurred())
		metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Paused, pausedByCAPM3)
		metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Status, string(raw))
	})
}

// unpause lets the host's controller go on.
func (m *machine) unpause(t *testing.T) {
	t.Helper()
	m.patch(t, m.host, func(h *metal3.BareMetalHost) {
		m.take(h)
		delete(h.Annotations, names.Paused)
	})
}

func provisioned(h *metal3.BareMetalHost) bool {
	return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.PoweredOn && h.Status.ErrorMessage == ""
}

func available(h *metal3.BareMetalHost) bool {
	return h.Status.Provisioning.State == metal3.StateAvailable && h.Status.ErrorMessage == ""
}
