package host

import (
	"bytes"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestLostDatabaseAtWork loses Ironic's database while a host is being worked on:
// the host is enrolled anew, with its ports, and what was asked for is done.
func TestLostDatabaseAtWork(t *testing.T) {
	for name, c := range map[string]struct {
		node string // state in which the database is lost
		want func(*metal3.BareMetalHost)
		ends policy.State
	}{
		"while verifying":       {node: "verifying", ends: metal3.StateAvailable},
		"while inspecting":      {node: "inspect wait", ends: metal3.StateAvailable},
		"while cleaning":        {node: "clean wait", want: wantInstall, ends: metal3.StateProvisioned},
		"while starting":        {node: "deploying", want: wantInstall, ends: metal3.StateProvisioned},
		"while the agent works": {node: "wait call-back", want: wantInstall, ends: metal3.StateProvisioned},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				o := assisted(nil)
				o.Delays = delays
				o.Delays.Work = time.Second
				w := newWorld(t, o, policy.Settings{}, c.want)
				defer w.stop()
				w.until("node "+c.node, time.Minute, func(h *metal3.BareMetalHost) bool {
					n, _ := w.sim.Node(nodespec.NodeName(h))
					return n.ProvisionState == c.node
				})
				w.sim.Wipe()
				w.until("there again", 10*time.Minute, func(*metal3.BareMetalHost) bool { return len(w.sim.Nodes()) == 1 })
				w.untilState(c.ends, 2*time.Minute)
				h := w.host()
				n, found := w.sim.Node(nodespec.NodeName(h))
				g.Expect(found).To(BeTrue())
				g.Expect(h.Status.Provisioning.ID).To(Equal(n.UUID))
				g.Expect(n.Ports).To(ContainElement(h.Spec.BootMACAddress))
				g.Expect(h.Status.ErrorCount).To(BeZero(), "%v", w.events.texts)
			})
		})
	}
}

// TestLostDatabaseWhileDeprovisioning enrols the host anew and cleans it all the
// same: it was promised to be clean.
func TestLostDatabaseWhileDeprovisioning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		o := assisted(nil)
		o.Delays = delays
		o.Delays.Work = time.Second
		w := newWorld(t, o, policy.Settings{}, wantInstall)
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil })
		w.until("node deleting", time.Minute, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			return n.ProvisionState == "deleting"
		})
		w.sim.Wipe()
		cleaned := false
		w.until("cleaned", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			cleaned = cleaned || n.ProvisionState == "clean wait"
			return h.Status.Provisioning.State == metal3.StateAvailable
		})
		g.Expect(cleaned).To(BeTrue())
		g.Expect(w.host().Status.ErrorCount).To(BeZero())
	})
}

// TestLostLiveISOIsAdoptedAsOne gives the new node its ISO before it is adopted,
// without which Ironic refuses.
func TestLostLiveISOIsAdoptedAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		const iso = "http://images.test/rescue.iso"
		format := "live-iso"
		w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) {
			h.Spec.Image = &metal3.Image{URL: iso, DiskFormat: &format}
		})
		defer w.stop()
		w.untilState(metal3.StateProvisioned, time.Minute)
		w.sim.Wipe()
		w.until("adopted", 10*time.Minute, func(h *metal3.BareMetalHost) bool {
			n, found := w.sim.Node(nodespec.NodeName(h))
			return found && n.ProvisionState == "active" && h.Status.Provisioning.ID == n.UUID
		})
		n, _ := w.sim.Node(nodespec.NodeName(w.host()))
		g.Expect(n.Fields["deploy_interface"]).To(Equal("ramdisk"))
		g.Expect(n.Fields["instance_info"]).To(HaveKeyWithValue("boot_iso", iso))
		g.Expect(w.host().Status.ErrorCount).To(BeZero(), "%v", w.events.texts)
	})
}

// TestNodeIsFoundAgain starts with nodes that Ironic has already, and a host
// that knows nothing of them.
func TestNodeIsFoundAgain(t *testing.T) {
	const mac, other = "52:54:00:00:00:01", "52:54:00:00:00:02"
	for name, c := range map[string]struct {
		nodeName, port string
		nodes          int    // in the end
		conflict       string // empty: the host becomes available
	}{
		"by its name":                           {nodeName: "lab~host-1", port: mac, nodes: 1},
		"by its name without the namespace":     {nodeName: "host-1", port: mac, nodes: 1},
		"by its boot MAC, when it has no name":  {port: mac, nodes: 1},
		"somebody else's with other addresses":  {nodeName: "lab~host-2", port: other, nodes: 2},
		"somebody else's with the same address": {nodeName: "lab~host-2", port: mac, nodes: 1, conflict: "lab~host-2"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) {
					h.Spec.BootMACAddress = mac
					h.Annotations = map[string]string{names.Paused: ""} // the node is there first
				})
				defer func() { w.stop() }()
				w.stop()
				uuid := ask(t, w, "/v1/nodes", map[string]any{"driver": "redfish", "name": c.nodeName}, "uuid")
				ask(t, w, "/v1/ports", map[string]any{"node_uuid": uuid, "address": c.port}, "uuid")
				w.edit(func(h *metal3.BareMetalHost) { delete(h.Annotations, names.Paused) })
				w.start(policy.Settings{})
				if c.conflict != "" {
					w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
					g.Expect(w.host().Status.ErrorMessage).To(And(ContainSubstring(mac), ContainSubstring(c.conflict)))
				} else {
					w.untilState(metal3.StateAvailable, time.Minute)
					n, _ := w.sim.Node(w.host().Status.Provisioning.ID)
					g.Expect(n.UUID == uuid).To(Equal(c.nodes == 1), "taken over, or left alone")
					g.Expect(n.Name).To(Equal("lab~host-1"))
				}
				g.Expect(w.sim.Nodes()).To(HaveLen(c.nodes))
			})
		})
	}
}

// ask creates something in the simulator and returns a member of the answer.
func ask(t *testing.T, w *world, path string, body map[string]any, member string) string {
	t.Helper()
	g := NewWithT(t)
	for key, value := range body {
		if value == "" {
			delete(body, key)
		}
	}
	raw, err := json.Marshal(body)
	g.Expect(err).NotTo(HaveOccurred())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://ironic.test"+path, bytes.NewReader(raw))
	g.Expect(err).NotTo(HaveOccurred())
	request.Header.Set("X-OpenStack-Ironic-API-Version", "1.109")
	answer, err := w.sim.Transport().RoundTrip(request)
	g.Expect(err).NotTo(HaveOccurred())
	defer answer.Body.Close()
	made := map[string]any{}
	g.Expect(json.NewDecoder(answer.Body).Decode(&made)).To(Succeed())
	g.Expect(answer.StatusCode).To(Equal(http.StatusCreated), "%v", made)
	return made[member].(string)
}

// TestReleasedHostIsOver leaves a host alone that was let go of and that the cache
// still shows, because its node's end was heard of first.
func TestReleasedHostIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{}, policy.Settings{}, nil)
		defer w.stop()
		w.untilAtRest()
		w.rec.memories.Put(w.key, memory.Memory{Released: w.host().UID}, true)
		w.sim.ResetCounts()
		w.edit(wantInstall)
		let(time.Minute)
		counts := w.sim.Counts()
		delete(counts, "GET /v1/nodes") // the watch's own
		g.Expect(counts).To(BeEmpty())
		g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateAvailable))
		w.rec.memories.Put(w.key, memory.Memory{Released: "another of the same name"}, true)
		w.annotate("touched", "")
		w.untilState(metal3.StateProvisioned, time.Minute)
	})
}
