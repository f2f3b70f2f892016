package migrate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/config"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/migrate"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/handover"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// site is a fleet of baremetal-operator in an API and a simulated Ironic.
type site struct {
	*WithT
	t    *testing.T
	kube client.WithWatch
	sim  *simulator.Server
}

func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	os.Exit(m.Run())
}

func newScheme(g *WithT) *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, metal3.AddToScheme, agentv1.AddToScheme} {
		g.Expect(add(scheme)).To(Succeed())
	}
	return scheme
}

// newSite loads the hosts of these situations into a fake API.
func newSite(t *testing.T, situations ...string) *site {
	t.Helper()
	g := NewWithT(t)
	s := &site{WithT: g, t: t, sim: simulator.New(simulator.Options{})}
	t.Cleanup(s.sim.Close)
	s.kube = fake.NewClientBuilder().WithScheme(newScheme(g)).WithStatusSubresource(
		&metal3.BareMetalHost{}, &metal3.PreprovisioningImage{}, &metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{},
		&metal3.DataImage{}, &metal3.BMCEventSubscription{},
	).Build()
	crds, err := config.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	for _, crd := range crds {
		g.Expect(s.kube.Create(t.Context(), crd)).To(Succeed())
	}
	g.Expect(handover.Load(t.Context(), s.kube, s.sim, situations...)).To(Succeed())
	return s
}

// check runs the check as the program does, with images built per host.
func (s *site) check() *migrate.Report {
	s.t.Helper()
	report, err := migrate.Check(s.t.Context(), migrate.Options{
		Client: s.kube, Ironic: ironic.Config{URL: "http://ironic.test", Transport: s.sim.Transport()}, Settings: policy.Settings{Settings: nodespec.Settings{BuildImages: true}},
	})
	s.Expect(err).NotTo(HaveOccurred())
	return report
}

// about lists the findings of a check as "severity object: text".
func about(r *migrate.Report, check string) []string {
	list := []string{}
	for _, f := range r.Findings {
		if f.Check == check {
			list = append(list, string(f.Severity)+" "+f.Object+": "+f.Text)
		}
	}
	return list
}

// hostOf is the row of a host.
func hostOf(r *migrate.Report, name string) migrate.Host {
	i := slices.IndexFunc(r.Hosts, func(h migrate.Host) bool { return h.Name == name })
	if i < 0 {
		return migrate.Host{}
	}
	return r.Hosts[i]
}

// edit changes a stored object.
func edit[T client.Object](s *site, obj T, change func(T)) {
	s.t.Helper()
	s.Expect(s.kube.Get(s.t.Context(), client.ObjectKeyFromObject(obj), obj)).To(Succeed())
	change(obj)
	s.Expect(s.kube.Update(s.t.Context(), obj)).To(Succeed())
}

func bmh(name string) *metal3.BareMetalHost {
	return &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: handover.Namespace, Name: name}}
}

// TestAFleetOfEveryStateIsReady takes hosts in every situation in which the
// baremetal-operator may have left them.
func TestAFleetOfEveryStateIsReady(t *testing.T) {
	s := newSite(t)
	r := s.check()
	s.Expect(about(r, "rehearsal")).To(ConsistOf(
		`note fleet/none: the host would go on to state "unmanaged"`, `note fleet/match-profile: the host would go on to state "available"`,
	))
	s.Expect(r.Verdict).To(Equal("ready"), "%v", r.Findings)
	s.Expect(r.ExitCode()).To(Equal(migrate.ExitReady))
	s.Expect(r.Hosts).To(HaveLen(len(handover.Names())))
	s.Expect(hostOf(r, "provisioned")).To(And(HaveField("FoundBy", "id"), HaveField("NodeState", "active")))
	s.Expect(r.States).To(HaveKeyWithValue("externally provisioned", 1))
	for pattern := range s.sim.Counts() {
		s.Expect(pattern).To(HavePrefix("GET "), "the check reads only")
	}
}

// TestNewLiveImagesTouchNothing takes the same fleet once the image controller has
// built images of its own: a node gets the new address when it next boots one.
func TestNewLiveImagesTouchNothing(t *testing.T) {
	s := newSite(t)
	var live metal3.PreprovisioningImageList
	s.Expect(s.kube.List(t.Context(), &live)).To(Succeed())
	for _, image := range live.Items {
		image.Status.ImageUrl += ".new"
		s.Expect(s.kube.Status().Update(t.Context(), &image)).To(Succeed())
	}
	r := s.check()
	for _, h := range r.Hosts {
		s.Expect(h.Writes).To(BeEmpty(), h.Name)
	}
}

func TestFindings(t *testing.T) {
	for name, c := range map[string]struct {
		situations []string
		given      func(*site)
		check      string
		want       string
		verdict    string
	}{
		"the operator still holds its lease": {
			given: func(s *site) {
				holder, now, seconds := "pod-1", metav1.NowMicro(), int32(15)
				edit(s, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: handover.Namespace, Name: "baremetal-operator"}}, func(l *coordinationv1.Lease) {
					l.Spec = coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &now, LeaseDurationSeconds: &seconds}
				})
			},
			check: "operator", want: "note lease fleet/pod-1: baremetal-operator works", verdict: "ready",
		},
		"its Deployment runs": {
			given: func(s *site) {
				d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "metal3", Name: "bmo"}}
				d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "quay.example/baremetal-operator:v0.13.1"}}
				s.Expect(s.kube.Create(s.t.Context(), d)).To(Succeed())
			},
			check: "operator", want: "kubectl -n metal3 scale deployment bmo --replicas=0", verdict: "ready",
		},
		"it takes Ironic from a resource": {
			given: func(s *site) {
				d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "metal3", Name: "bmo"}}
				d.Spec.Template.Spec.Containers = []corev1.Container{{
					Image: "quay.example/baremetal-operator:v0.13.1", Env: []corev1.EnvVar{{Name: "IRONIC_NAME", Value: "ironic"}},
				}}
				s.Expect(s.kube.Create(s.t.Context(), d)).To(Succeed())
			},
			check: "settings", want: "warning metal3/bmo: IRONIC_NAME is set: Ironflow reads no Ironic resource: set IRONIC_ENDPOINT", verdict: "warning",
		},
		"a variable of its ConfigMap has no effect": {
			given: func(s *site) {
				config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "metal3", Name: "ironic"}, Data: map[string]string{"IRONIC_CLIENT_CACHE_TTL": "5", "IRONIC_ENDPOINT": "x"}}
				s.Expect(s.kube.Create(s.t.Context(), config)).To(Succeed())
				d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "metal3", Name: "bmo"}, Spec: appsv1.DeploymentSpec{Replicas: new(int32)}}
				from := corev1.EnvFromSource{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "ironic"}}}
				d.Spec.Template.Spec.Containers = []corev1.Container{{Image: "quay.example/baremetal-operator:v0.13.1", EnvFrom: []corev1.EnvFromSource{from}}}
				s.Expect(s.kube.Create(s.t.Context(), d)).To(Succeed())
			},
			check: "settings", want: "note metal3/bmo: IRONIC_CLIENT_CACHE_TTL is set: not needed", verdict: "ready",
		},
		"its webhooks are there": {
			given: func(s *site) {
				w := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "bmo-webhooks"}}
				rule := admissionv1.RuleWithOperations{Rule: admissionv1.Rule{APIGroups: []string{"metal3.io"}, Resources: []string{"baremetalhosts"}}}
				w.Webhooks = []admissionv1.ValidatingWebhook{{Name: "baremetalhost.metal3.io", Rules: []admissionv1.RuleWithOperations{rule}}}
				s.Expect(s.kube.Create(s.t.Context(), w)).To(Succeed())
			},
			check: "operator", want: "kubectl delete validatingwebhookconfiguration bmo-webhooks", verdict: "ready",
		},
		"a kind is missing": {
			given: func(s *site) {
				s.Expect(s.kube.Delete(s.t.Context(), crd("dataimages.metal3.io"))).To(Succeed())
			},
			check: "crds", want: "warning dataimages.metal3.io: the kind is not there", verdict: "warning",
		},
		"the schema of an old release": {
			given: func(s *site) {
				edit(s, crd("baremetalhosts.metal3.io"), func(c *apiextensionsv1.CustomResourceDefinition) {
					delete(c.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"].Properties, "conditions")
				})
			},
			check: "crds", want: "it lacks status.conditions", verdict: "blocker",
		},
		"the schema of the next release": {
			given: func(s *site) {
				edit(s, crd("baremetalhosts.metal3.io"), func(c *apiextensionsv1.CustomResourceDefinition) {
					c.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["networkInterfaces"] = apiextensionsv1.JSONSchemaProps{Type: "array"}
				})
			},
			check: "crds", want: "spec.networkInterfaces", verdict: "ready",
		},
		"Ironic is away": {
			given: func(s *site) {
				s.sim.Intercept(func(*http.Request) *simulator.Fault { return &simulator.Fault{Status: 503, Text: "out of order"} })
			},
			check: "ironic", want: "blocker http://ironic.test/v1/: Ironic does not answer", verdict: "blocker",
		},
		"a node is gone": {
			given: func(s *site) { s.sim.Remove("fleet~provisioned") },
			check: "hosts", want: "warning fleet/provisioned: Ironic has no node of it", verdict: "warning",
		},
		"a node has another id": {
			given: func(s *site) {
				edit(s, bmh("provisioned"), func(*metal3.BareMetalHost) {})
				h := bmh("provisioned")
				s.Expect(s.kube.Get(s.t.Context(), client.ObjectKeyFromObject(h), h)).To(Succeed())
				h.Status.Provisioning.ID = "0e6a1f5c-9f5d-4a51-9c5b-0f8a9be4a001"
				s.Expect(s.kube.Status().Update(s.t.Context(), h)).To(Succeed())
			},
			check: "hosts", want: "was found by name, not by the id in its status", verdict: "warning",
		},
		"the boot MAC address belongs to another node": {
			given: func(s *site) {
				mac := bmh("provisioned")
				s.Expect(s.kube.Get(s.t.Context(), client.ObjectKeyFromObject(mac), mac)).To(Succeed())
				s.sim.Remove("fleet~provisioned")
				s.Expect(s.sim.Put(simulator.Seed{
					Fields: map[string]any{"uuid": "0e6a1f5c-9f5d-4a51-9c5b-0f8a9be4a001", "name": "somebody", "driver": "redfish", "provision_state": "active"},
					Ports:  map[string]bool{mac.Spec.BootMACAddress: true},
				})).To(Succeed())
			},
			check: "hosts", want: "belongs to another node in Ironic (somebody)", verdict: "blocker",
		},
		"a person has put a node into maintenance": {
			given: func(s *site) {
				s.sim.Edit("fleet~provisioned", map[string]any{"maintenance": true, "maintenance_reason": "new fans"})
			},
			check: "hosts", want: "its node is in maintenance (new fans)", verdict: "warning",
		},
		"a state of another version": {
			given: func(s *site) {
				h := bmh("provisioned")
				s.Expect(s.kube.Get(s.t.Context(), client.ObjectKeyFromObject(h), h)).To(Succeed())
				h.Status.Provisioning.State = "sleeping"
				s.Expect(s.kube.Status().Update(s.t.Context(), h)).To(Succeed())
			},
			check: "hosts", want: `state "sleeping" is not known`, verdict: "blocker",
		},
		"two hosts are the same machine": {
			situations: []string{"provisioned", "available"},
			given: func(s *site) {
				edit(s, bmh("available"), func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = "redfish://192.0.2.10/redfish/v1/Systems/1" })
			},
			check: "duplicates", want: "both would work on one machine", verdict: "blocker",
		},
		"a Secret is missing": {
			given: func(s *site) {
				edit(s, bmh("provisioned"), func(h *metal3.BareMetalHost) { h.Spec.UserData = &corev1.SecretReference{Name: "gone"} })
			},
			check: "secrets", want: `its Secret "gone" does not exist`, verdict: "warning",
		},
		"a Secret has lost its label": {
			given: func(s *site) {
				edit(s, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: handover.Namespace, Name: "provisioned-bmc"}}, func(o *corev1.Secret) { o.Labels = nil })
			},
			check: "secrets", want: "lacks the label environment.metal3.io=baremetal", verdict: "warning",
		},
		"a feature that is not there": {
			given: func(s *site) {
				edit(s, bmh("provisioned"), func(h *metal3.BareMetalHost) { h.Spec.Firmware = &metal3.FirmwareConfig{} }) //nolint:staticcheck // reported because it is deprecated
			},
			check: "features", want: "spec.firmware is not acted on", verdict: "warning",
		},
		"a host that something is to be done with": {
			given: func(s *site) {
				edit(s, bmh("provisioned"), func(h *metal3.BareMetalHost) { h.Spec.Online = false })
			},
			check: "rehearsal", want: "PUT /v1/nodes/11111111-2222-4333-8444-00000000000a/states/power (power off)", verdict: "warning",
		},
		"a Secret without a password": {
			given: func(s *site) {
				edit(s, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: handover.Namespace, Name: "provisioned-bmc"}}, func(o *corev1.Secret) { delete(o.Data, "password") })
			},
			check: "rehearsal", want: "would show a new registration error: the BMC's Secret", verdict: "warning",
		},
		"a host without the finalizer": {
			given: func(s *site) {
				edit(s, bmh("provisioned"), func(h *metal3.BareMetalHost) { h.Finalizers = nil })
			},
			check: "rehearsal", want: "patch *v1alpha1.BareMetalHost fleet/provisioned", verdict: "warning",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.situations == nil {
				c.situations = []string{"provisioned"}
			}
			s := newSite(t, c.situations...)
			c.given(s)
			r := s.check()
			s.Expect(about(r, c.check)).To(ContainElement(ContainSubstring(c.want)))
			s.Expect(r.Verdict).To(Equal(c.verdict), "%v", r.Findings)
			s.Expect(s.sim.Total("P") + s.sim.Total("DELETE")).To(BeZero())
		})
	}
}

// TestMachinesAreToldApartByTheWholeAddress: virtual BMCs share a host and differ by port; one
// machine may be spelt in two ways.
func TestMachinesAreToldApartByTheWholeAddress(t *testing.T) {
	for name, c := range map[string]struct {
		first, second string
		double        bool
	}{
		"IPMI at two ports":    {"ipmi://192.0.2.10:6230", "ipmi://192.0.2.10:6231", false},
		"Redfish at two ports": {"redfish-virtualmedia+http://192.0.2.10:8000/redfish/v1/Systems/1", "redfish-virtualmedia+http://192.0.2.10:8001/redfish/v1/Systems/1", false},
		"two systems":          {"redfish://192.0.2.10/redfish/v1/Systems/1", "redfish://192.0.2.10/redfish/v1/Systems/2", false},
		"two spellings":        {"redfish://BMC.test/redfish/v1/Systems/1", "idrac-virtualmedia+https://bmc.test:443/redfish/v1/Systems/1/", true},
		"two forms of IPv6":    {"ipmi://[2001:db8::1]", "[2001:DB8:0::1]:623", true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, "provisioned", "available")
			for host, address := range map[string]string{"provisioned": c.first, "available": c.second} {
				edit(s, bmh(host), func(h *metal3.BareMetalHost) { h.Spec.BMC.Address = address })
			}
			double := HaveField("Text", ContainSubstring("both would work on one machine"))
			if c.double {
				s.Expect(s.check().Findings).To(ContainElement(double))
			} else {
				s.Expect(s.check().Findings).NotTo(ContainElement(double))
			}
		})
	}
}

func crd(name string) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name}}
}

// TestOutput holds what people and programs read.
func TestOutput(t *testing.T) {
	s := newSite(t, "provisioned", "unmanaged")
	edit(s, bmh("provisioned"), func(h *metal3.BareMetalHost) { h.Spec.Online = false })
	r := s.check()
	var text, raw bytes.Buffer
	s.Expect(r.Text(&text)).To(Succeed())
	s.Expect(text.String()).To(And(
		ContainSubstring("hosts:               2 (1 provisioned, 1 unmanaged)"),
		MatchRegexp(`fleet/provisioned +provisioned +OK +11111111-2222-4333-8444-00000000000a +active +id +1, see below`),
		MatchRegexp(`fleet/unmanaged +unmanaged +discovered +- +- +- +status only`),
		MatchRegexp(`warning +rehearsal +fleet/provisioned +Ironflow would begin with`),
		HaveSuffix("somebody\n"),
	))
	s.Expect(text.String()).NotTo(ContainSubstring("not-a-secret"))
	s.Expect(r.JSON(&raw)).To(Succeed())
	var back migrate.Report
	s.Expect(json.Unmarshal(raw.Bytes(), &back)).To(Succeed())
	s.Expect(back).To(Equal(*r))
	s.Expect(back.ExitCode()).To(Equal(migrate.ExitWarning))
}

// TestAWipeIsABlocker: what would be the end of a running system is more than a warning,
// unless the host is deleted.
func TestAWipeIsABlocker(t *testing.T) {
	method := func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: "install_coreos"} }
	for name, c := range map[string]struct {
		situation string
		change    func(*metal3.BareMetalHost)
		want      []string
		code      int
	}{
		"another image": {"provisioned", func(h *metal3.BareMetalHost) { h.Spec.Image.URL = "http://bob:builder@images.test/new" }, []string{
			"blocker fleet/provisioned: Ironflow would give its machine back, and so wipe it: the spec asks for http://[redacted]@images.test/new, " +
				"the status says that http://192.0.2.250/images/os.qcow2 is on it: correct the spec, or let baremetal-operator give it back first",
		}, migrate.ExitBlocker},
		"another image, and a node that is told of something else first": {"provisioned", func(h *metal3.BareMetalHost) {
			h.Spec.Image.URL, h.Spec.AutomatedCleaningMode = "http://images.test/new", metal3.CleaningModeDisabled
		}, []string{"blocker fleet/provisioned: Ironflow would give its machine back, and so wipe it"}, migrate.ExitBlocker},
		"another image, and the host is paused for now": {"provisioned", func(h *metal3.BareMetalHost) {
			h.Spec.Image.URL = "http://images.test/new"
			h.Annotations = map[string]string{metal3.PausedAnnotation: ""}
		}, []string{"blocker fleet/provisioned: Ironflow would give its machine back, and so wipe it"}, migrate.ExitBlocker},
		"nothing any more": {"provisioned", func(h *metal3.BareMetalHost) { h.Spec.Image = nil }, []string{
			"blocker fleet/provisioned: Ironflow would give its machine back, and so wipe it: the spec asks for nothing, " +
				"the status says that http://192.0.2.250/images/os.qcow2 is on it: correct the spec, or let baremetal-operator give it back first",
		}, migrate.ExitBlocker},
		"no longer installed by somebody else, and nothing wanted": {"externally-provisioned", func(h *metal3.BareMetalHost) { h.Spec.ExternallyProvisioned = false }, []string{
			"blocker fleet/externally-provisioned: Ironflow would give its machine back, and so wipe it: the spec asks for nothing, " +
				"the status says that nothing is on it: correct the spec, or let baremetal-operator give it back first",
		}, migrate.ExitBlocker},
		"a method beside the image": {"provisioned", method, nil, migrate.ExitReady},
		"another checksum":          {"provisioned", func(h *metal3.BareMetalHost) { h.Spec.Image.Checksum = "0" }, nil, migrate.ExitReady},
		"another method":            {"custom-deploy", func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy.Method = "other" }, []string{"blocker"}, migrate.ExitBlocker},
		"a machine that is to be off": {"provisioned", func(h *metal3.BareMetalHost) { h.Spec.Online = false }, []string{
			"warning fleet/provisioned: Ironflow would begin with: PUT",
		}, migrate.ExitWarning},
		"being given back already": {"deprovisioning", func(*metal3.BareMetalHost) {}, nil, migrate.ExitReady},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, c.situation)
			edit(s, bmh(c.situation), c.change)
			r := s.check()
			found := about(r, "rehearsal")
			s.Expect(found).To(HaveLen(len(c.want)), "%v", found)
			for i, want := range c.want {
				s.Expect(found[i]).To(HavePrefix(want))
			}
			s.Expect(r.ExitCode()).To(Equal(c.code), "%v", r.Findings)
		})
	}
}

// TestDocsNameEveryCheck keeps docs/migrate.md complete.
func TestDocsNameEveryCheck(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile("../../docs/migrate.md")
	g.Expect(err).NotTo(HaveOccurred())
	for _, name := range migrate.Names() {
		g.Expect(strings.Count(string(raw), "| `"+name+"` |")).To(Equal(1), name)
	}
}

// TestVariablesOfTheEnvironment reports what has no effect of the environment that
// Ironflow is about to get.
func TestVariablesOfTheEnvironment(t *testing.T) {
	s := newSite(t, "available")
	r, err := migrate.Check(t.Context(), migrate.Options{
		Client: s.kube, Ironic: ironic.Config{URL: "http://ironic.test", Transport: s.sim.Transport()}, Settings: policy.Settings{Settings: nodespec.Settings{BuildImages: true}},
		Environment: map[string]string{"IRONIC_NAMESPACE": "metal3", "IRONIC_ENDPOINT": "x", "IRONIC_NAME": ""},
	})
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(about(r, "settings")).To(ConsistOf(HavePrefix("warning : IRONIC_NAMESPACE is set")))
}

// TestOnARealAPIServer runs the check on the whole fleet in a real kube-apiserver
// with the real schemas, and sees that it wrote nothing.
func TestOnARealAPIServer(t *testing.T) {
	g := NewWithT(t)
	plane := labtest.ControlPlane(t, lab.ControlPlaneOptions{})
	crds, err := config.CRDs()
	g.Expect(err).NotTo(HaveOccurred())
	_, err = envtest.InstallCRDs(plane.Config(), envtest.CRDInstallOptions{CRDs: crds})
	g.Expect(err).NotTo(HaveOccurred())
	s := &site{WithT: g, t: t, sim: simulator.New(simulator.Options{})}
	t.Cleanup(s.sim.Close)
	s.kube, err = client.NewWithWatch(plane.Config(), client.Options{Scheme: newScheme(g)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(handover.Load(t.Context(), s.kube, s.sim)).To(Succeed())
	before := s.versions(t.Context())
	r := s.check()
	g.Expect(r.Verdict).To(Equal("ready"), "%v", r.Findings)
	g.Expect(s.versions(t.Context())).To(Equal(before), "the check writes nothing")
	g.Expect(time.Since(r.At)).To(BeNumerically("<", time.Minute))
}

// versions are the resource versions of the hosts and of their Secrets.
func (s *site) versions(ctx context.Context) map[string]string {
	all := map[string]string{}
	var hosts metal3.BareMetalHostList
	var secrets corev1.SecretList
	s.Expect(s.kube.List(ctx, &hosts)).To(Succeed())
	s.Expect(s.kube.List(ctx, &secrets)).To(Succeed())
	for _, h := range hosts.Items {
		all["host "+h.Name] = h.ResourceVersion
	}
	for _, secret := range secrets.Items {
		all["secret "+secret.Name] = secret.ResourceVersion
	}
	return all
}
