package controllers_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/claim"
	"github.com/ironflow/ironflow/controllers/firmware"
	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/controllers/link"
	"github.com/ironflow/ironflow/controllers/media"
	"github.com/ironflow/ironflow/controllers/subscription"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/kubeapi"
)

// crew are all controllers that act on hosts, in one manager, on an API in memory and a simulated Ironic: their queues,
// watches and filters are those of the program. It runs inside a bubble.
type crew struct {
	*WithT
	t    *testing.T
	kube client.Client
	sim  *simulator.Server

	mu     sync.Mutex
	writes []string // to Kubernetes, since they are counted
	handed string   // the address of the live image as it was handed out
}

// nobody is the hub of machines that never register.
type nobody struct{}

func (nobody) CompleteHost(context.Context, store.HostKey) error     { return nil }
func (nobody) FailHost(context.Context, store.HostKey, string) error { return nil }

// printer is an image store whose addresses follow the content.
type printer struct{}

func (printer) Put(_ context.Context, s images.Spec) (images.Built, error) {
	return images.Built{URL: fmt.Sprintf("http://images.test/%x.iso", len(fmt.Sprint(s)))}, nil
}
func (printer) Remove(string) error { return nil }
func (printer) Keys() []string      { return nil }
func (printer) MarkSynced()         {}

// quiet takes events.
type quiet struct{}

func (quiet) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

func newCrew(t *testing.T) *crew {
	t.Helper()
	return newCrewWith(t, newIronic(t), link.Options{})
}

// newIronic is the Ironic of a crew.
func newIronic(t *testing.T) *simulator.Server {
	step := func(name string) simulator.Step { return simulator.Step{Interface: "deploy", Step: name} }
	sim := simulator.New(simulator.Options{
		Heartbeat: time.Second, RamdiskSteps: []simulator.Step{step(names.StartAssistedInstall), step(names.InstallCoreOS)},
		Delays: simulator.Delays{Verify: time.Second, Inspect: time.Second, Clean: time.Second, Deploy: time.Second, Power: time.Second},
	})
	t.Cleanup(sim.Close)
	return sim
}

// newCrewWith is a crew before an Ironic that others may use, too.
func newCrewWith(t *testing.T, sim *simulator.Server, o link.Options) *crew {
	t.Helper()
	c := &crew{WithT: NewWithT(t), t: t, sim: sim}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, metal3v1.AddToScheme, agentv1.AddToScheme} {
		c.Expect(add(scheme)).To(Succeed())
	}
	api, err := kubeapi.New(scheme, &metal3v1.BareMetalHost{}, &metal3v1.HardwareData{}, &metal3v1.PreprovisioningImage{}, &metal3v1.HostFirmwareSettings{},
		&metal3v1.HostFirmwareComponents{}, &metal3v1.FirmwareSchema{}, &metal3v1.HostUpdatePolicy{}, &metal3v1.DataImage{}, &metal3v1.BMCEventSubscription{},
		&metal3v1.HostClaim{}, &metal3v1.HostDeployPolicy{}, &agentv1.Agent{}, &agentv1.InfraEnv{}, &agentv1.NMStateConfig{},
		&corev1.Secret{}, &corev1.Namespace{}, &corev1.ConfigMap{})
	c.Expect(err).NotTo(HaveOccurred())
	api.Intercept(c.seen)
	c.kube, err = api.Client(scheme)
	c.Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	gateway, err := ironic.New(ctx, ironic.Config{URL: "http://ironic.test", Transport: c.sim.Transport()})
	c.Expect(err).NotTo(HaveOccurred())
	mgr, err := api.Manager(scheme, quiet{})
	c.Expect(err).NotTo(HaveOccurred())
	watch, gate := ironic.NewWatch(gateway, ironic.WatchOptions{}), media.NewGate(mgr.GetClient())
	keeper, err := firmware.Setup(mgr, firmware.Options{Gateway: gateway})
	c.Expect(err).NotTo(HaveOccurred())
	for _, failure := range []error{
		host.Setup(mgr, host.Options{Gateway: gateway, Watch: watch, Media: gate, Firmware: keeper, Settings: policy.Settings{Settings: nodespec.Settings{BuildImages: true, Architecture: "x86_64"}}}),
		media.Setup(mgr, oneForMedia(gateway), gate), subscription.Setup(mgr, oneForSubscriptions(gateway)), claim.Setup(mgr), link.Setup(mgr, nobody{}, o),
		image.Setup(mgr, image.Options{
			Store: printer{}, Architectures: func() []string { return []string{"x86_64"} }, IPA: ipa,
			Agent: func(context.Context, *agentv1.InfraEnv, string) (ignition.Agent, error) {
				return ignition.Agent{URL: "https://hub.test", InfraEnvID: "3f0b8a52-1df7-4ef2-9d31-0a4b7e3c9a11", Version: "agent:1", Token: "t", Gate: true}, nil
			},
		}),
	} {
		c.Expect(failure).NotTo(HaveOccurred())
	}
	var parts sync.WaitGroup
	parts.Go(func() { _ = watch.Run(ctx) })
	parts.Go(func() {
		if err := mgr.Start(ctx); err != nil {
			t.Errorf("the manager ended: %v", err)
		}
	})
	t.Cleanup(func() {
		<-mgr.Elected()
		stop()
		parts.Wait()
	})
	return c
}

// seen notes writes.
func (c *crew) seen(r *http.Request) *kubeapi.Fault {
	if r.Method != http.MethodGet {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.writes = append(c.writes, r.Method+" "+r.URL.Path)
	}
	return nil
}

// newWrites are those since the last time, but for the statuses of what says that nothing is done.
func (c *crew) newWrites(but ...string) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []string
	for _, w := range c.writes {
		allowed := false
		for _, end := range but {
			allowed = allowed || strings.HasSuffix(w, end)
		}
		if !allowed {
			list = append(list, w)
		}
	}
	c.writes = nil
	return list
}

func (c *crew) create(objects ...client.Object) {
	for _, o := range objects {
		c.Expect(c.kube.Create(c.t.Context(), o)).To(Succeed())
	}
}

// read reads an object of the site; nil when it is not there.
func read[T client.Object](c *crew, name string, obj T) (T, bool) {
	err := c.kube.Get(c.t.Context(), client.ObjectKey{Namespace: "lab", Name: name}, obj)
	c.Expect(client.IgnoreNotFound(err)).To(Succeed())
	return obj, err == nil
}

// edit changes an object of the site as a user would.
func edit[T client.Object](c *crew, name string, obj T, change func(T)) {
	c.t.Helper()
	c.Expect(retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if err := c.kube.Get(c.t.Context(), client.ObjectKey{Namespace: "lab", Name: name}, obj); err != nil {
			return err
		}
		change(obj)
		return c.kube.Update(c.t.Context(), obj)
	})).To(Succeed())
}

// until lets time pass until something is so.
func (c *crew) until(what string, ok func() bool) {
	c.t.Helper()
	for range 600 {
		if ok() {
			return
		}
		<-time.After(time.Second)
	}
	h, _ := read(c, "assisted", &metal3v1.BareMetalHost{})
	i, _ := read(c, "assisted", &metal3v1.PreprovisioningImage{})
	c.t.Fatalf("never %s: %q %q, image %+v", what, h.Status.Provisioning.State, h.Status.ErrorMessage, i.Status)
}

// furnish makes two machines that run: one that the linking controller has installed, and one of a claim.
func (c *crew) furnish() {
	at := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "lab", Name: name} }
	machine := func(name, mac string) *metal3v1.BareMetalHost {
		return &metal3v1.BareMetalHost{ObjectMeta: at(name), Spec: metal3v1.BareMetalHostSpec{
			Online: true, BootMACAddress: mac,
			BMC: metal3v1.BMCDetails{Address: "redfish-virtualmedia://bmc.test/redfish/v1/Systems/" + name, CredentialsName: "bmc"},
		}}
	}
	assisted, claimed := machine("assisted", "52:54:00:00:00:01"), machine("claimed", "52:54:00:00:00:02")
	assisted.Labels = map[string]string{names.InfraEnvLabel: "edge"}
	assisted.Annotations = map[string]string{names.BMACManage: ""}
	env := &agentv1.InfraEnv{ObjectMeta: at("edge")}
	c.create(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "lab"}},
		&corev1.Secret{ObjectMeta: at("bmc"), Data: map[string][]byte{"username": []byte("admin"), "password": []byte("hunter2hunter2")}},
		&metal3v1.HostDeployPolicy{ObjectMeta: at("all"), Spec: metal3v1.HostDeployPolicySpec{HostClaimNamespaces: &metal3v1.HostClaimNamespaces{Names: []string{"lab"}}}},
		env, assisted, claimed,
	)
	env.Status.Conditions = []agentv1.Condition{{Type: agentv1.ConditionImageCreated, Status: corev1.ConditionTrue, Reason: agentv1.ReasonImageCreated}}
	c.Expect(c.kube.Status().Update(c.t.Context(), env)).To(Succeed())
	c.until("installed by the agent", func() bool {
		h, _ := read(c, "assisted", &metal3v1.BareMetalHost{})
		return h.Status.Provisioning.State == metal3v1.StateProvisioned && h.Status.PoweredOn
	})
	c.create(&metal3v1.HostClaim{ObjectMeta: at("mine"), Spec: metal3v1.HostClaimSpec{
		PoweredOn: true, CustomDeploy: &metal3v1.CustomDeploy{Method: names.InstallCoreOS},
	}})
	c.until("installed for the claim", func() bool {
		h, _ := read(c, "claimed", &metal3v1.BareMetalHost{})
		return h.Status.Provisioning.State == metal3v1.StateProvisioned && h.Status.PoweredOn
	})
	<-time.After(10 * time.Minute)
}

// TestEveryControllerKeepsOff has somebody want something of each controller that acts on hosts, while the hosts are
// kept off: nothing is written and Ironic is asked for nothing, until the annotation goes.
func TestEveryControllerKeepsOff(t *testing.T) {
	node := func(c *crew, name string) map[string]any {
		n, _ := c.sim.Node("lab" + names.NodeNameSeparator + name)
		return n.Fields
	}
	at := metav1.ObjectMeta{Namespace: "lab", Name: "assisted"}
	for _, annotation := range []string{names.Paused, names.Hold} {
		for controller, wish := range map[string]struct {
			make func(c *crew)
			done func(c *crew) bool
		}{
			"host": {
				func(c *crew) {
					edit(c, "assisted", &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) { h.Spec.Online = false })
				},
				func(c *crew) bool { return node(c, "assisted")["power_state"] == "power off" },
			},
			"link": {
				func(c *crew) {
					edit(c, "assisted", &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) { h.Labels = nil })
				},
				func(c *crew) bool {
					h, _ := read(c, "assisted", &metal3v1.BareMetalHost{})
					return !slices.Contains(h.Finalizers, names.BMACFinalizer)
				},
			},
			"image": {
				func(c *crew) {
					edit(c, "edge", &agentv1.InfraEnv{}, func(e *agentv1.InfraEnv) { e.Spec.NTPSources = []string{"time.test"} })
				},
				func(c *crew) bool {
					i, _ := read(c, "assisted", &metal3v1.PreprovisioningImage{})
					return i.Status.ImageUrl != c.handed
				},
			},
			"firmware": {
				func(c *crew) { c.create(&metal3v1.HostUpdatePolicy{ObjectMeta: at}) },
				func(c *crew) bool {
					p, _ := read(c, "assisted", &metal3v1.HostUpdatePolicy{})
					return len(p.OwnerReferences) > 0
				},
			},
			"media": {
				func(c *crew) {
					c.create(&metal3v1.DataImage{ObjectMeta: at, Spec: metal3v1.DataImageSpec{URL: "https://images.test/data.iso"}})
				},
				func(c *crew) bool {
					d, _ := read(c, "assisted", &metal3v1.DataImage{})
					return len(d.Finalizers) > 0
				},
			},
			"subscription": {
				func(c *crew) {
					c.create(&metal3v1.BMCEventSubscription{ObjectMeta: at, Spec: metal3v1.BMCEventSubscriptionSpec{HostName: "assisted", Destination: "https://events.test/x"}})
				},
				func(c *crew) bool {
					s, _ := read(c, "assisted", &metal3v1.BMCEventSubscription{})
					return s.Status.SubscriptionID != ""
				},
			},
			"claim": {
				func(c *crew) {
					edit(c, "mine", &metal3v1.HostClaim{}, func(h *metal3v1.HostClaim) { h.Spec.PoweredOn = false })
				},
				func(c *crew) bool {
					h, _ := read(c, "claimed", &metal3v1.BareMetalHost{})
					return !h.Spec.Online
				},
			},
			"all of them, at a host's end": {
				func(c *crew) {
					h, _ := read(c, "assisted", &metal3v1.BareMetalHost{})
					c.Expect(c.kube.Delete(c.t.Context(), h)).To(Succeed())
				},
				func(c *crew) bool {
					_, there := read(c, "assisted", &metal3v1.BareMetalHost{})
					return !there
				},
			},
		} {
			t.Run(annotation+"/"+controller, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := newCrew(t)
					c.furnish()
					i, _ := read(c, "assisted", &metal3v1.PreprovisioningImage{})
					c.handed = i.Status.ImageUrl
					keepOff := func(off bool) {
						for _, name := range []string{"assisted", "claimed"} {
							edit(c, name, &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) {
								if delete(h.Annotations, annotation); off {
									metav1.SetMetaDataAnnotation(&h.ObjectMeta, annotation, "")
								}
							})
						}
					}
					keepOff(true)
					<-time.After(time.Minute)
					wish.make(c)
					synctest.Wait()
					c.sim.ResetCounts()
					says := []string{"/hostclaims/mine/status"}
					if annotation == names.Hold {
						says = append(says, "/baremetalhosts/assisted/status", "/baremetalhosts/claimed/status")
					}
					c.Expect(c.newWrites(says...)).NotTo(BeEmpty(), "those of the user")
					<-time.After(6 * time.Hour)
					c.Expect(c.newWrites(says...)).To(BeEmpty())
					c.Expect(c.sim.Total("")-c.sim.Counts()["GET /v1/nodes"]).To(BeZero(), "the watch's own are for the whole fleet")
					c.Expect(wish.done(c)).To(BeFalse())
					keepOff(false)
					c.until("done", func() bool { return wish.done(c) })
				})
			})
		}
	}
}
