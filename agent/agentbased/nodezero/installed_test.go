package nodezero

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// record is of an installation by the same image.
func record(context.Context) *installed.Record {
	return &installed.Record{Disk: "/dev/disk/by-id/wwn-0x1", At: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
}

const (
	installedBefore = "This host was installed by this image at 2026-03-04T05:06:07Z, to /dev/disk/by-id/wwn-0x1"
	doesNotBegin    = installedBefore + ", and does not begin again: set its boot order to that disk. To install again, and lose what is on the disks, " +
		"boot this host with the kernel argument ironflow.reinstall=1, or all hosts from an image that was made into another folder or with other settings.\n"
)

func (s *scene) saysOfBefore() string {
	synctest.Wait()
	raw, err := os.ReadFile(s.dir.Path("/etc/motd.d/60_installed"))
	if err != nil {
		return ""
	}
	return string(raw)
}

// TestAHostThatWasInstalledStartsNoHub: it would be installed again each time that its firmware starts the image.
func TestAHostThatWasInstalledStartsNoHub(t *testing.T) {
	for name, tc := range map[string]struct {
		files map[string]string
		have  []Address
		// later is an address that comes once the host is found not to be the rendezvous host.
		later bool
	}{
		"the rendezvous host":        {map[string]string{places.RendezvousHost: "NODE_ZERO_IP=192.0.2.1\n"}, []Address{at("192.0.2.1", "eno1")}, false},
		"it gets the address later":  {map[string]string{places.RendezvousHost: "NODE_ZERO_IP=192.0.2.1\n"}, []Address{at("192.0.2.2", "eno1")}, true},
		"it joins a running cluster": {map[string]string{places.AddNodes: ""}, []Address{at("192.0.2.2", "eno1")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				dir := hostfile.Dir{Root: t.TempDir()}
				for file, text := range tc.files {
					write(t, dir, file, text)
				}
				write(t, dir, places.NodeZero, "BOOTSTRAP_HOST_MAC=of an earlier boot\n")
				s := beginBefore(t, dir, record, tc.have...)
				<-time.After(time.Hour)
				if tc.later {
					g.Expect(<-s.ready).To(Equal(settled), "the agent of a host that follows another one goes on: that hub decides")
					g.Expect(s.saysOfBefore()).To(Equal(installedBefore + ": set its boot order to that disk. It is installed again only if a hub on the rendezvous host orders it.\n"))
					s.set(tc.have[0], at("192.0.2.1", "eno1"))
				}
				g.Expect(s.saysOfBefore()).To(Equal(doesNotBegin))
				g.Expect(places.Exists(dir, places.NodeZero)).To(BeFalse())
				g.Expect(s.ready).To(BeEmpty(), "no unit that waits for the decision goes on")
				g.Expect(s.units.Load()).To(BeZero())
				g.Expect(s.ended).To(BeEmpty())
			})
		})
	}
}

// TestAHostThatWasNotInstalledBefore begins, and what an earlier run has said is over.
func TestAHostThatWasNotInstalledBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		write(t, dir, places.RendezvousHost, "NODE_ZERO_IP=192.0.2.1\n")
		log := slog.New(slog.DiscardHandler)
		(&messages.Console{Dir: dir, Commands: noTerminal{}, Log: log}).Show(t.Context(), messages.InstalledFollows, "then", "a disk that was wiped since")
		s := beginBefore(t, dir, func(context.Context) *installed.Record { return nil }, at("192.0.2.1", "eno1"))
		_, err := s.end()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.saysOfBefore()).To(BeEmpty())
		g.Expect(places.Exists(dir, places.NodeZero)).To(BeTrue())
	})
}
