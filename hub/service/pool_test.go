package service_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestHostsOfThePool(t *testing.T) {
	scenes{
		"that fall silent": func(t *testing.T) {
			w := start(t, service.Options{}, &service.InfraEnvSpec{})
			w.register(hostA)
			pass(4 * time.Minute)
			w.is(hostA, wire.HostStatusDisconnectedUnbound, "does not answer")
		},
		"that are too small": func(t *testing.T) {
			w := start(t, service.Options{}, &service.InfraEnvSpec{})
			w.register(hostA)
			w.inventory(hostA, func(i *wire.Inventory) { i.CPU.Count = 0 })
			w.is(hostA, wire.HostStatusInsufficientUnbound, "minimum requirements")
		},
		"of which two have one id": func(t *testing.T) {
			w := start(t, service.Options{}, &service.InfraEnvSpec{})
			w.register(hostA)
			pass(time.Second)
			w.inventory(hostA, nil)
			w.inventory(hostA, func(i *wire.Inventory) { i.Interfaces[0].MACAddress = "02:00:00:00:00:ee" })
			w.is(hostA, wire.HostStatusInsufficientUnbound, "Another machine has the host's id")
		},
		"that fall silent before they register for their cluster": func(t *testing.T) {
			w := start(t, service.Options{}, &service.InfraEnvSpec{AutoApprove: true})
			_, err := w.EnsureCluster(w.ctx, service.ClusterSpec{ID: sharedCluster, Name: "edge", Masters: 1})
			w.Expect(err).NotTo(HaveOccurred())
			w.register(hostA)
			w.inventory(hostA, nil)
			_, err = w.BindHost(w.ctx, key(hostA), sharedCluster)
			w.Expect(err).NotTo(HaveOccurred())
			w.is(hostA, wire.HostStatusBinding, "")
			connected := func() string {
				h, err := w.Host(w.ctx, key(hostA))
				w.Expect(err).NotTo(HaveOccurred())
				return h.ValidationsInfo
			}
			w.Expect(connected()).To(MatchRegexp(`"id":"connected","status":"success"`))
			pass(4 * time.Minute)
			w.Expect(connected()).To(MatchRegexp(`"id":"connected","status":"failure"`), "nobody learns otherwise that it will never come")
			w.register(hostA)
			w.Expect(connected()).To(MatchRegexp(`"id":"connected","status":"success"`))
		},
		"that are told to leave an installed cluster": func(t *testing.T) {
			w := start(t, service.Options{}, &service.InfraEnvSpec{AutoApprove: true})
			_, err := w.EnsureCluster(w.ctx, service.ClusterSpec{ID: sharedCluster, Name: "edge", Masters: 1})
			w.Expect(err).NotTo(HaveOccurred())
			w.register(hostA)
			w.inventory(hostA, nil)
			_, err = w.BindHost(w.ctx, key(hostA), sharedCluster)
			w.Expect(err).NotTo(HaveOccurred())
			w.installing(hostA)
			w.reaches(hostA, wire.HostStageDone)
			_, err = w.UnbindHost(w.ctx, key(hostA))
			w.Expect(err).NotTo(HaveOccurred())
			w.is(hostA, wire.HostStatusUnbindingPendingUserAction, "Reboot the host into its live image")
			w.Expect(w.register(hostA)).To(Equal(wire.HostStatusDiscoveringUnbound))
		},
	}.play(t)
}
