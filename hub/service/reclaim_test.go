package service_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// reclaiming is a hub with agents inside installed clusters, and a host of the pool
// that was bound to a cluster.
func reclaiming(t *testing.T) *world {
	t.Helper()
	w := start(t, service.Options{Reclaim: true, ImageURLs: func(env wire.InfraEnv, token string) (service.ImageURLs, error) {
		return service.ImageURLs{Initrd: "http://images.example/initrd", Kernel: "http://images.example/kernel", Rootfs: "http://images.example/rootfs"}, nil
	}}, &service.InfraEnvSpec{AutoApprove: true})
	_, err := w.EnsureCluster(w.ctx, service.ClusterSpec{ID: sharedCluster, Name: "edge", Masters: 1})
	w.Expect(err).NotTo(HaveOccurred())
	w.register(hostA)
	w.inventory(hostA, nil)
	_, err = w.BindHost(w.ctx, key(hostA), sharedCluster)
	w.Expect(err).NotTo(HaveOccurred())
	w.register(hostA)
	return w
}

// reclaimed is the same with the host installed and on its way back.
func reclaimed(t *testing.T) *world {
	t.Helper()
	w := reclaiming(t)
	w.installing(hostA)
	w.reaches(hostA, wire.HostStageDone)
	w.unbind(hostA)
	w.is(hostA, wire.HostStatusReclaiming, "Fetching the live image")
	return w
}

// steps are what the host is told to do.
func (w *world) steps(id string) []wire.Step {
	w.t.Helper()
	told, err := w.Instructions(w.ctx, key(id), service.Poll{})
	w.Expect(err).NotTo(HaveOccurred())
	return told.Instructions
}

func (w *world) unbind(id string) {
	w.t.Helper()
	_, err := w.UnbindHost(w.ctx, key(id))
	w.Expect(err).NotTo(HaveOccurred())
}

// replies answers a step of the host.
func (w *world) replies(id string, step wire.StepType, code int64) {
	w.t.Helper()
	w.Expect(w.Reply(w.ctx, key(id), wire.StepReply{StepType: step, ExitCode: code, Error: "no space left"})).To(Succeed())
}

func TestHostsThatAreReclaimed(t *testing.T) {
	scenes{
		"by an agent inside the cluster": func(t *testing.T) {
			w := reclaimed(t)
			steps := w.steps(hostA)
			w.Expect(steps).To(HaveExactElements(And(HaveField("StepType", wire.StepTypeDownloadBootArtifacts), HaveField("Args", HaveExactElements(MatchJSON(
				`{"initrd_url":"http://images.example/initrd","kernel_url":"http://images.example/kernel","rootfs_url":"http://images.example/rootfs","host_fs_mount_dir":"/host"}`))))))
			w.replies(hostA, wire.StepTypeDownloadBootArtifacts, 0)
			w.is(hostA, wire.HostStatusReclaimingRebooting, "")
			w.replies(hostA, wire.StepTypeDownloadBootArtifacts, 0)
			steps = w.steps(hostA)
			w.Expect(steps).To(HaveExactElements(And(HaveField("StepType", wire.StepTypeRebootForReclaim), HaveField("Args", HaveExactElements(MatchJSON(`{"host_fs_mount_dir":"/host"}`))))))
			w.Expect(w.register(hostA)).To(Equal(wire.HostStatusDiscoveringUnbound))
		},
		"in vain, because the image cannot be fetched": func(t *testing.T) {
			w := reclaimed(t)
			w.replies(hostA, wire.StepTypeDownloadBootArtifacts, 1)
			w.is(hostA, wire.HostStatusUnbindingPendingUserAction, "no space left")
			w.Expect(w.register(hostA)).To(Equal(wire.HostStatusDiscoveringUnbound))
		},
		"in vain, because the host does not restart": func(t *testing.T) {
			w := reclaimed(t)
			w.replies(hostA, wire.StepTypeDownloadBootArtifacts, 0)
			w.replies(hostA, wire.StepTypeRebootForReclaim, 1)
			w.is(hostA, wire.HostStatusUnbindingPendingUserAction, "no space left")
		},
		"in vain, because no agent is there": func(t *testing.T) {
			w := reclaimed(t)
			pass(59 * time.Minute)
			w.is(hostA, wire.HostStatusReclaiming, "")
			pass(2 * time.Minute)
			w.is(hostA, wire.HostStatusUnbindingPendingUserAction, "")
		},
		"before they were installed": func(t *testing.T) {
			w := reclaiming(t)
			w.unbind(hostA)
			w.is(hostA, wire.HostStatusUnbinding, "")
		},
		"after they failed": func(t *testing.T) {
			w := reclaiming(t)
			w.installing(hostA)
			w.replies(hostA, wire.StepTypeInstall, 1)
			w.unbind(hostA)
			w.is(hostA, wire.HostStatusUnbindingPendingUserAction, "")
		},
	}.play(t)
}
