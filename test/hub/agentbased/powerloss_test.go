//go:build e2e

package agentbased

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/hub/wire"
)

// disk gives node zero the disk that its installation is for.
func (s *site) disk() string {
	s.Helper()
	path := filepath.Join(s.hosts[0], "/dev/nvme0n1")
	s.write(s.hosts[0], "/dev/nvme0n1", "")
	s.Expect(os.Truncate(path, 2<<30)).To(Succeed())
	s.Expect(os.MkdirAll(filepath.Join(s.hosts[0], "/sys/block/nvme0n1"), 0o755)).To(Succeed())
	return path
}

// hasCopy tells whether a copy of the hub's state is on the disk.
func (s *site) hasCopy(disk string) bool {
	s.Helper()
	f, err := os.Open(disk)
	s.Expect(err).NotTo(HaveOccurred())
	defer f.Close()
	if _, err := f.Seek(0, unix.SEEK_DATA); err != nil {
		return false // nobody has written to it
	}
	raw, err := io.ReadAll(f)
	s.Expect(err).NotTo(HaveOccurred())
	return bytes.Contains(raw, []byte("IRONFLOW HUB COPY"))
}

// losesPower takes the power of node zero away, and all that was in its memory with it.
func (s *site) losesPower(more ...*process) {
	s.Helper()
	for _, p := range append(more, s.hub, s.agents[0]) {
		p.kill()
	}
	s.Expect(os.RemoveAll(s.data())).To(Succeed())
	s.Expect(os.RemoveAll(filepath.Join(s.hosts[0], "/etc/assisted/client_config"))).To(Succeed())
}

// TestNodeZeroLosesItsPowerLate: others have left for their disks by then, and are never
// seen again. The new hub goes on from what the old one has left on the disk of its host.
func TestNodeZeroLosesItsPowerLate(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		// slow is the time of a stage of the third host.
		slow time.Duration
		// when is what has been reached as the power is lost.
		when func(*site)
	}{
		"none has left, and one writes its disk":        {6 * time.Second, func(s *site) { s.reaches(1, wire.HostStageWritingImageToDisk) }},
		"one has left, and another one writes its disk": {6 * time.Second, func(s *site) { s.reaches(1, wire.HostStageRebooting) }},
		"all others have left": {2 * time.Second, func(s *site) {
			s.reaches(1, wire.HostStageRebooting)
			s.reaches(2, wire.HostStageRebooting)
		}},
		"it writes its own disk": {2 * time.Second, func(s *site) { s.reaches(0, wire.HostStageWritingImageToDisk) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, 3)
			disk := s.disk()
			last := hardware(2, "SER-late", []scenario.NIC{{Name: "eno1", MAC: mac(2), IPv4: []string{"198.51.100.12/24"}, Gateway: "198.51.100.1", SpeedMbps: 25000}})
			s.write(s.hosts[2], "/sys/class/dmi/id/board_serial", "SER-late\n")
			last.Install.DefaultStage = scenario.Duration{Duration: tc.slow}
			s.Expect(last.Save(filepath.Join(s.hosts[2], "scenario.yaml"))).To(Succeed())
			s.startHub()
			s.register()
			for i := range s.hosts {
				s.agents = append(s.agents, s.boot(i))
			}
			s.oneshot("agent-installer-client", "configure")
			s.Expect(s.hasCopy(disk)).To(BeFalse(), "nothing is written before the installation")
			lead := s.start(s.hosts[0], nil, "ironflow-agent-based", "start-cluster-installation")
			watch := s.waitFor()
			tc.when(s)
			before := s.cluster()

			s.losesPower(lead)
			s.startHub()
			s.register()
			s.agents[0] = s.boot(0)
			s.oneshot("agent-installer-client", "configure")
			s.start(s.hosts[0], nil, "ironflow-agent-based", "start-cluster-installation")
			s.Expect(s.cluster().ID).To(Equal(before.ID), "it is the same installation")
			s.Expect(s.story()).To(ContainSubstring("the installation goes on from the copy of the hub's state on " + disk))
			s.reaches(0, wire.HostStageRebooting)
			s.Expect([]wire.HostStage{s.stage(1), s.stage(2)}).To(HaveEach(wire.HostStageRebooting))
			for i, a := range s.agents {
				s.ends(a)
				h := s.hostOf(i)
				if i > 0 {
					s.Expect(s.told(h.ID, "reached stage "+string(wire.HostStageWritingImageToDisk))).To(Equal(1), "written once: %s", s.story)
				}
			}
			s.ends(watch)
			s.Expect(s.hasCopy(disk)).To(BeFalse(), "whoever boots the image again begins anew")
		})
	}
}

// TestNodeZeroWithOtherSettings: the power of all is lost in the middle of the installation, and the
// image that they boot then was made again with other manifests, and the same keys.
func TestNodeZeroWithOtherSettings(t *testing.T) {
	t.Parallel()
	s := newSite(t, 3)
	disk := s.disk()
	const settings = "/usr/local/share/assisted-service/assisted-service.env"
	raw, err := os.ReadFile(filepath.Join(s.hosts[0], settings))
	s.Expect(err).NotTo(HaveOccurred())
	of := func(digest string) { s.write(s.hosts[0], settings, string(raw)+"SETTINGS_DIGEST="+digest+"\n") }
	of("a")
	s.startHub()
	s.register()
	for i := range s.hosts {
		s.agents = append(s.agents, s.boot(i))
	}
	s.oneshot("agent-installer-client", "configure")
	lead := s.start(s.hosts[0], nil, "ironflow-agent-based", "start-cluster-installation")
	s.reaches(1, wire.HostStageWritingImageToDisk)
	before := s.cluster()
	s.Expect(s.hasCopy(disk)).To(BeTrue())

	s.losesPower(lead, s.agents[1], s.agents[2])
	of("b")
	s.startHub()
	var all []wire.Cluster
	s.Expect(s.get("/clusters", &all)).To(Succeed())
	s.Expect(all).To(BeEmpty(), "the old cluster is not taken up")
	s.Expect(os.ReadFile(filepath.Join(s.hosts[0], "/etc/motd.d/70_hub-state"))).To(ContainSubstring(
		"The installation begins anew: the copy of the hub's state on " + disk + " is of an image with other settings"))
	s.register()
	s.Expect(s.cluster().ID).NotTo(Equal(before.ID))
}
