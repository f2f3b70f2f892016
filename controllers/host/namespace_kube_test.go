package host_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// imageShelf is a store of live images that remembers which addresses are served. Each
// content has an address of its own.
type imageShelf struct {
	mu     sync.Mutex
	served map[string]string // key → address
	urls   []string
}

// Keys implements image.Store.
func (s *imageShelf) Keys() []string { return nil }

// MarkSynced implements image.Store.
func (s *imageShelf) MarkSynced() {}

// Put implements image.Store.
func (s *imageShelf) Put(_ context.Context, spec images.Spec) (images.Built, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content := fmt.Sprint(spec)
	if !slices.Contains(s.urls, content) {
		s.urls = append(s.urls, content)
	}
	url := fmt.Sprintf("http://images.test/%d.iso", slices.Index(s.urls, content))
	s.served[spec.Key] = url
	return images.Built{URL: url}, nil
}

// Remove implements image.Store.
func (s *imageShelf) Remove(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.served, key)
	return nil
}

// address is what is served for a host; empty for nothing.
func (s *imageShelf) address(key string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.served[key]
}

// TestAMachineIsCleanedBeforeItsImageGoes has hosts whose objects somebody deletes in an order of
// his own: with their namespace, and with their dependents first. The controllers of hosts and
// of images run as they are shipped, on an API server that deletes namespaces and collects
// garbage. Each machine is cleaned, by a live image that is served while it is.
func TestAMachineIsCleanedBeforeItsImageGoes(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{Controllers: true})
	_, err := envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{Paths: []string{"../../config/crd/metal3", "../../config/crd/agent-install"}})
	g.Expect(err).NotTo(HaveOccurred())
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, metal3.AddToScheme, agentv1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	sim := simulator.New(simulator.Options{
		AutomatedClean: true, Heartbeat: time.Second,
		Delays:       simulator.Delays{Verify: 200 * time.Millisecond, Inspect: time.Second, Clean: 5 * time.Second, Deploy: time.Second, Power: 200 * time.Millisecond},
		RamdiskSteps: []simulator.Step{{Interface: "deploy", Step: names.StartAssistedInstall}, {Interface: "deploy", Step: names.ConfirmInstall, Priority: 79}},
	})
	t.Cleanup(sim.Close)
	gateway, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: sim.Transport()})
	g.Expect(err).NotTo(HaveOccurred())
	shelf := &imageShelf{served: map[string]string{}}
	settings := policy.Settings{Settings: nodespec.Settings{BuildImages: true, Architecture: "x86_64"}}
	startManager(t, plane, scheme, gateway, settings, t.Name(), func(mgr ctrl.Manager) error {
		return image.Setup(mgr, image.Options{
			Store: shelf, Architectures: func() []string { return []string{"x86_64"} },
			IPA: func(string) (ignition.IPA, error) {
				return ignition.IPA{APIURLs: []string{"https://ironic.test:6385"}, Command: []string{"/usr/local/bin/ironic-python-agent"}}, nil
			},
		})
	})
	kube, err := client.New(plane.Config(), client.Options{Scheme: scheme})
	g.Expect(err).NotTo(HaveOccurred())

	deletions := map[string]func(g Gomega, h *metal3.BareMetalHost){
		"namespace": func(g Gomega, h *metal3.BareMetalHost) {
			g.Expect(kube.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: h.Namespace}})).To(Succeed())
		},
		"dependents": func(g Gomega, h *metal3.BareMetalHost) {
			g.Expect(kube.Delete(t.Context(), h, client.PropagationPolicy(metav1.DeletePropagationForeground))).To(Succeed())
		},
		"image": func(g Gomega, h *metal3.BareMetalHost) {
			g.Expect(kube.Delete(t.Context(), &metal3.PreprovisioningImage{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: h.Name}})).To(Succeed())
			g.Expect(kube.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: "net"}})).To(Succeed())
			g.Eventually(func(g Gomega) { // it is seen before its host goes
				i := &metal3.PreprovisioningImage{}
				g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(h), i)).To(Succeed())
				g.Expect(i.DeletionTimestamp).NotTo(BeNil())
			}).Should(Succeed())
			g.Expect(kube.Delete(t.Context(), h)).To(Succeed())
		},
	}
	deletions["image-from-before"] = func(g Gomega, h *metal3.BareMetalHost) {
		i := &metal3.PreprovisioningImage{}
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(h), i)).To(Succeed())
		before := i.DeepCopy()
		i.Finalizers = []string{names.ImageFinalizer} // as baremetal-operator leaves it
		g.Expect(kube.Patch(t.Context(), i, client.MergeFrom(before))).To(Succeed())
		deletions["image"](g, h)
	}
	for name, remove := range deletions {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			key := client.ObjectKey{Namespace: "of-" + name, Name: "host"}
			installed := installHost(t, kube, key)
			// The image is built anew while the machine runs: what the node names is old.
			before := shelf.address(key.String())
			renewNetwork(t, kube, key.Namespace)
			g.Eventually(func() bool { return imageReady(t, kube, key) && shelf.address(key.String()) != before }, kubePatience, 50*time.Millisecond).Should(BeTrue())
			present := shelf.address(key.String())

			remove(g, installed)
			node, cleaned := "", map[string]bool{}
			g.Eventually(func() bool {
				n, there := sim.Node(key.Namespace + names.NodeNameSeparator + key.Name)
				if there && strings.HasPrefix(n.ProvisionState, "clean") {
					info, _ := n.Fields["driver_info"].(map[string]any)
					named, _ := info["deploy_iso"].(string)
					cleaned[named] = true
					g.Expect(shelf.address(key.String())).To(Equal(present), "it is served while the machine is cleaned")
				}
				node = n.UUID
				return !there
			}, kubePatience, 10*time.Millisecond).Should(BeTrue(), "node %s goes", node)
			g.Expect(cleaned).To(Equal(map[string]bool{present: true}), "by which image the machine was cleaned")
			g.Eventually(func() bool {
				gone := func(o client.Object) bool { return apierrors.IsNotFound(kube.Get(t.Context(), key, o)) }
				return gone(&metal3.BareMetalHost{}) && gone(&metal3.PreprovisioningImage{}) && gone(&metal3.HardwareData{})
			}, kubePatience, 50*time.Millisecond).Should(BeTrue(), "nothing of the host stays")
			g.Eventually(func() string { return shelf.address(key.String()) }, kubePatience, 50*time.Millisecond).Should(BeEmpty())
			if name == "namespace" {
				g.Eventually(func() bool {
					return apierrors.IsNotFound(kube.Get(t.Context(), client.ObjectKey{Name: key.Namespace}, &corev1.Namespace{}))
				}, kubePatience, 50*time.Millisecond).Should(BeTrue(), "nor of its namespace")
			}
		})
	}
}

// installHost makes a namespace with a host that has network data of its own, and brings it to
// provisioned.
func installHost(t *testing.T, kube client.Client, key client.ObjectKey) *metal3.BareMetalHost {
	t.Helper()
	g := NewWithT(t)
	g.Expect(kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: key.Namespace}})).To(Succeed())
	for name, data := range map[string]map[string]string{
		"bmc": {"username": "admin", "password": "hunter2hunter2"},
		"net": {"eth0.nmconnection": "[connection]\nid=eth0\ntype=ethernet\n"},
	} {
		g.Expect(kube.Create(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: name}, StringData: data})).To(Succeed())
	}
	h := &metal3.BareMetalHost{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name},
		Spec: metal3.BareMetalHostSpec{
			Online: true, BootMACAddress: fmt.Sprintf("52:54:00:00:01:%02x", len(key.Namespace)), PreprovisioningNetworkDataName: "net",
			BMC:          metal3.BMCDetails{Address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/" + key.Namespace, CredentialsName: "bmc"},
			CustomDeploy: &metal3.CustomDeploy{Method: names.StartAssistedInstall},
		},
	}
	g.Expect(kube.Create(t.Context(), h)).To(Succeed())
	g.Eventually(func() metal3.ProvisioningState {
		g.Expect(kube.Get(t.Context(), key, h)).To(Succeed())
		return h.Status.Provisioning.State
	}, kubePatience, 50*time.Millisecond).Should(Equal(metal3.StateProvisioned))
	return h
}

// renewNetwork gives the hosts of a namespace other network data.
func renewNetwork(t *testing.T, kube client.Client, namespace string) {
	t.Helper()
	g := NewWithT(t)
	secret := &corev1.Secret{}
	g.Expect(kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "net"}, secret)).To(Succeed())
	before := secret.DeepCopy()
	secret.Data = map[string][]byte{"eth1.nmconnection": []byte("[connection]\nid=eth1\ntype=ethernet\n")}
	g.Expect(kube.Patch(t.Context(), secret, client.MergeFrom(before))).To(Succeed())
}

// imageReady reports whether a host's live image can be downloaded.
func imageReady(t *testing.T, kube client.Client, key client.ObjectKey) bool {
	t.Helper()
	i := &metal3.PreprovisioningImage{}
	NewWithT(t).Expect(kube.Get(t.Context(), key, i)).To(Succeed())
	return i.Status.ImageUrl != "" && meta.IsStatusConditionTrue(i.Status.Conditions, string(metal3.ConditionImageReady))
}
