package upgrade_test

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestAFleetIsRecorded with -update: the program takes a host to each situation, and what it leaves is written down.
func TestAFleetIsRecorded(t *testing.T) {
	dir := toRecord(t, "fleet")
	w := newWorld(t)
	w.start()
	all := situations()
	for i, s := range all {
		w.make(i, s)
	}
	for _, s := range all {
		w.bring(s)
	}
	w.stop()
	w.record(dir)
}

// toRecord is a folder of the newest release that nothing was recorded into yet. What a release has left is never made anew: the program
// that would make it is a later one.
func toRecord(t *testing.T, what string) string {
	t.Helper()
	if !*update {
		t.Skip("records the release: run with -update")
	}
	newest := releases(t)
	dir := filepath.Join(newest[len(newest)-1], what)
	if _, err := os.Stat(dir); err == nil {
		t.Skipf("%s is there: a release is recorded once", dir)
	}
	return dir
}

// asks are the requests that a situation itself asks of Ironic, by the host's name; all others ask for none. An operation that has failed is
// tried again, a deployment that has failed is torn down before, and what was turned away is asked for again.
var asks = map[string]*regexp.Regexp{
	"registration-error": ask(`PUT NODE/states/provision \{"target":"manage"\}`),
	"inspection-error":   ask(`PUT NODE/states/provision \{"target":"inspect"\}`),
	"preparation-error": ask(
		`PUT NODE/states/provision \{.*"target":"(clean|manage)"`, `PATCH NODE \[\{"op":"add","path":"/extra/ironflow_order"`, `DELETE NODE/maintenance `,
	),
	"provisioning-error": ask(`PUT NODE/states/provision \{.*"target":"(deleted|active)"`, `PATCH NODE \[\{"op":"(add|remove)","path":"/(instance_|extra/)`),
	"power-error":        ask(`PUT NODE/states/power \{"target":"(soft )?power off"`),
	"deleting":           ask(`DELETE NODE $`),
}

// ask matches requests by their beginnings, with NODE for the path of a node.
func ask(beginnings ...string) *regexp.Regexp {
	return regexp.MustCompile("^(" + strings.ReplaceAll(strings.Join(beginnings, "|"), "NODE", "/v1/nodes/[^/ ]+") + ")")
}

// TestHostsInEveryStateAreLeftAsTheyAre starts the program on what a release left: its definitions, which are brought up to date, its
// objects as etcd had them, and its nodes. No machine is touched that its host's phase does not ask for, and work that was begun ends.
func TestHostsInEveryStateAreLeftAsTheyAre(t *testing.T) {
	for _, release := range releases(t) {
		t.Run(filepath.Base(release), func(t *testing.T) {
			w := newWorld(t)
			_, err := envtest.InstallCRDs(w.lab.ControlPlane.Config(), envtest.CRDInstallOptions{CRDs: definitions(t, filepath.Join(release, definitionsFile))})
			w.Expect(err).NotTo(HaveOccurred())
			hosts := w.load(filepath.Join(release, "fleet"))
			w.asBefore()
			before, states := w.objects(), w.statesOf(hosts)
			w.ironflow("crds", "--apply")
			w.start()
			owner := w.owners(hosts)
			asked := func(call string) bool { return asks[owner(call)] != nil && asks[owner(call)].MatchString(call) }
			w.settle(hosts, asked)

			for _, call := range slices.DeleteFunc(w.asked(), asked) {
				t.Errorf("host %q: nothing asks for %s", owner(call), call)
			}
			for name, state := range w.statesOf(hosts) {
				if asks[name] == nil {
					w.Expect(state).To(Equal(states[name]), name)
				}
			}
			after := w.objects()
			for key, now := range after {
				if name, host := strings.CutPrefix(key, "BareMetalHost "); host && takeDeployed(now) {
					w.Expect(states[name]).To(Or(HavePrefix(string(metal3.StateProvisioned)+","), HavePrefix(string(metal3.StateProvisioning)+",")), "%s is said to be in use", name)
				}
			}
			for key, was := range before {
				w.Expect(after).To(HaveKeyWithValue(key, was), "metadata and spec stay as they are")
			}
			w.workEnds()
		})
	}
}

// takeDeployed takes away the one annotation that an upgrade adds, to hosts whose machine is in use, and reports whether it was there.
func takeDeployed(object any) bool {
	metadata, _ := object.(map[string]any)["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	_, found := annotations[names.Deployed]
	delete(annotations, names.Deployed)
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	return found
}

// asBefore has the same operations fail, and the same node be locked, as when the release stopped.
func (w *world) asBefore() {
	for _, s := range situations() {
		w.fail(s.name, s.fail)
		for _, next := range s.available {
			w.fail(s.name, next.fail)
		}
	}
	w.refuse(w.node("deleting").UUID)
}

// owners tells whose node a request is about.
func (w *world) owners(hosts []string) func(call string) string {
	owners := map[string]string{}
	for _, name := range hosts {
		n := w.node(name)
		owners[n.UUID], owners[n.Name] = name, name
	}
	return func(call string) string {
		_, path, _ := strings.Cut(call, " ")
		if found := nodeOf.FindStringSubmatch(path); found != nil {
			return owners[found[1]]
		}
		return ""
	}
}

// workEnds has Ironic end what it was at when the release stopped: each host goes on to where it was going.
func (w *world) workEnds() {
	w.t.Helper()
	ends := map[string]struct {
		node string
		host metal3.ProvisioningState
	}{
		"inspecting":     {"manageable", metal3.StateAvailable},
		"preparing":      {"manageable", metal3.StateAvailable},
		"provisioning":   {"active", metal3.StateProvisioned},
		"installing":     {"active", metal3.StateProvisioned},
		"servicing":      {"active", metal3.StateProvisioned},
		"deprovisioning": {"available", metal3.StateAvailable},
	}
	now := time.Now().UTC().Format(time.RFC3339Nano)
	for name, end := range ends {
		w.Expect(w.sim.Edit(namespace+"~"+name, map[string]any{
			"provision_state": end.node, "target_provision_state": nil, "deploy_step": nil, "clean_step": nil, "service_step": nil, "inspection_finished_at": now,
		})).To(BeTrue(), name)
	}
	w.edit("available", withImage)
	ends["available"] = ends["provisioning"]
	for name, end := range ends {
		w.until(name, string(end.host), func(h *metal3.BareMetalHost, _ simulator.Node) bool {
			return h.Status.Provisioning.State == end.host && h.Status.OperationalStatus == metal3.OperationalStatusOK
		})
	}
}

// TestEveryStateHasASituation fails when a state is added without a host in it. Two are of baremetal-operator alone: test/handover has those.
func TestEveryStateHasASituation(t *testing.T) {
	var there []metal3.ProvisioningState
	for _, s := range situations() {
		there = append(there, s.state)
	}
	for _, state := range policy.States() {
		if !slices.Contains([]metal3.ProvisioningState{metal3.StateNone, metal3.StateMatchProfile, metal3.StateReady}, state) {
			NewWithT(t).Expect(there).To(ContainElement(state))
		}
	}
}

// free is an address that nobody listens on.
func free(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(l.Close()).To(Succeed())
	return l.Addr().String()
}
