package service_test

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// scenes are what may happen to a host or a cluster, by name.
type scenes map[string]func(t *testing.T)

func (s scenes) play(t *testing.T) {
	for name, scene := range s {
		t.Run(name, func(t *testing.T) { synctest.Test(t, scene) })
	}
}

// alone is one approved host with a cluster of its own that writes its disk.
func alone(t *testing.T, timers service.Timers) *world {
	w := start(t, service.Options{Timers: timers}, nil)
	w.installing(hostA)
	return w
}

// team is a cluster of three hosts that write their disks.
func team(t *testing.T, timers service.Timers, masters, workers int) *world {
	w := shared(t, service.Options{Timers: timers}, service.ClusterSpec{Masters: masters, Workers: workers})
	for _, h := range all {
		w.register(h)
		w.inventory(h, nil)
	}
	for _, h := range all {
		w.checkDisk(h)
	}
	for _, h := range all {
		w.comesTo(h, wire.HostStatusInstalling)
		w.Expect(w.stage(h, wire.HostStageInstalling)).To(Succeed())
	}
	return w
}

var all = []string{hostA, hostB, hostC}

// with returns the hosts of the team that have, or do not have, a role or the bootstrap flag.
func (w *world) with(fits func(wire.Host) bool) (hosts []string) {
	for _, id := range all {
		h, err := w.Host(w.ctx, key(id))
		w.Expect(err).NotTo(HaveOccurred())
		if fits(h) {
			hosts = append(hosts, id)
		}
	}
	return hosts
}

func worker(h wire.Host) bool    { return h.Role == wire.HostRoleWorker }
func bootstrap(h wire.Host) bool { return h.Bootstrap }

// live lets time pass while agents poll.
func (w *world) live(d time.Duration, hosts ...string) {
	for end := time.Now().Add(d); time.Now().Before(end); pass(time.Minute) {
		for _, h := range hosts {
			w.poll(h)
		}
	}
}

// reaches reports stages of a host.
func (w *world) reaches(host string, stages ...wire.HostStage) {
	w.t.Helper()
	for _, s := range stages {
		w.Expect(w.stage(host, s)).To(Succeed())
	}
}

func (w *world) is(host, status, info string) {
	w.t.Helper()
	w.Expect(w.status(host)).To(Equal(status), w.info(host))
	w.Expect(w.info(host)).To(ContainSubstring(info))
}

func (w *world) registers(host string) int {
	_, err := w.RegisterHost(w.ctx, service.Registration{InfraEnvID: envID, HostID: host})
	return service.Code(err)
}

func (w *world) losesMedium(host string) {
	w.Expect(w.Reply(w.ctx, key(host), wire.StepReply{StepType: wire.StepTypeInventory, ExitCode: 256})).To(Succeed())
}

func TestAgentsThatStartAgain(t *testing.T) {
	scenes{
		"in the last checks, which begin anew": func(t *testing.T) {
			w := shared(t, service.Options{}, service.ClusterSpec{})
			w.register(hostA)
			w.inventory(hostA, nil)
			pass(time.Second)
			w.register(hostA)
			w.is(hostA, wire.HostStatusPreparingForInstallation, "")
			w.checkDisk(hostA)
			w.comesTo(hostA, wire.HostStatusInstalling)
		},
		"while the disk is written": func(t *testing.T) {
			w := alone(t, service.Timers{})
			w.register(hostA)
			w.is(hostA, wire.HostStatusError, "restarted unexpectedly")
		},
		"after the reboot, which is a wrong boot order": func(t *testing.T) {
			w := alone(t, service.Timers{})
			w.reaches(hostA, wire.HostStageRebooting)
			w.register(hostA)
			w.is(hostA, wire.HostStatusInstallingPendingUserAction, "boot order")
			w.Expect(w.registers(hostA)).To(Equal(403), "a second time")
		},
		"after a failure": func(t *testing.T) {
			w := team(t, service.Timers{}, 3, 0)
			w.Expect(w.FailHost(w.ctx, key(hostA), "broken")).To(Succeed())
			w.register(hostA)
			w.is(hostA, wire.HostStatusError, "broken")
		},
	}.play(t)
}

func TestHostsThatLoseTheirMedium(t *testing.T) {
	scenes{
		"before the installation": func(t *testing.T) {
			w := start(t, service.Options{}, &service.InfraEnvSpec{SingleHost: true})
			w.register(hostA)
			w.losesMedium(hostA)
			w.is(hostA, wire.HostStatusDisconnected, "attach it")
			w.inventory(hostA, nil)
			w.is(hostA, wire.HostStatusKnown, "")
		},
		"in the pool": func(t *testing.T) {
			w := start(t, service.Options{}, &service.InfraEnvSpec{})
			w.register(hostA)
			w.losesMedium(hostA)
			w.is(hostA, wire.HostStatusDisconnectedUnbound, "attach it")
			w.poll(hostA)
			w.is(hostA, wire.HostStatusDisconnectedUnbound, "attach it")
		},
	}.play(t)
}

func TestInstallationsThatTakeTooLong(t *testing.T) {
	scenes{
		"to begin": func(t *testing.T) {
			w := start(t, service.Options{}, nil)
			w.register(hostA)
			w.inventory(hostA, nil)
			w.checkDisk(hostA)
			w.comesTo(hostA, wire.HostStatusInstalling)
			w.live(21*time.Minute, hostA)
			w.is(hostA, wire.HostStatusError, "within 20 minutes")
		},
		"at a stage": func(t *testing.T) {
			w := alone(t, service.Timers{})
			w.reaches(hostA, wire.HostStageWritingImageToDisk)
			w.live(31*time.Minute, hostA)
			w.is(hostA, wire.HostStatusError, "took too long")
		},
		"at a stage whose limit was set": func(t *testing.T) {
			w := alone(t, service.Timers{Stages: map[wire.HostStage]time.Duration{wire.HostStageWritingImageToDisk: time.Hour}})
			w.reaches(hostA, wire.HostStageWritingImageToDisk)
			w.live(50*time.Minute, hostA)
			w.is(hostA, wire.HostStatusInstallingInProgress, "")
		},
	}.play(t)
}

func TestSoftLimits(t *testing.T) {
	soft := service.Timers{Soft: true}
	scenes{
		"of silence": func(t *testing.T) {
			w := alone(t, soft)
			flagged := func() bool {
				h, err := w.Host(w.ctx, key(hostA))
				w.Expect(err).NotTo(HaveOccurred())
				return h.ConnectionTimedOut
			}
			pass(6 * time.Minute)
			w.is(hostA, wire.HostStatusInstallingInProgress, "")
			w.Expect(flagged()).To(BeTrue())
			w.poll(hostA)
			w.Expect(flagged()).To(BeFalse())
		},
		"of a stage": func(t *testing.T) {
			w := alone(t, soft)
			flagged := func() bool {
				h, err := w.Host(w.ctx, key(hostA))
				w.Expect(err).NotTo(HaveOccurred())
				return h.Progress.StageTimedOut
			}
			w.reaches(hostA, wire.HostStageWritingImageToDisk)
			w.live(31*time.Minute, hostA)
			w.is(hostA, wire.HostStatusInstallingInProgress, "")
			w.Expect(flagged()).To(BeTrue())
			w.Expect(w.Progress(w.ctx, key(hostA), wire.HostProgress{CurrentStage: wire.HostStageWritingImageToDisk, ProgressInfo: "50%"})).To(Succeed())
			w.Expect(flagged()).To(BeFalse())
		},
		"of a stage that begins anew, because another host needed a person": func(t *testing.T) {
			w := team(t, soft, 3, 0)
			first, other := w.with(bootstrap)[0], w.with(func(h wire.Host) bool { return !bootstrap(h) })[0]
			flagged := func() bool {
				h, err := w.Host(w.ctx, key(first))
				w.Expect(err).NotTo(HaveOccurred())
				return h.Progress.StageTimedOut
			}
			w.reaches(first, wire.HostStageWaitingForControlPlane)
			w.live(61*time.Minute, all...)
			w.Expect(flagged()).To(BeTrue())
			w.reaches(other, wire.HostStageRebooting)
			w.register(other)
			w.reaches(other, wire.HostStageConfiguring)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstalling))
			w.Expect(flagged()).To(BeFalse())
		},
		"of a host that joins a cluster, which are a day": func(t *testing.T) {
			o := from(&played{})
			o.Timers = soft
			w := shared(t, o, service.ClusterSpec{})
			w.installing(hostA)
			w.reaches(hostA, wire.HostStageDone)
			_, err := w.AllowAddHosts(w.ctx, sharedCluster)
			w.Expect(err).NotTo(HaveOccurred())
			w.register(hostB)
			w.inventory(hostB, nil)
			synctest.Wait() // its Ignition is made
			w.reaches(hostB, wire.HostStageInstalling)
			pass(23 * time.Hour)
			w.is(hostB, wire.HostStatusInstallingInProgress, "")
			pass(2 * time.Hour)
			w.is(hostB, wire.HostStatusError, "longer than 24 hours")
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusAddingHosts))
		},
		"of a whole installation, which are a day": func(t *testing.T) {
			w := alone(t, soft)
			pass(23 * time.Hour)
			w.Expect(w.ownStatus()).To(Equal(wire.ClusterStatusInstalling))
			pass(2 * time.Hour)
			w.Expect(w.ownStatus()).To(Equal(wire.ClusterStatusError))
		},
	}.play(t)
}

// ownStatus is the status of the only cluster.
func (w *world) ownStatus() string {
	w.t.Helper()
	clusters, err := w.Clusters(w.ctx, store.ClusterFilter{})
	w.Expect(err).NotTo(HaveOccurred())
	w.Expect(clusters).To(HaveLen(1))
	return clusters[0].Status
}

func TestHostsThatNeedAPerson(t *testing.T) {
	scenes{
		"and get one": func(t *testing.T) {
			w := team(t, service.Timers{}, 3, 0)
			host := w.with(func(h wire.Host) bool { return !bootstrap(h) })[0]
			w.reaches(host, wire.HostStageRebooting)
			w.register(host)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstallingPendingUserAction))
			w.reaches(host, wire.HostStageConfiguring)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstalling))
			w.is(host, wire.HostStatusInstallingInProgress, "")
		},
		"and are the last one": func(t *testing.T) {
			w := alone(t, service.Timers{})
			w.reaches(hostA, wire.HostStageRebooting)
			w.register(hostA)
			w.Expect(w.ownStatus()).To(Equal(wire.ClusterStatusInstallingPendingUserAction))
			w.reaches(hostA, wire.HostStageDone)
			w.Expect(w.ownStatus()).To(Equal(wire.ClusterStatusInstalled))
		},
		"while the others wait for the cluster": func(t *testing.T) {
			w := team(t, service.Timers{}, 3, 0)
			first, other := w.with(bootstrap)[0], w.with(func(h wire.Host) bool { return !bootstrap(h) })[0]
			w.reaches(first, wire.HostStageWaitingForControlPlane)
			w.live(50*time.Minute, all...)
			for _, h := range w.with(func(h wire.Host) bool { return !bootstrap(h) }) {
				w.reaches(h, wire.HostStageWritingImageToDisk)
			}
			w.reaches(other, wire.HostStageRebooting)
			w.register(other)
			w.live(20*time.Minute, all...)
			w.is(first, wire.HostStatusInstallingInProgress, "")
		},
		"and get none, where the cluster goes on without them": func(t *testing.T) {
			w := team(t, service.Timers{}, 2, 1)
			host := w.with(worker)[0]
			w.reaches(host, wire.HostStageRebooting)
			w.register(host)
			w.live(50*time.Minute, all...)
			for _, other := range w.with(func(h wire.Host) bool { return h.ID != host }) {
				w.reaches(other, wire.HostStageWritingImageToDisk)
			}
			w.live(11*time.Minute, all...)
			w.is(host, wire.HostStatusError, "the cluster goes on without it")
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInstalling))
			for _, other := range w.with(func(h wire.Host) bool { return h.ID != host }) {
				w.reaches(other, wire.HostStageDone)
			}
			c, err := w.Cluster(w.ctx, sharedCluster, false)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(c.Status).To(Equal(wire.ClusterStatusInstalled))
			w.Expect(c.StatusInfo).To(And(ContainSubstring("1 of its 3 hosts failed"), ContainSubstring("did not boot its disk")), "the end tells who is not part of it")
		},
		"and get none, where the cluster cannot do without a second worker": func(t *testing.T) {
			w := team(t, service.Timers{}, 1, 2)
			host := w.with(worker)[0]
			w.reaches(host, wire.HostStageRebooting)
			w.register(host)
			w.live(50*time.Minute, all...)
			for _, other := range w.with(func(h wire.Host) bool { return h.ID != host }) {
				w.reaches(other, wire.HostStageDone)
			}
			w.live(20*time.Minute, host)
			w.is(host, wire.HostStatusInstallingPendingUserAction, "boot order")
		},
		"and get none, where the cluster cannot do without": func(t *testing.T) {
			w := alone(t, service.Timers{})
			w.reaches(hostA, wire.HostStageRebooting)
			w.register(hostA)
			pass(23 * time.Hour)
			w.is(hostA, wire.HostStatusInstallingPendingUserAction, "")
			pass(2 * time.Hour)
			w.Expect(w.ownStatus()).To(Equal(wire.ClusterStatusError))
		},
		"while another one fails": func(t *testing.T) {
			w := team(t, service.Timers{}, 3, 0)
			hosts := w.with(func(h wire.Host) bool { return !bootstrap(h) })
			w.reaches(hosts[0], wire.HostStageRebooting)
			w.register(hosts[0])
			w.Expect(w.FailHost(w.ctx, key(hosts[1]), "its disk is broken")).To(Succeed())
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusError))
			w.is(w.with(bootstrap)[0], wire.HostStatusError, "The installation of the cluster failed")
		},
	}.play(t)
}

func TestChecksBeforeAnInstallationThatFail(t *testing.T) {
	scenes{
		"because a disk is slow": func(t *testing.T) {
			w := shared(t, from(&played{}), service.ClusterSpec{Version: "4.20", BaseDomain: "example", PullSecret: `{"auths":{}}`, ReleaseImage: "registry.example/release:1"})
			w.register(hostA)
			w.inventory(hostA, nil)
			w.Expect(w.reply(hostA, wire.StepTypeDomainResolution, wire.DomainResolutionResponse{})).To(Succeed())
			w.Expect(w.reply(hostA, wire.StepTypeInstallationDiskSpeedCheck, wire.DiskSpeedCheckResponse{
				IoSyncDuration: 1000, Path: "/dev/disk/by-id/wwn-1",
			})).To(Succeed())
			w.is(hostA, wire.HostStatusInsufficient, "")
		},
		"because one of the hosts is not done in time": func(t *testing.T) {
			w := shared(t, service.Options{}, service.ClusterSpec{Masters: 3, Hold: true})
			for _, h := range all {
				w.register(h)
				w.inventory(h, nil)
			}
			_, err := w.StartInstallation(w.ctx, sharedCluster)
			w.Expect(err).NotTo(HaveOccurred())
			w.checkDisk(hostA)
			w.is(hostA, wire.HostStatusPreparingSuccessful, "")
			w.live(18*time.Minute, all...)
			w.is(hostA, wire.HostStatusKnown, "")
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusReady))
		},
		"because one of the hosts is removed": func(t *testing.T) {
			w := shared(t, from(hanging()), service.ClusterSpec{Masters: 3})
			for _, h := range all {
				w.register(h)
				w.inventory(h, nil)
			}
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusPreparingForInstallation))
			w.Expect(w.DeleteHost(w.ctx, key(hostC))).To(Succeed())
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInsufficient))
			pass(time.Hour)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusInsufficient))
		},
		"because files cannot be made in time": func(t *testing.T) {
			w := shared(t, from(hanging()), service.ClusterSpec{})
			w.register(hostA)
			w.inventory(hostA, nil)
			w.checkDisk(hostA)
			w.live(17*time.Minute, hostA)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusPreparingForInstallation))
			w.live(2*time.Minute, hostA)
			events, _, err := w.Events(w.ctx, store.EventFilter{ClusterID: sharedCluster, Message: "The preparation took too long"})
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(events).To(HaveLen(1))
			events, _, err = w.Events(w.ctx, store.EventFilter{ClusterID: sharedCluster, Message: "could not be prepared in time"})
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(events).To(HaveExactElements(HaveField("Name", "installation_preparing_timed_out")))
		},
		"because they are called off": func(t *testing.T) {
			w := shared(t, service.Options{}, service.ClusterSpec{})
			w.register(hostA)
			w.inventory(hostA, nil)
			c, err := w.CancelInstallation(w.ctx, sharedCluster)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(c.Status).To(Equal(wire.ClusterStatusReady))
			w.is(hostA, wire.HostStatusKnown, "")

			w.live(30*time.Minute, hostA)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusReady), "what a person has called off does not begin by itself")
			w.is(hostA, wire.HostStatusKnown, "the installation was called off")
			spec := service.ClusterSpec{ID: sharedCluster, Name: "edge", Masters: 1}
			ensure := func(hold bool) {
				spec.Hold = hold
				_, err := w.EnsureCluster(w.ctx, spec)
				w.Expect(err).NotTo(HaveOccurred())
			}
			ensure(false)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusReady), "its object says what it has said before")
			ensure(true)
			ensure(false)
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusPreparingForInstallation), "its hold was released")

			_, err = w.CancelInstallation(w.ctx, sharedCluster)
			w.Expect(err).NotTo(HaveOccurred())
			_, err = w.StartInstallation(w.ctx, sharedCluster)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(w.clusterStatus()).To(Equal(wire.ClusterStatusPreparingForInstallation), "a person has started it")
		},
	}.play(t)
}

func TestHostsThatJoinAndAreDoneOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := shared(t, from(&played{}), service.ClusterSpec{})
		w.installing(hostA)
		w.reaches(hostA, wire.HostStageDone)
		_, err := w.AllowAddHosts(w.ctx, sharedCluster)
		w.Expect(err).NotTo(HaveOccurred())
		w.register(hostB)
		w.inventory(hostB, nil)
		synctest.Wait() // its Ignition is made
		w.reaches(hostB, wire.HostStageInstalling, wire.HostStageRebooting)
		w.is(hostB, wire.HostStatusAddedToExistingCluster, "nobody tells the hub whether it joins")
		for range 2 {
			_, err = w.ResetHost(w.ctx, key(hostB))
			w.Expect(err).NotTo(HaveOccurred())
			w.is(hostB, wire.HostStatusResettingPendingUserAction, "live image")
		}
	})
}

func TestInstallStepThatFailsTwice(t *testing.T) {
	w := alone(t, service.Timers{})
	for range 2 {
		w.Expect(w.Reply(w.ctx, key(hostA), wire.StepReply{StepType: wire.StepTypeInstall, ExitCode: 1, Error: "no space"})).To(Succeed())
		w.is(hostA, wire.HostStatusError, "no space")
	}
}
