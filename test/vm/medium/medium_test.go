//go:build machine

package medium_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
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
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/medium"
)

// override is what a user adds to a host's config: a user's key, a file, and a
// unit that says on the console what it finds.
const override = `{"ignition": {"version": "3.2.0"},
"storage": {"files": [{"path": "/usr/local/bin/say", "mode": 493, "contents": {"source":
"data:,%23!%2Fbin%2Fsh%0Aecho%20SAY%20%24(id%20-un%20core)%20%24(cat%20%2Fetc%2Fhostname)%20%24(systemctl%20is-enabled%20agent.service)%20%24(systemctl%20is-active%20agent.service)%20end%0A"}},
{"path": "/etc/hostname", "mode": 420, "contents": {"source": "data:,host-7"}}]},
"systemd": {"units": [{"name": "say.service", "enabled": true, "contents":
"[Unit]\nWants=network-online.target\nAfter=network-online.target\n` +
	`[Service]\nType=oneshot\nStandardOutput=tty\nTTYPath=/dev/ttyS0\nExecStart=/usr/local/bin/say\n[Install]\nWantedBy=multi-user.target\n"}]}}`

// TestTheLiveSystemAppliesItsIgnition boots the medium with a config of our own
// rendering: the user, files and units of the config are there, enabled units have
// started, and the agent, which waits for a deploy step, has not.
func TestTheLiveSystemAppliesItsIgnition(t *testing.T) {
	g := NewWithT(t)
	needs.Program(t, "qemu-system-x86_64", "qemu-system-x86")
	media, err := medium.Make(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	config, err := ignition.Build(ignition.HostConfig{
		Agent:    &ignition.Agent{URL: "http://10.0.2.2:1", InfraEnvID: "3f1d2c4e-0000-4000-8000-000000000001", Version: "test", Gate: true},
		IPA:      &ignition.IPA{APIURLs: []string{"http://10.0.2.2:1"}, Command: []string{"/usr/bin/sleep", "infinity"}},
		SSHKeys:  []string{"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f admin"},
		Override: []byte(override),
	})
	g.Expect(err).NotTo(HaveOccurred())
	said := boot(t, regexp.MustCompile(`SAY .* end`), "-boot", "d", "-cdrom", embed(t, media.ISO, config))
	g.Expect(said).To(Equal("SAY core host-7 disabled inactive end"))
}

// installer is a config for a live system that installs the image that its medium
// carries, with a config and a kernel argument for the first boot.
const installer = `{"ignition": {"version": "3.2.0"},
"storage": {"files": [{"path": "/etc/target.ign", "mode": 384, "contents": {"source": "data:;base64,%s"}}]},
"systemd": {"units": [{"name": "install.service", "enabled": true, "contents":
"[Unit]\nAfter=multi-user.target\n` +
	`[Service]\nType=oneshot\nStandardOutput=tty\nStandardError=tty\nTTYPath=/dev/ttyS0\n` +
	`ExecStart=/usr/bin/coreos-installer install --offline --ignition-file /etc/target.ign --append-karg ironflow.test=1 /dev/vda\n` +
	`ExecStart=/bin/echo WRITTEN end\n[Install]\nWantedBy=graphical.target\n"}]}}`

// target is the installed system's config: it has the same unit as the live one.
const target = `{"ignition": {"version": "3.2.0"},
"storage": {"files": [{"path": "/etc/hostname", "mode": 420, "contents": {"source": "data:,host-8"}}]},
"systemd": {"units": [{"name": "say.service", "enabled": true, "contents":
"[Unit]\nAfter=installed.service\n` +
	`[Service]\nType=oneshot\nStandardOutput=tty\nTTYPath=/dev/ttyS0\n` +
	`ExecStart=/bin/sh -c 'echo SAY stamps $(ls /boot | grep -c ignition) kargs $(grep -c ironflow.test=1 /proc/cmdline) end'\n[Install]\nWantedBy=multi-user.target\n"}]}}`

// TestTheInstalledSystemSaysWhatItIs lets the real coreos-installer of the live
// system write a disk from what the medium carries, and starts that disk with both
// kinds of firmware: it has applied its config at the first boot, and only then.
func TestTheInstalledSystemSaysWhatItIs(t *testing.T) {
	g := NewWithT(t)
	needs.Program(t, "qemu-system-x86_64", "qemu-system-x86")
	media, err := medium.Make(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	vars, err := os.ReadFile(media.OVMFVars)
	g.Expect(err).NotTo(HaveOccurred())
	for _, firmware := range []string{"BIOS", "UEFI"} {
		t.Run(firmware, func(t *testing.T) {
			g := NewWithT(t)
			disk, nvram := filepath.Join(t.TempDir(), "disk"), filepath.Join(t.TempDir(), "nvram")
			g.Expect(os.WriteFile(disk, nil, 0o600)).To(Succeed())
			g.Expect(os.Truncate(disk, 3<<30)).To(Succeed())
			g.Expect(os.WriteFile(nvram, vars, 0o600)).To(Succeed())
			machine := []string{
				"-uuid", "0d1c0000-0000-4000-8000-000000000001",
				"-drive", "if=none,id=disk,format=raw,file=" + disk, "-device", "virtio-blk-pci,drive=disk,serial=DISK77,bootindex=2",
			}
			if firmware == "UEFI" {
				machine = append(machine, "-drive", "if=pflash,format=raw,readonly=on,file="+media.OVMFCode, "-drive", "if=pflash,format=raw,file="+nvram)
			}
			live := embed(t, media.ISO, fmt.Appendf(nil, installer, base64.StdEncoding.EncodeToString([]byte(target))))
			boot(t, regexp.MustCompile(`WRITTEN end`), append(machine, "-drive", "if=none,id=cd,media=cdrom,readonly=on,file="+live, "-device", "ide-cd,drive=cd,bootindex=1")...)

			want := fmt.Sprintf("INSTALLED host=host-8 machine=0d1c0000-0000-4000-8000-000000000001 ignition=%x root=DISK77", sha256.Sum256([]byte(target)))
			said := regexp.MustCompile(`(?s)INSTALLED .*SAY .* end`)
			for range 2 {
				lines := strings.Fields(boot(t, said, machine...))
				g.Expect(strings.Join(lines, " ")).To(Equal(want + " SAY stamps 0 kargs 1 end"))
			}
		})
	}
}

// embed returns a live ISO with the config in it.
func embed(t *testing.T, iso string, config []byte) string {
	t.Helper()
	file, out := filepath.Join(t.TempDir(), "config.ign"), filepath.Join(t.TempDir(), "live.iso")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), needs.CoreOSInstaller(t), "iso", "ignition", "embed", "--ignition-file", file, "--output", out, iso).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return out
}

// boot starts a machine and returns what its serial console says that matches.
func boot(t *testing.T, want *regexp.Regexp, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	console := filepath.Join(t.TempDir(), "console")
	cmd := exec.CommandContext(ctx, "qemu-system-x86_64", append([]string{
		"-M", "q35", "-accel", "tcg,thread=multi", "-cpu", vm.LeanCPU, "-smp", "2", "-m", "3072", "-nographic", "-nodefaults", "-no-reboot",
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
