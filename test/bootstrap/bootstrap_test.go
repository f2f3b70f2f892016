//go:build e2e

package bootstrap_test

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/bootstrap/release"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// TestTheBootstrapHostBringsUpTheControlPlane out of memory, hands it over to two others, and installs itself; then it
// joins them, and the program that the hub has put into the cluster reports that the cluster is installed.
func TestTheBootstrapHostBringsUpTheControlPlane(t *testing.T) {
	w := newWorld(t)
	first := w.startFirst()
	others := []*run{w.startOther(1), w.startOther(2)}
	w.Eventually(w.status, patience, look).Should(Equal(wire.ClusterStatusReady), w.story)
	w.do(http.MethodPost, "/clusters/"+w.cluster+"/actions/install", nil, nil)

	// Its services run, started by the agent, and nobody else is there yet.
	w.untilUnit("bootkube.service", "activating")
	w.untilUnit("kube-apiserver.service", "active")
	w.untilUnit("progress.service", "active")
	w.Expect(w.bootstrapHost().Name).NotTo(HavePrefix("node-"), "the host on the real systemd is the one")
	for _, o := range others {
		w.Expect(o.code()).To(Equal(exitcode.AgentInstalled), o.said.String)
	}
	// What the hub puts among the manifests is taken by the real API.
	w.Eventually(func() string {
		return release.BootstrapAPI(w.Context(), w.first.Machine, "get", "namespaces")
	}, patience, look).Should(ContainSubstring("ironflow"), w.story)

	for i, m := range w.others {
		w.joins(m, name(i+1), addresses[i+1], addresses[0])
	}
	w.connect()
	for i := range w.others {
		w.kubelet(name(i+1), addresses[i+1]) // the bootstrap host's services let it in
	}
	w.Expect(first.code()).To(Equal(exitcode.AgentInstalled), first.said.String)
	w.handedOver()
	w.told()
	w.Expect(w.status()).To(Equal(wire.ClusterStatusInstalling), "one of its hosts has just begun to boot its disk")

	bootstrap := w.bootstrapHost().Name
	m := w.reboots()
	w.joins(m, bootstrap, addresses[0], addresses[1])
	w.startInside()
	w.kubelet(bootstrap, addresses[0]) // the program inside lets it in
	w.Eventually(w.status, patience, look).Should(Equal(wire.ClusterStatusFinalizing), w.story)
	w.Expect(w.inner.Up(w.Context(), version)).To(Succeed())
	w.Eventually(w.status, patience, look).Should(Equal(wire.ClusterStatusInstalled), w.story)
	for _, h := range w.hosts() {
		w.Expect(h.Status).To(Equal(wire.HostStatusInstalled), h.Name)
		w.Expect(h.Progress.CurrentStage).To(Equal(wire.HostStageDone), h.Name)
	}
}

// untilUnit waits until a unit of the bootstrap host is in the state.
func (w *world) untilUnit(unit, state string) {
	w.Helper()
	w.Eventually(func() (string, error) {
		p, err := w.first.Units(w.T).Unit(w.Context(), unit)
		return p.ActiveState, err
	}, patience, look).Should(Equal(state), "%s: %s", unit, w.story)
}

// host is a host as the hub has it.
type host struct {
	Name string
	wire.Host
}

func (w *world) hosts() (all []host) {
	w.Helper()
	var found []wire.Host
	w.do(http.MethodGet, "/infra-envs/"+w.infraEnv+"/hosts", nil, &found)
	for _, h := range found {
		var inventory wire.Inventory
		if h.Inventory != "" {
			w.Expect(json.Unmarshal([]byte(h.Inventory), &inventory)).To(Succeed())
		}
		all = append(all, host{cmp.Or(h.RequestedHostname, inventory.Hostname), h})
	}
	return all
}

func (w *world) bootstrapHost() (found host) {
	w.Helper()
	for _, h := range w.hosts() {
		if h.Bootstrap {
			found = h
		}
	}
	return found
}

// joins has the services of an installed system join the control plane, of which one has the address of the endpoint.
func (w *world) joins(m *systemdtest.Machine, name, address, endpoint string) {
	w.Helper()
	w.plane.Joins(m, name, address, endpoint, patience, w.story)
}

// handedOver expects that the control plane is the others', with all that was put into it.
func (w *world) handedOver() {
	w.Helper()
	for i, m := range w.others {
		w.Expect(w.plane.Members(m)).To(Equal("2"), "etcd has left the bootstrap host")
		kubectl := func(args ...string) string { return release.Kubectl(w.Context(), m, release.AdminConfig, args...) }
		w.Expect(kubectl("get", "nodes")).To(And(ContainSubstring(name(1)), ContainSubstring(name(2)), Not(ContainSubstring("NotReady"))), "node %d", i+1)
		w.Expect(kubectl("get", "jobs,deployments", "--all-namespaces")).To(ContainSubstring("deployment.apps/ironflow-cluster"), "what the hub has put among the manifests")
	}
	var marker hostfile.Installed
	w.Expect(w.first.Host.Read(hostfile.InstalledFile, &marker)).To(Succeed())
	w.Expect(marker.Disk).To(Equal(w.first.Disk))
	w.Expect(w.first.Run(w.T, "systemctl", "is-active", hostfile.IPAUnit)).To(Equal("active"), "only Ironic restarts the machine")
}

// told expects that the hub was told of the stages by the agents: of the others' nodes by the bootstrap host, which
// has seen them.
func (w *world) told() {
	w.Helper()
	for _, h := range w.hosts() {
		var events wire.EventList
		w.do(http.MethodGet, "/events?host_id="+h.ID, nil, &events)
		var stages []string
		for _, e := range events {
			if _, stage, is := strings.Cut(e.Message, "reached stage "); is {
				stages = append(stages, stage)
			}
		}
		if h.Bootstrap {
			w.Expect(h.Progress.CurrentStage).To(Equal(wire.HostStageRebooting), "%v", stages)
			w.Expect(stages).To(ContainElements(ContainSubstring(string(wire.HostStageWritingImageToDisk)), ContainSubstring(string(wire.HostStageWaitingForControlPlane)),
				ContainSubstring(string(wire.HostStageWaitingForBootkube)), ContainSubstring(string(wire.HostStageRebooting))), "%v", stages)
			continue
		}
		w.Expect(h.Progress.CurrentStage).To(Equal(wire.HostStageDone), "%s: %v", h.Name, stages)
		w.Expect(h.Status).To(Equal(wire.HostStatusInstalled))
	}
}
