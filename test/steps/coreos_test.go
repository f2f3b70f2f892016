//go:build e2e

package steps_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"github.com/ulikunitz/xz"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/confirm"
	"github.com/ironflow/ironflow/customdeploy/coreos"
	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

const (
	diskSerial = "S-1"
	keyfile    = "/etc/NetworkManager/system-connections/eno1.nmconnection"
	network    = "[connection]\nid=eno1\ntype=ethernet\n"
	// diskSize is less than a disk without hints must have.
	diskSize = 1 << 30
)

// liveSystem is a booted machine with the real coreos-installer and one disk, a
// loop device, as CoreOS's live system has them.
type liveSystem struct {
	*systemdtest.Machine
	disk, file string
}

func newLiveSystem(t *testing.T) *liveSystem {
	t.Helper()
	installer := needs.CoreOSInstaller(t)
	needs.Program(t, "sfdisk", "fdisk")
	needs.Program(t, "losetup", "mount")
	s := &liveSystem{Machine: systemdtest.Boot(t), file: filepath.Join(t.TempDir(), "disk")}
	g := NewWithT(t)
	g.Expect(os.WriteFile(s.file, nil, 0o600)).To(Succeed())
	g.Expect(os.Truncate(s.file, diskSize)).To(Succeed())
	s.disk = output(t, "losetup", "--find", "--show", "--partscan", s.file)
	// Detached while it is open, it goes when it is closed: also when this process is killed.
	open, err := os.Open(s.disk)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = open.Close() })
	output(t, "losetup", "--detach", s.disk)

	s.install(t, installer, "/usr/bin/coreos-installer")
	systemdtest.Install(t, s.Host, systemdtest.Build(t, "github.com/ironflow/ironflow/cmd/ironflow-step"), hostfile.StepBinary)
	s.Run(t, "mknod", "-m", "600", s.disk, "b", "7", strings.TrimPrefix(s.disk, "/dev/loop"))
	// Without udev: coreos-installer asks it for the partitions, and lsblk for what is on them.
	s.script(t, "/usr/sbin/udevadm", udevadm)
	s.script(t, "/usr/sbin/lsblk", fmt.Sprintf(lsblk, s.disk, diskSize, diskSerial, s.disk))
	s.Run(t, "mkdir", "-p", "/run/udev/data", filepath.Dir(keyfile))
	s.Run(t, "touch", "/run/udev/control")
	g.Expect(os.WriteFile(s.Host.Path(keyfile), []byte(network), 0o600)).To(Succeed())
	return s
}

// udevadm does what udevd would have done when the queue is empty: nodes and
// records of the partitions.
const udevadm = `[ "$1" = settle ] || exit 0
for disk in /dev/loop*; do
  name=${disk#/dev/}
  case $name in loop*p[0-9]*) continue ;; esac
  partx --update "$disk" 2>/dev/null
  for sys in /sys/block/$name/${name}p*; do
    [ -e "$sys/dev" ] || continue
    number=$(cat "$sys/dev") node=/dev/${sys##*/}
    rm -f "$node" # partx may have given it another number
    mknod -m 600 "$node" b "${number%%:*}" "${number#*:}"
    { echo I:1; blkid -p -o udev "$node" | sed s/^/E:/; } >"/run/udev/data/b$number"
  done
done
`

// lsblk shows this computer's disks, too: the step gets to see only the machine's.
const lsblk = `case "$*" in
*TYPE,SIZE*) echo '{"blockdevices": [{"path": "%s", "type": "disk", "size": %d, "rota": false, "ro": false, "serial": "%s"}]}' ;;
*FSTYPE) echo '{"blockdevices": [{"path": "%s", "type": "disk", "fstype": null}]}' ;;
*) exec /usr/bin/lsblk "$@" ;;
esac
`

func (s *liveSystem) script(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(s.Host.Path(path), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
}

// install copies a program with the libraries that the machine lacks.
func (s *liveSystem) install(t *testing.T, from, to string) {
	t.Helper()
	systemdtest.Install(t, s.Host, from, to)
	libraries, _ := exec.CommandContext(t.Context(), "ldd", from).Output() // a static program has none, which is an error of ldd
	for line := range strings.Lines(string(libraries)) {
		_, rest, found := strings.Cut(line, "=> /")
		if !found {
			continue
		}
		library := "/" + strings.Fields(rest)[0]
		if _, err := os.Stat(s.Host.Path(library)); err != nil {
			systemdtest.Install(t, s.Host, library, library)
		}
	}
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// step runs a deploy step inside the machine.
func (s *liveSystem) step(t *testing.T, name string, info map[string]any) (int, report) {
	t.Helper()
	g := NewWithT(t)
	node := map[string]any{"uuid": nodeUUID, "instance_info": info, "driver_internal_info": map[string]any{
		"deploy_steps": []any{map[string]any{"step": coreos.Name, "interface": "deploy"}},
	}}
	in, err := json.Marshal(map[string]any{"node": node, "ports": []any{}, "args": map[string]any{}})
	g.Expect(err).NotTo(HaveOccurred())
	cmd := s.Command(t.Context(), hostfile.StepBinary, name)
	var out, log bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &log
	_ = cmd.Run() // the exit code is looked at below
	t.Logf("%s%s", out.String(), log.String())
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	var r report
	g.Expect(json.Unmarshal([]byte(lines[len(lines)-1]), &r)).To(Succeed())
	return cmd.ProcessState.ExitCode(), r
}

// checksum is that of the whole disk.
func (s *liveSystem) checksum(t *testing.T) string {
	t.Helper()
	f, err := os.Open(s.disk)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// serveImage makes the image and serves it inside the machine's network.
func (s *liveSystem) serveImage(t *testing.T) (url, digest string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test-coreos.raw")
	output(t, "bash", "../fixtures/coreos-disk/make.sh", path)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	listener := s.Listen(t)
	server := &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "image.raw", time.Time{}, bytes.NewReader(raw))
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String() + "/image.raw", hex.EncodeToString(sum[:])
}

// inside reads a file of the installed system's boot partition.
func (s *liveSystem) inside(t *testing.T, pattern string) string {
	t.Helper()
	return s.Run(t, "sh", "-c", "udevadm settle; mount -o ro "+s.disk+"p3 /mnt && cat /mnt/"+pattern+"; status=$?; umount /mnt; exit $status")
}

const userData = `{"ignition": {"version": "3.2.0"}, "storage": {"files": [{"path": "/etc/motd", "contents": {"source": "data:,hello"}}]}}`

// TestInstallCoreOS runs the step with the real coreos-installer, from the wrong
// hint to the installed disk.
func TestInstallCoreOS(t *testing.T) {
	s := newLiveSystem(t)
	g := NewWithT(t)
	url, digest := s.serveImage(t)
	info := func(serial, digest string) map[string]any {
		return map[string]any{
			"root_device":  map[string]any{"serial": "s== " + serial},
			"image_source": url, "image_os_hash_algo": "sha256", "image_os_hash_value": digest,
			"configdrive": map[string]any{"user_data": userData, "meta_data": map[string]any{
				"coreos_append_karg": []any{"console=ttyS0,115200", "rd.neednet=1"}, "coreos_copy_network": true,
			}},
		}
	}
	empty := s.checksum(t)

	code, r := s.step(t, coreos.Name, info("S-2", digest))
	g.Expect(code).To(Equal(exitcode.StepFailed), "%+v", r)
	g.Expect(r.Reason).To(ContainSubstring("no disk fits the root device hints"))
	g.Expect(s.checksum(t)).To(Equal(empty), "a wrong hint writes nothing")

	begin := time.Now()
	code, r = s.step(t, coreos.Name, info(diskSerial, digest))
	g.Expect(code).To(Equal(exitcode.StepDone), "%+v", r)
	t.Logf("figure: installed in %.1f s", time.Since(begin).Seconds())
	g.Expect(r.Result).To(HaveKeyWithValue("disk", s.disk))
	g.Expect(s.inside(t, "ignition/config.ign")).To(And(
		ContainSubstring(`{"contents":{"source":"data:,hello"},"path":"/etc/motd"}`), ContainSubstring(`"path":"/etc/hostname"`), ContainSubstring("data:,"+s.Run(t, "hostname"))))
	g.Expect(s.inside(t, "loader/entries/*.conf")).To(MatchRegexp(`(?m)^options .* console=ttyS0,115200 rd.neednet=1$`))
	appended, err := xz.NewReader(strings.NewReader(s.inside(t, "ostree/test/initramfs.img")))
	g.Expect(err).NotTo(HaveOccurred())
	archive, err := io.ReadAll(appended)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(archive)).To(And(ContainSubstring("eno1.nmconnection"), ContainSubstring(network)), "a cpio behind the initramfs")

	code, r = s.step(t, confirm.Name, nil)
	g.Expect(code).To(Equal(exitcode.StepDone), "%+v", r)
	g.Expect(r.Result).To(And(HaveKeyWithValue("disk", s.disk), HaveKeyWithValue("image_digest", digest)))
}
