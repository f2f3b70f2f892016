package service_test

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// ofAll is the token of all hosts of the infra-env.
var ofAll = auth.Claims{InfraEnvID: envID, Generation: 1}

func (w *world) registerBy(host string, by auth.Claims) error {
	_, err := w.RegisterHost(w.ctx, service.Registration{InfraEnvID: envID, HostID: host, AgentVersion: "agent:1", By: by, WantsToken: true})
	return err
}

// TestASilentHostIsTakenOver: a machine that restarted in the middle of its installation, and
// has lost its token, registers once its agent counts as silent.
func TestASilentHostIsTakenOver(t *testing.T) {
	for name, tc := range map[string]struct {
		silent time.Duration
		stage  wire.HostStage
		taken  bool
	}{
		"an agent that answers":                 {4 * time.Minute, wire.HostStageInstalling, false},
		"an agent that is silent":               {6 * time.Minute, wire.HostStageInstalling, true},
		"nobody is expected to after a restart": {time.Minute, wire.HostStageRebooting, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := start(t, service.Options{Timers: service.Timers{Soft: true}}, nil)
				w.Expect(w.registerBy(hostA, ofAll)).To(Succeed())
				w.inventory(hostA, nil)
				w.checkDisk(hostA)
				w.comesTo(hostA, wire.HostStatusInstalling)
				w.Expect(w.stage(hostA, tc.stage)).To(Succeed())
				w.poll(hostA)
				first, err := w.Speaker(w.ctx, key(hostA), ofAll)
				w.Expect(err).NotTo(HaveOccurred())
				own := auth.Claims{InfraEnvID: envID, Generation: 1, HostID: hostA, Serial: first.Bearer.Serial}
				pass(tc.silent)
				err = w.registerBy(hostA, ofAll)
				now, lookErr := w.Speaker(w.ctx, key(hostA), own)
				w.Expect(lookErr).NotTo(HaveOccurred())
				w.Expect(now.Takes).To(Equal(!tc.taken), "the token of the earlier registration")
				if tc.taken {
					w.Expect(err).NotTo(HaveOccurred())
					return
				}
				w.Expect(err).To(MatchError(ContainSubstring("once the agent has been silent for 5m0s")))
				w.Expect(w.registerBy(hostA, own)).To(Succeed(), "it proves that it is the machine")
			})
		})
	}
}

// TestTwinsAreForgotten once one of two machines with one id is gone: the other is installed.
func TestTwinsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, service.Options{}, nil)
		w.register(hostA)
		pass(time.Second)
		w.inventory(hostA, nil)
		w.inventory(hostA, func(i *wire.Inventory) { i.Interfaces[0].MACAddress = "02:00:00:00:00:ee" })
		w.Expect(w.status(hostA)).To(Equal(wire.HostStatusInsufficient), w.info(hostA))
		var inventory wire.Inventory
		h, err := w.Host(w.ctx, key(hostA))
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(json.Unmarshal([]byte(h.Inventory), &inventory)).To(Succeed())
		w.Expect(inventory.Interfaces[0].MACAddress).To(Equal("02:00:00:00:00:01"), "they do not replace each other")
		for range 11 {
			pass(time.Minute)
			w.poll(hostA)
		}
		w.checkDisk(hostA)
		w.comesTo(hostA, wire.HostStatusInstalling)
	})
}

// TestAnotherCardIsNoOtherMachine: somebody changed it, and booted the machine again. Records have times in milliseconds.
func TestAnotherCardIsNoOtherMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := start(t, service.Options{}, &service.InfraEnvSpec{})
		w.register(hostA)
		pass(200 * time.Microsecond)
		w.inventory(hostA, nil)
		pass(200 * time.Microsecond)
		w.register(hostA)
		w.inventory(hostA, func(i *wire.Inventory) { i.Interfaces[0].MACAddress = "02:00:00:00:00:ee" })
		events, _, err := w.Events(w.ctx, store.EventFilter{})
		w.Expect(err).NotTo(HaveOccurred())
		w.Expect(events).NotTo(ContainElement(HaveField("Name", "host_id_not_unique")))
	})
}
