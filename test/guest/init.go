package guest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// IsInit tells whether this process is the first one of a guest.
func IsInit() bool {
	_, err := os.Stat("/" + orderFile)
	return os.Getpid() == 1 && err == nil
}

// Init prepares the guest, runs this binary again as [Guest.Run] wants it,
// prints how that ended, and switches the machine off.
func Init() {
	exit := 0
	if err := prepareAndRun(); err != nil {
		fmt.Println(err)
		exit = 1
	}
	fmt.Printf("\n%s%d\n", verdict, exit)
	fmt.Println(unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF))
}

func prepareAndRun() error {
	raw, err := os.ReadFile("/" + orderFile)
	if err != nil {
		return err
	}
	var told order
	if err := json.Unmarshal(raw, &told); err != nil {
		return err
	}
	if err := loadModules(); err != nil {
		return err
	}
	own := []mount{{"/tmp", "tmpfs"}, {"/etc", "tmpfs"}}
	if told.Binary != "" {
		own = []mount{{"/sys/fs/cgroup", "cgroup2"}}
		if err := enterComputer(); err != nil {
			return err
		}
	}
	if err := errors.Join(mounts(kernels), mounts(own), loopback()); err != nil {
		return err
	}
	cmd := exec.Command(cmp.Or(told.Binary, "/init"), told.Args...) //nolint:noctx // the machine ends with it
	cmd.Env, cmd.Dir = told.Env, told.Dir
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
	return cmd.Run()
}

type mount struct{ dir, kind string }

// kernels are the file systems of every guest.
var kernels = []mount{{"/proc", "proc"}, {"/sys", "sysfs"}, {"/dev", "devtmpfs"}, {"/run", "tmpfs"}}

func mounts(list []mount) error {
	var failed error
	for _, m := range list {
		failed = errors.Join(failed, os.MkdirAll(m.dir, 0o755), os.NewSyscallError("mount "+m.dir, unix.Mount(m.kind, m.dir, m.kind, 0, "")))
	}
	return failed
}

// enterComputer makes the files of the computer that runs the guest this
// process's root, below a layer in memory that takes what is written.
func enterComputer() error {
	const files, layer, root = "/files", "/layer", "/root"
	upper, work := layer+"/upper", layer+"/work"
	err := errors.Join(os.MkdirAll(files, 0o755), os.MkdirAll(layer, 0o755), os.MkdirAll(root, 0o755),
		os.NewSyscallError("mount the computer's files", unix.Mount(tag, files, "9p", unix.MS_RDONLY, "trans=virtio,version=9p2000.L,msize=512000,cache=loose")),
		os.NewSyscallError("mount "+layer, unix.Mount("layer", layer, "tmpfs", 0, "mode=755")),
		os.MkdirAll(upper, 0o755), os.MkdirAll(work, 0o755),
		os.NewSyscallError("mount "+root, unix.Mount("root", root, "overlay", 0, "lowerdir="+files+",upperdir="+upper+",workdir="+work)))
	if err != nil {
		return err
	}
	// The initial file system cannot be left, only covered.
	return errors.Join(unix.Chdir(root), unix.Mount(root, "/", "", unix.MS_MOVE, ""), unix.Chroot("."), unix.Chdir("/"))
}

// loopback sets the interface up that servers of a test listen on.
func loopback() error {
	lo, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	return netlink.LinkSetUp(lo)
}

// loadModules loads the modules by their numbers. What is built into the kernel or
// loaded already is no failure, nor is code for an instruction that the processor
// does not have: that has a substitute.
func loadModules() error {
	files, err := filepath.Glob("/" + modulesDir + "/*.ko")
	if err != nil {
		return err
	}
	slices.Sort(files)
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		err = unix.FinitModule(int(f.Fd()), "", 0)
		_ = f.Close()
		if err != nil && !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENODEV) {
			return fmt.Errorf("load %s: %w", filepath.Base(file), err)
		}
	}
	return nil
}
