package ignition_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/test/liveimage"
	"github.com/ironflow/ironflow/test/needs"
)

// Disks with several paths, and those of iSCSI, are there before anybody lists disks.
func TestDisksOfStorageNetworks(t *testing.T) {
	onlyIPA, onlyAgent := demo(t), demo(t)
	onlyIPA.Agent, onlyAgent.IPA, onlyAgent.Agent.Gate = nil, nil, false
	for before, c := range map[string]ignition.HostConfig{"agent.service ironic-agent.service": demo(t), "ironic-agent.service": onlyIPA, "agent.service": onlyAgent} {
		t.Run(before, func(t *testing.T) {
			g := NewWithT(t)
			g.Expect(unit(t, c, "multipathd.service").Enabled).To(BeTrue())
			iscsi := unit(t, c, "iscsistart.service")
			g.Expect(iscsi.Enabled).To(BeTrue())
			g.Expect(iscsi.Contents).To(ContainSubstring("Before=" + before + "\n"))
			g.Expect(iscsi.Contents).To(MatchRegexp(`TimeoutStartSec=\d+\n`), "it keeps nobody waiting for ever")
			raw, err := ignition.Build(c)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(render(t, raw))).To(ContainSubstring("=== file /etc/multipath.conf 0644\n"))
		})
	}
	c := demo(t)
	c.Override = override(`{"ignition":{"version":"3.2.0"},"systemd":{"units":[{"name":"multipathd.service","enabled":false},{"name":"iscsistart.service","mask":true}]},
		"storage":{"files":[{"path":"/etc/multipath.conf","contents":{"source":"data:,mine"}}]}}`)
	g := NewWithT(t)
	g.Expect(unit(t, c, "multipathd.service").Enabled).To(BeFalse())
	g.Expect(unit(t, c, "iscsistart.service").Masked).To(BeTrue())
	raw, err := ignition.Build(c)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(render(t, raw))).To(ContainSubstring("=== file /etc/multipath.conf 0644\nmine"))
}

// Ignition looks at the form of units only: what systemd would ignore, systemd says.
func TestSystemdKnowsEveryLineOfTheUnits(t *testing.T) {
	analyze := needs.Program(t, "systemd-analyze", "systemd")
	foreign := demo(t)
	foreign.Agent.Gate, foreign.Agent.Image = false, "registry.example.com/agent:v1"
	program := demo(t)
	program.IPA.Image, program.IPA.Command = "", []string{"/usr/bin/ironic-python-agent"}
	for name, c := range map[string]ignition.HostConfig{"full": full(t), "demo": demo(t), "foreign agent": foreign, "IPA as a program": program} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			raw, err := ignition.Build(c)
			g.Expect(err).NotTo(HaveOccurred())
			d, err := liveimage.Decode(raw)
			g.Expect(err).NotTo(HaveOccurred())
			dir := t.TempDir()
			for _, u := range d.Units {
				if u.Contents == "" {
					continue
				}
				file := filepath.Join(dir, u.Name)
				g.Expect(os.WriteFile(file, []byte(u.Contents), 0o600)).To(Succeed())
				// It also complains that the programs are not here.
				out, _ := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", file).CombinedOutput()
				for line := range strings.Lines(string(out)) {
					g.Expect(line).NotTo(And(HavePrefix(dir), Not(ContainSubstring("is not executable"))), u.Name)
				}
			}
		})
	}
}
