package service_test

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// edge is a cluster of three hosts whose hub runs on the one with the MAC address; the third
// host is the weakest.
func edge(t *testing.T, mac string, masters, workers int) *world {
	w := shared(t, service.Options{NodeZero: service.NodeZero{InfraEnvID: envID, MAC: mac}}, service.ClusterSpec{Masters: masters, Workers: workers})
	for _, h := range all {
		w.register(h)
		w.inventory(h, func(i *wire.Inventory) {
			if h == hostC {
				i.CPU.Count = 6
			}
		})
	}
	for _, h := range all {
		w.checkDisk(h)
	}
	return w
}

const thirdMAC = "02:00:00:00:00:03"

// TestNodeZeroIsInstalledLast: it is the bootstrap host although others are smaller or stronger, and
// has no order as long as another host needs the hub. Its time begins with the order.
func TestNodeZeroIsInstalledLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := edge(t, thirdMAC, 3, 0)
		for _, h := range all {
			w.comesTo(h, wire.HostStatusInstalling)
		}
		w.Expect(w.with(bootstrap)).To(Equal([]string{hostC}))
		w.Expect(w.poll(hostA)).To(ContainElement(wire.StepTypeInstall))
		w.Expect(w.poll(hostC)).NotTo(ContainElement(wire.StepTypeInstall))
		w.is(hostC, wire.HostStatusInstalling, "it is installed last; 2 other hosts still need the hub: node-1, node-2")
		w.reaches(hostA, wire.HostStageInstalling, wire.HostStageWritingImageToDisk, wire.HostStageRebooting)
		w.reaches(hostB, wire.HostStageInstalling, wire.HostStageWritingImageToDisk)
		w.is(hostC, wire.HostStatusInstalling, "1 other hosts still need the hub: node-2")
		w.live(21*time.Minute, hostB, hostC)
		w.is(hostC, wire.HostStatusInstalling, "node-2")
		w.Expect(w.poll(hostC)).NotTo(ContainElement(wire.StepTypeInstall))

		w.reaches(hostB, wire.HostStageRebooting)
		w.Expect(w.poll(hostC)).To(ContainElement(wire.StepTypeInstall))
		w.is(hostC, wire.HostStatusInstalling, "The other hosts need the hub no more")
		w.live(15*time.Minute, hostC)
		w.Expect(w.poll(hostC)).To(ContainElement(wire.StepTypeInstall), "its time began with the order")
		w.reaches(hostC, wire.HostStageInstalling, wire.HostStageWritingImageToDisk, wire.HostStageRebooting)
	})
}

// TestHostsOfNodeZerosHubThatStartAgain: one that writes its disk is installed from the start,
// until that has begun too often; one that has left for its disk is not. Node zero is, too,
// once its hub goes on from the copy of its state.
func TestHostsOfNodeZerosHubThatStartAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := edge(t, thirdMAC, 3, 0)
		for _, h := range all {
			w.comesTo(h, wire.HostStatusInstalling)
		}
		copied := func() service.CopyWish {
			wish, _, err := w.Copy(w.ctx)
			w.Expect(err).NotTo(HaveOccurred())
			return wish
		}
		w.Expect(copied()).To(Equal(service.KeepCopy), "they are told to begin")
		w.reaches(hostA, wire.HostStageInstalling, wire.HostStageWritingImageToDisk, wire.HostStageRebooting)
		w.Expect(copied()).To(Equal(service.KeepCopy), "one has left")
		for range 4 {
			w.reaches(hostB, wire.HostStageInstalling, wire.HostStageWritingImageToDisk)
			w.register(hostB)
			w.is(hostB, wire.HostStatusInstalling, "begins anew")
			w.Expect(w.poll(hostB)).To(ContainElement(wire.StepTypeInstall))
		}

		w.Expect(w.Resumed(w.ctx, "/dev/sda")).To(Succeed())
		w.Expect(copied()).To(Equal(service.LeaveCopy), "its disk's name is of before")
		w.register(hostC)
		w.is(hostC, wire.HostStatusInstalling, "1 other hosts still need the hub: node-2")
		w.Expect(copied()).To(Equal(service.KeepCopy))
		w.reaches(hostB, wire.HostStageInstalling, wire.HostStageWritingImageToDisk, wire.HostStageRebooting)
		w.reaches(hostC, wire.HostStageInstalling, wire.HostStageWritingImageToDisk)
		w.Expect(copied()).To(Equal(service.LeaveCopy), "the disk is written")
		w.register(hostC)
		w.Expect(w.poll(hostC)).To(ContainElement(wire.StepTypeInstall))
		w.reaches(hostC, wire.HostStageInstalling, wire.HostStageWritingImageToDisk, wire.HostStageRebooting)
		w.Expect(copied()).To(Equal(service.DropCopy))
		w.register(hostC)
		w.is(hostC, wire.HostStatusInstallingPendingUserAction, "boot order")
	})
}

// TestNodeZeroAlone is a single node: it waits for nobody.
func TestNodeZeroAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := shared(t, service.Options{NodeZero: service.NodeZero{InfraEnvID: envID, MAC: "02:00:00:00:00:01"}}, service.ClusterSpec{})
		w.register(hostA)
		w.inventory(hostA, nil)
		w.checkDisk(hostA)
		w.comesTo(hostA, wire.HostStatusInstalling)
		w.Expect(w.poll(hostA)).To(ContainElement(wire.StepTypeInstall))
	})
}

// TestNodeZeroHasToBeOfTheControlPlane: the cluster is not prepared otherwise.
func TestNodeZeroHasToBeOfTheControlPlane(t *testing.T) {
	for name, tc := range map[string]struct {
		mac    string
		change func(*world)
		want   string
	}{
		"it is a worker": {
			thirdMAC, func(w *world) {
				_, err := w.UpdateHost(w.ctx, key(hostC), wire.HostUpdateParams{HostRole: new("worker")})
				w.Expect(err).NotTo(HaveOccurred())
			}, "the hub runs on host node-3, whose role is worker: give it the role master",
		},
		"it is not there": {
			"02:00:00:00:00:09", func(*world) {}, "the host that the hub runs on, with the MAC address 02:00:00:00:00:09, is none of the cluster's",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := shared(t, service.Options{NodeZero: service.NodeZero{MAC: tc.mac}}, service.ClusterSpec{Masters: 2, Workers: 1})
				for _, h := range all {
					w.register(h)
				}
				tc.change(w)
				for _, h := range all {
					w.inventory(h, nil)
				}
				w.Eventually(func() string {
					c, err := w.Cluster(w.ctx, sharedCluster, false)
					w.Expect(err).NotTo(HaveOccurred())
					return c.LastInstallationPreparation.Reason
				}, time.Minute).Should(ContainSubstring(tc.want))
				for _, h := range all {
					w.Expect(w.poll(h)).NotTo(ContainElement(wire.StepTypeInstall))
				}
			})
		})
	}
}
