//go:build machine

package medium_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/vm/medium"
)

// override is what a user adds to a host's config: a user's key, a file, and a
// unit that says on the console what it finds.
const override = `{"ignition": {"version": "3.2.0"},
"storage": {"files": [{"path": "/usr/local/bin/say", "mode": 493, "contents": {"source":
"data:,%23!%2Fbin%2Fsh%0Aecho%20SAY%20%24(id%20-un%20core)%20%24(cat%20%2Fetc%2Fhostname)%20%24(systemctl%20is-enabled%20agent.service)%20%24(systemctl%20is-active%20agent.service)%20end%0A"}},
{"path": "/etc/hostname", "mode": 420, "contents": {"source": "data:,host-7"}}]},
"systemd": {"units": [{"name": "say.service", "enabled": true, "contents":
"[Unit]\nWants=network-online.target\nAfter=network-online.target\n[Service]\nType=oneshot\nStandardOutput=tty\nTTYPath=/dev/ttyS0\nExecStart=/usr/local/bin/say\n[Install]\nWantedBy=multi-user.target\n"}]}}`

// TestTheLiveSystemAppliesItsIgnition boots the medium with a config of our own
// rendering: the user, files and units of the config are there, enabled units have
// started, and the agent, which waits for a deploy step, has not.
func TestTheLiveSystemAppliesItsIgnition(t *testing.T) {
	g := NewWithT(t)
	needs.Program(t, "qemu-system-x86_64", "qemu-system-x86")
	installer := needs.CoreOSInstaller(t)
	media, err := medium.Make(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	config, err := ignition.Build(ignition.HostConfig{
		Agent: &ignition.Agent{URL: "http://10.0.2.2:1", InfraEnvID: "3f1d2c4e-0000-4000-8000-000000000001", Version: "test", Gate: true},
		IPA:   &ignition.IPA{APIURLs: []string{"http://10.0.2.2:1"}, Command: []string{"/usr/bin/sleep", "infinity"}}, Override: []byte(override),
		SSHKeys: []string{"ssh-ed25519 AAAA test"},
	})
	g.Expect(err).NotTo(HaveOccurred())
	file, iso := filepath.Join(t.TempDir(), "config.ign"), filepath.Join(t.TempDir(), "live.iso")
	g.Expect(os.WriteFile(file, config, 0o600)).To(Succeed())
	out, err := exec.CommandContext(t.Context(), installer, "iso", "ignition", "embed", "--ignition-file", file, "--output", iso, media.ISO).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	said := boot(t, regexp.MustCompile(`SAY .* end`), "-boot", "d", "-cdrom", iso)
	g.Expect(said).To(Equal("SAY core host-7 disabled inactive end"))
}

// boot starts a machine and returns what its serial console says that matches.
func boot(t *testing.T, want *regexp.Regexp, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	console := filepath.Join(t.TempDir(), "console")
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", append([]string{
		"-M", "q35", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", "3072", "-nographic", "-nodefaults", "-no-reboot",
		"-serial", "file:" + console, "-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile=", "-device", "virtio-rng-pci",
	}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		cancel()
		<-ended
	}()
	for {
		raw, _ := os.ReadFile(console) // not there yet
		if found := want.Find(raw); found != nil {
			return string(found)
		}
		if strings.Contains(string(raw), "EMERGENCY end") {
			t.Fatalf("the initrd has failed:\n%s", raw)
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("the machine has ended: %v\n%s", err, raw)
		case <-ctx.Done():
			t.Fatalf("the machine has not said %s:\n%s", want, raw)
		case <-time.After(time.Second):
		}
	}
}
