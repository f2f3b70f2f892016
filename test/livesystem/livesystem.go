// Package livesystem makes a booted systemd (package systemdtest) into a CoreOS
// live system with one disk that can be written for real: a loop device, with the
// real coreos-installer, and scripts in place of udev, which no container has. What
// the kernel calls loopN looks like a disk sda, so that an inventory lists it.
package livesystem

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/systemd/systemdtest"
)

// Serial is the disk's serial number.
const Serial = "S-1"

// ImageFile is where [System.AddImage] puts the image inside the machine.
const ImageFile = "/usr/share/test-coreos.raw"

// System is a machine in its live system.
type System struct {
	*systemdtest.Machine
	// Disk is the kernel's name of the disk, /dev/loopN; Name is how an inventory
	// knows it.
	Disk, Name string
	// Bytes is its size.
	Bytes int64
}

// Need skips the test where a live system cannot be made, and says why.
func Need(t testing.TB) {
	t.Helper()
	systemdtest.Need(t)
}

// New puts coreos-installer and the disk into the machine.
func New(t *testing.T, m *systemdtest.Machine, disk Disk) *System {
	t.Helper()
	installer := needs.CoreOSInstaller(t)
	s := &System{Machine: m, Disk: disk.attach(t), Name: "/dev/sda", Bytes: disk.Bytes}
	s.InstallWithLibraries(t, installer, "/usr/bin/coreos-installer")
	number := strings.TrimPrefix(s.Disk, "/dev/loop")
	s.Run(t, "mknod", "-m", "600", s.Disk, "b", "7", number)
	s.Run(t, "ln", "-s", filepath.Base(s.Disk), s.Name)
	s.Script(t, "/usr/sbin/udevadm", udevadm)
	s.Script(t, "/usr/sbin/lsblk", fmt.Sprintf(lsblk, s.Disk, disk.Bytes, Serial, s.Disk))
	s.Run(t, "mkdir", "-p", "/run/udev/data")
	s.Run(t, "touch", "/run/udev/control")
	s.Run(t, "sh", "-c", fmt.Sprintf(sysfs, disk.Bytes/512, number, cmp.Or(disk.Board, "SER-1")))
	return s
}

// udevadm does what udevd would have done when the queue is empty: nodes and
// records of the partitions.
const udevadm = `[ "$1" = settle ] || exit 0
[ ! -x /usr/bin/udevadm ] || /usr/bin/udevadm settle # of a machine with udev, where nobody makes nodes
for disk in /dev/loop*; do
  name=${disk#/dev/}
  case $name in loop*p[0-9]*) continue ;; esac
  partx --update "$disk" 2>/dev/null
  for sys in /sys/dev/block/$(cat /sys/class/block/$name/dev)/${name}p*; do
    [ -e "$sys/dev" ] || continue
    number=$(cat "$sys/dev") node=/dev/${sys##*/}
    rm -f "$node" # partx may have given it another number
    mknod -m 600 "$node" b "${number%%:*}" "${number#*:}"
    { echo I:1; blkid -p -o udev "$node" | sed s/^/E:/; } >"/run/udev/data/b$number"
  done
done
`

// lsblk shows this computer's disks, too: without a device it gets to see only the machine's.
const lsblk = `case "$*" in
*TYPE,SIZE*) echo '{"blockdevices": [{"path": "%s", "type": "disk", "size": %d, "rota": false, "ro": false, "serial": "%s"}]}' ;;
*FSTYPE) echo '{"blockdevices": [{"path": "%s", "type": "disk", "fstype": null}]}' ;;
*) exec /usr/bin/lsblk "$@" ;;
esac
`

// sysfs shows the disk as sda, and no other: this computer's disks are not the machine's.
// An overlay gives it a firmware's serial number, which is its identity.
const sysfs = `set -e
mount -t tmpfs block /sys/block
mkdir -p /run/sysfs/upper /run/sysfs/work
mount -t overlay class -o lowerdir=/sys/class,upperdir=/run/sysfs/upper,workdir=/run/sysfs/work /sys/class
rm -rf /sys/class/dmi && mkdir -p /sys/class/dmi/id # this computer has a firmware of its own
echo %[3]s >/sys/class/dmi/id/board_serial
ln -s ../devices/virtual/block/loop%[2]s /sys/block/loop%[2]s # for lsblk
mkdir -p /sys/block/sda/queue /sys/block/sda/device /sys/block/sda/holders
cd /sys/block/sda
echo %[1]d >size
echo 7:%[2]s >dev
echo 0 >queue/rotational
echo 0 >removable
echo 0 >hidden
echo 0 >ro
echo TestDisk >device/model
echo Ironflow >device/vendor
`

// Script puts a shell script into the machine.
func (s *System) Script(t testing.TB, path, text string) {
	t.Helper()
	must(t, os.WriteFile(s.Host.Path(path), []byte("#!/bin/sh\n"+text), 0o755))
}

// InstallWithLibraries copies a program with the libraries that the machine lacks.
func (s *System) InstallWithLibraries(t testing.TB, from, to string) {
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

// MakeImage makes a small image of CoreOS's layout and returns its path here.
// makeScript is the path of test/fixtures/coreos-disk/make.sh.
func MakeImage(t testing.TB, makeScript string) string {
	t.Helper()
	needs.Program(t.(*testing.T), "sfdisk", "fdisk")
	path := filepath.Join(t.TempDir(), "test-coreos.raw")
	Output(t, "bash", makeScript, path)
	return path
}

// AddImage copies the image into the machine, to [ImageFile].
func (s *System) AddImage(t testing.TB, image string) {
	t.Helper()
	raw, err := os.ReadFile(image)
	must(t, err)
	must(t, os.WriteFile(s.Host.Path(ImageFile), raw, 0o600)) //nolint:gosec // a path of the test
}

// BringImage lets the live system install from the image when nobody names
// another, as a real one does from what it brings along.
func (s *System) BringImage(t testing.TB, image string) {
	t.Helper()
	s.AddImage(t, image)
	s.Script(t, "/usr/local/bin/coreos-installer", `[ "$1" = install ] && { shift; set -- install --image-file `+ImageFile+` "$@"; }
exec /usr/bin/coreos-installer "$@"
`)
}

// AddNIC gives the machine a network interface with an address.
func (s *System) AddNIC(t testing.TB, mac string) {
	t.Helper()
	for _, line := range []string{
		"ip link add eno1 address " + mac + " type veth peer name peer1",
		"ip address add 192.0.2.10/24 dev eno1", "ip link set peer1 up", "ip link set eno1 up", "ip route add default via 192.0.2.1",
	} {
		Output(t, "nsenter", append([]string{"--net=" + s.Host.Path("/proc/1/ns/net"), "--"}, strings.Fields(line)...)...)
	}
}

// Checksum is that of the disk's start, which the image fills less than half of,
// and of its end, where a second partition table would be.
func (s *System) Checksum(t testing.TB) string {
	t.Helper()
	const head, tail = 256 << 20, 1 << 20
	sum := sha256.New()
	sum.Write(s.Section(t, 0, min(head, s.Bytes)))
	sum.Write(s.Section(t, max(0, s.Bytes-tail), min(tail, s.Bytes)))
	return hex.EncodeToString(sum.Sum(nil))
}

// Boot reads a file of the installed system's boot partition, byte for byte.
func (s *System) Boot(t testing.TB, pattern string) string {
	t.Helper()
	out, err := s.Command(t.Context(), "sh", "-c", "udevadm settle; mount -o ro "+s.Disk+"p3 /mnt && cat /mnt/"+pattern+"; status=$?; umount /mnt; exit $status").Output()
	must(t, err)
	return string(out)
}

// Section reads bytes of the disk.
func (s *System) Section(t testing.TB, offset, length int64) []byte {
	t.Helper()
	return Section(t, s.Disk, offset, length)
}

// Write writes bytes to the disk.
func (s *System) Write(t testing.TB, offset int64, raw []byte) {
	t.Helper()
	f, err := os.OpenFile(s.Disk, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteAt(raw, offset)
	must(t, errors.Join(err, f.Sync(), f.Close()))
}

// Section reads bytes of a file.
func Section(t testing.TB, path string, offset, length int64) []byte {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	raw := make([]byte, length)
	_, err = f.ReadAt(raw, offset)
	must(t, err)
	return raw
}

// Output runs a program here and returns what it wrote; it must succeed.
func Output(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
