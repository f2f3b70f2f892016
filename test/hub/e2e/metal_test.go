//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/program"
	"github.com/ironflow/ironflow/test/ironic/simulator"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/ports"
	"github.com/ironflow/ironflow/test/media"
	"github.com/ironflow/ironflow/test/needs"
)

// metal is a world whose hub drives machines, too: `ironflow run` before an Ironic that is simulated, which notes what it
// is asked for. The agent of the machine is the shipped one, in dry run; it is started when Ironic deploys the machine.
type metal struct {
	*world
	client.Client
	site   *site
	ironic string // its URL

	mu    sync.Mutex
	asked []string // of Ironic, what changes something

	machine *agent
	// bmh and agent are the names of its objects.
	bmh, agent client.ObjectKey
}

// newMetal makes it with one host that is installed, detached and paused.
func newMetal(w *world) *metal {
	w.Helper()
	m := &metal{world: w}
	step := func(name string) simulator.Step { return simulator.Step{Interface: "deploy", Step: name} }
	sim := simulator.New(simulator.Options{
		Heartbeat: time.Second, RamdiskSteps: []simulator.Step{step(names.StartAssistedInstall), step(names.InstallCoreOS)},
		Delays: simulator.Delays{Verify: 200 * time.Millisecond, Inspect: 200 * time.Millisecond, Clean: 200 * time.Millisecond, Deploy: 5 * time.Second, Power: 200 * time.Millisecond},
	})
	sim.Intercept(func(r *http.Request) *simulator.Fault {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.asked = append(m.asked, r.Method+" "+r.URL.Path)
		}
		return nil
	})
	server := httptest.NewServer(sim)
	w.Cleanup(func() { server.Close(); sim.Close() })
	m.ironic = server.URL
	w.hub = m.newRun(plane, "here")
	w.start(w.hub)
	w.connect(w.hub.URL, w.hub.CA)
	m.site = w.newSite()
	m.Client = m.site.Client
	p := w.poolOf(m.site)
	machine := w.newMachine()
	w.booted-- // it is the one that is booted below
	m.bmh = client.ObjectKeyFromObject(m.site.env)
	bmh := &metal3v1.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: m.site.env.Namespace, Name: m.site.env.Name, Labels: map[string]string{names.InfraEnvLabel: m.site.env.Name}}}
	bmh.Spec = metal3v1.BareMetalHostSpec{
		Online: true, BootMACAddress: strings.ToLower(machine.Hardware.NICs[0].MAC), AutomatedCleaningMode: metal3v1.CleaningModeMetadata,
		BMC: metal3v1.BMCDetails{Address: "redfish-virtualmedia+http://127.0.0.1:1/redfish/v1/Systems/1", CredentialsName: "bmc", DisableCertificateVerification: true},
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.site.env.Namespace, Name: "bmc"}, Data: map[string][]byte{"username": []byte("admin"), "password": []byte("hunter2hunter2")}}
	w.Expect(m.Create(w.Context(), secret)).To(Succeed())
	w.Expect(m.Create(w.Context(), bmh)).To(Succeed())
	var err error
	p.token, err = w.hub.MachineToken(p.id, bmh.Spec.BootMACAddress)
	w.Expect(err).NotTo(HaveOccurred())
	m.deployed(p)
	return m
}

// newRun is the whole program on an API server.
func (m *metal) newRun(p *lab.ControlPlane, name string) *program.Hub {
	m.Helper()
	set := &ports.Set{}
	port, err := set.Free()
	m.Expect(err).NotTo(HaveOccurred())
	dir, images := filepath.Join(m.dir, name), fmt.Sprintf("127.0.0.1:%d", port)
	iso := filepath.Join(m.dir, "base.iso")
	m.Expect(media.WriteFile(iso, media.Options{})).To(Succeed())
	hub, err := program.New(program.Options{
		Program: needs.Shipped(m.T, "ironflow"), Command: "run", Kubeconfig: p.Kubeconfig, Dir: dir, Name: name, UserToken: userToken,
		Args: []string{
			"--namespace", m.namespace(), "--metrics-insecure", "--hub-ignition-source", "files", // the cluster has no release
			"--images-addr", images, "--images-publish-url", "http://" + images, "--images-tls-addr", "0", "--base-image", iso,
			"--host-programs", filepath.Join(filepath.Dir(needs.Shipped(m.T, "ironflow")), "lab"),
			"--ironic-endpoint", m.ironic, "--ironic-auth-root", filepath.Join(dir, "no-auth"), "--ironic-ca", filepath.Join(dir, "no-ca"),
		},
	})
	m.Expect(err).NotTo(HaveOccurred())
	m.Cleanup(func() {
		m.Expect(hub.Stop()).To(Succeed())
		m.Expect(set.Close()).To(Succeed())
		if m.Failed() {
			m.Log(hub.Log + ":\n" + hub.Tail())
		}
	})
	return hub
}

// deployed has the machine boot its live image when Ironic deploys it, and waits until it is installed, detached and paused.
func (m *metal) deployed(p *pool) {
	m.Helper()
	m.Eventually(m.state, patience, look).Should(BeElementOf(metal3v1.StateProvisioning, metal3v1.StateProvisioned))
	if m.machine == nil {
		m.machine = m.boot(p)
	} else {
		m.machine.pool = p
		m.machine.reboot()
	}
	m.Expect(m.machine.code()).To(Equal(0), "installed: %s", m.machine.said)
	m.agent = client.ObjectKey{Namespace: m.site.env.Namespace, Name: m.world.host(m.machine).ID}
	m.settles()
}

// settles waits until the host is installed, detached and paused, and the hub and all objects say so.
func (m *metal) settles() {
	m.Helper()
	m.Eventually(func(g Gomega) {
		bmh, agent := m.read()
		g.Expect(bmh.Status.Provisioning.State).To(Equal(metal3v1.StateProvisioned))
		g.Expect(bmh.Status.OperationalStatus).To(Equal(metal3v1.OperationalStatusDetached))
		g.Expect(bmh.Annotations).To(And(HaveKey(names.Detached), HaveKey(names.Paused), HaveKeyWithValue(names.Status, ContainSubstring(`"state":"provisioned"`))))
		g.Expect(agent.Status.DebugInfo.State).To(BeElementOf(wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster))
		g.Expect(agent.Annotations).To(And(HaveKeyWithValue(names.AgentState, agent.Status.DebugInfo.State), HaveKey(names.SeenIn)))
		g.Expect(m.Get(m.Context(), client.ObjectKeyFromObject(m.site.install), m.site.install)).To(Succeed())
		g.Expect(m.site.install.Annotations).To(HaveKeyWithValue(names.ClusterState, BeElementOf(over)))
	}, patience, look).Should(Succeed())
}

func (m *metal) read() (*metal3v1.BareMetalHost, *agentv1.Agent) {
	m.Helper()
	bmh, agent := &metal3v1.BareMetalHost{}, &agentv1.Agent{}
	m.Expect(m.Get(m.Context(), m.bmh, bmh)).To(Succeed())
	m.Expect(client.IgnoreNotFound(m.Get(m.Context(), m.agent, agent))).To(Succeed())
	return bmh, agent
}

// state is the host's, empty for one that is gone.
func (m *metal) state() (metal3v1.ProvisioningState, error) {
	bmh := &metal3v1.BareMetalHost{}
	err := m.Get(m.Context(), m.bmh, bmh)
	return bmh.Status.Provisioning.State, client.IgnoreNotFound(err)
}

// change edits an object as a user does.
func change[T client.Object](m *metal, key client.ObjectKey, obj T, edit func(T)) {
	m.Helper()
	m.Eventually(func() error {
		if err := m.Get(m.Context(), key, obj); err != nil {
			return err
		}
		edit(obj)
		return m.Update(m.Context(), obj)
	}, patience, look).Should(Succeed())
}

// since is what Ironic was asked for since the last time.
func (m *metal) since() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.asked
	m.asked = nil
	return list
}

// adminKubeconfig opens the installed cluster to its administrator.
func (m *metal) adminKubeconfig() []byte {
	m.Helper()
	config, err := m.inner.Plane.ConfigFor("admin", "system:masters")
	m.Expect(err).NotTo(HaveOccurred())
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "admin",
		"clusters": []any{map[string]any{"name": "inner", "cluster": map[string]any{"server": config.Host, "certificate-authority-data": config.CAData}}},
		"users":    []any{map[string]any{"name": "admin", "user": map[string]any{"client-certificate-data": config.CertData, "client-key-data": config.KeyData}}},
		"contexts": []any{map[string]any{"name": "admin", "context": map[string]any{"cluster": "inner", "user": "admin"}}},
	})
	m.Expect(err).NotTo(HaveOccurred())
	return raw
}

// otherPlane is the API server of another cluster, with the kinds.
func (m *metal) otherPlane() *lab.ControlPlane {
	m.Helper()
	l, err := lab.New(lab.Options{})
	m.Expect(err).NotTo(HaveOccurred())
	m.Cleanup(func() { m.Expect(l.Stop(context.Background())).To(Succeed()) })
	p, err := l.StartControlPlane(m.Context(), lab.ControlPlaneOptions{})
	m.Expect(err).NotTo(HaveOccurred())
	m.Expect(lab.InstallCRDs(m.Context(), p.Config())).To(Succeed())
	return p
}
