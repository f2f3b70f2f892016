package service_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// program is a hub that can be ended and started again over the same store.
type program struct {
	*world
	dir string
	end func()
}

// begin starts the hub's program with its monitor.
func begin(t *testing.T, dir string) *program {
	t.Helper()
	g := NewWithT(t)
	s, err := store.OpenSQLite(t.Context(), filepath.Join(dir, "hub.sqlite"))
	g.Expect(err).NotTo(HaveOccurred())
	root, err := filestore.OpenDirectory(dir)
	g.Expect(err).NotTo(HaveOccurred())
	hub, err := service.New(service.Options{Store: s, Files: root, Keys: testhub.Keys()})
	g.Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- hub.Run(ctx) }()
	p := &program{world: &world{Hub: hub, WithT: g, t: t, ctx: t.Context()}, dir: dir}
	p.end = func() {
		stop()
		p.Expect(<-done).To(Succeed())
		p.Expect(s.Close()).To(Succeed())
		p.Expect(root.Close()).To(Succeed())
	}
	return p
}

// threeInstalling are hosts of one cluster that write their disks; at least two
// of them are not the bootstrap host.
func (p *program) threeInstalling() []string {
	hosts := []string{hostA, hostB, hostC}
	_, err := p.EnsureCluster(p.ctx, service.ClusterSpec{ID: sharedCluster, Name: "c", Masters: 3})
	p.Expect(err).NotTo(HaveOccurred())
	_, err = p.EnsureInfraEnv(p.ctx, service.InfraEnvSpec{ID: envID, Name: "env", ClusterID: sharedCluster, AutoApprove: true})
	p.Expect(err).NotTo(HaveOccurred())
	for _, h := range hosts {
		p.register(h)
	}
	for _, h := range hosts {
		p.inventory(h, nil)
	}
	for _, h := range hosts {
		p.checkDisk(h)
	}
	for _, h := range hosts {
		p.comesTo(h, wire.HostStatusInstalling)
		p.Expect(p.stage(h, wire.HostStageWritingImageToDisk)).To(Succeed(), p.status(h)+" "+p.info(h))
		p.poll(h)
	}
	return hosts
}

func (p *program) statuses(hosts []string) (all []string) {
	for _, h := range hosts {
		all = append(all, p.status(h))
	}
	return all
}

// TestHubThatWasAway: nobody could poll or report while the hub was away, so
// nothing that happened meanwhile is late as soon as it is back.
func TestHubThatWasAway(t *testing.T) {
	for name, away := range map[string]time.Duration{
		"for less than a silence":             150 * time.Second,
		"for longer than hosts may be silent": 4 * time.Minute,
		"for longer than a bootstrap host":    6 * time.Minute,
		"for longer than the stage may take":  35 * time.Minute,
		"for a weekend":                       60 * time.Hour,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := begin(t, t.TempDir())
				hosts := p.threeInstalling()
				p.end()
				pass(away)
				p = begin(t, p.dir)
				defer p.end()
				pass(time.Minute) // until the agents' polls come
				p.Expect(p.statuses(hosts)).To(HaveEach(wire.HostStatusInstallingInProgress))
				for _, h := range hosts {
					p.poll(h)
				}
				pass(9 * time.Second)
				p.Expect(p.statuses(hosts)).To(HaveEach(wire.HostStatusInstallingInProgress), p.info(hostB))
				for _, h := range hosts { // what the agents could not tell meanwhile
					p.Expect(p.stage(h, wire.HostStageRebooting)).To(Succeed())
				}
				pass(10 * time.Minute)
				p.Expect(p.statuses(hosts)).To(HaveEach(wire.HostStatusInstallingInProgress), p.info(hostB))
			})
		})
	}
}

// TestAHundredInstallationsWhileTheHubIsAway: none of them fails.
func TestAHundredInstallationsWhileTheHubIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, t.TempDir())
		_, err := p.EnsureInfraEnv(p.ctx, service.InfraEnvSpec{ID: envID, Name: "env", SingleHost: true, AutoApprove: true})
		p.Expect(err).NotTo(HaveOccurred())
		var hosts []string
		for i := range 100 {
			h := fmt.Sprintf("aaaaaaaa-0000-4000-8000-%012d", i)
			hosts = append(hosts, h)
			p.register(h)
			p.inventory(h, func(inventory *wire.Inventory) {
				inventory.Hostname = fmt.Sprint("node-", i)
				inventory.Interfaces[0].MACAddress = fmt.Sprintf("02:00:00:00:01:%02x", i)
				inventory.Interfaces[0].Ipv4Addresses = []string{fmt.Sprintf("192.0.2.%d/24", i+1)}
			})
			p.checkDisk(h)
		}
		for _, h := range hosts {
			p.comesTo(h, wire.HostStatusInstalling)
			p.Expect(p.stage(h, wire.HostStageWritingImageToDisk)).To(Succeed())
			p.poll(h)
		}
		p.end()
		pass(10 * time.Minute)
		p = begin(t, p.dir)
		defer p.end()
		for i, h := range hosts { // their polls come one after the other, within a minute and a half
			pass(900 * time.Millisecond)
			p.poll(h)
			p.Expect(p.statuses(hosts[i:])).To(HaveEach(wire.HostStatusInstallingInProgress))
		}
		for _, h := range hosts {
			p.Expect(p.stage(h, wire.HostStageDone)).To(Succeed())
		}
		p.Expect(p.statuses(hosts)).To(HaveEach(wire.HostStatusInstalled))
	})
}

// TestHostThatDiedWhileTheHubWasAway: it has one silence more, and no longer.
func TestHostThatDiedWhileTheHubWasAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := begin(t, t.TempDir())
		p.threeInstalling()
		p.end()
		pass(time.Hour)
		p = begin(t, p.dir)
		defer p.end()
		for range 3 { // one of them lives
			pass(58 * time.Second)
			p.poll(hostA)
			p.Expect(p.status(hostC)).To(Equal(wire.HostStatusInstallingInProgress))
		}
		pass(16 * time.Second)
		p.Expect(p.status(hostC)).To(Equal(wire.HostStatusError))
		p.Expect(p.info(hostC)).To(ContainSubstring("stopped answering"))
	})
}
