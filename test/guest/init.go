package guest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// IsInit tells whether this process is the first one of a guest.
func IsInit() bool {
	_, err := os.Stat("/" + argumentsFile)
	return os.Getpid() == 1 && err == nil
}

// Init prepares the guest, runs this binary again with the arguments of [Run],
// prints how that ended, and switches the machine off.
func Init() {
	err := errors.Join(mounts(), loadModules())
	if err == nil {
		err = runTests()
	}
	exit := 0
	if err != nil {
		fmt.Println(err)
		exit = 1
	}
	fmt.Printf("\n%s%d\n", verdict, exit)
	fmt.Println(unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF))
}

func mounts() error {
	var failed error
	for _, m := range []struct{ dir, kind string }{{"/proc", "proc"}, {"/sys", "sysfs"}, {"/dev", "devtmpfs"}, {"/tmp", "tmpfs"}, {"/run", "tmpfs"}, {"/etc", "tmpfs"}} {
		failed = errors.Join(failed, os.MkdirAll(m.dir, 0o755), os.NewSyscallError("mount "+m.dir, unix.Mount(m.kind, m.dir, m.kind, 0, "")))
	}
	return failed
}

// loadModules loads the modules by their numbers; what is built into the kernel
// or loaded already is no failure.
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
		if err != nil && !errors.Is(err, unix.EEXIST) {
			return fmt.Errorf("load %s: %w", filepath.Base(file), err)
		}
	}
	return nil
}

func runTests() error {
	raw, err := os.ReadFile("/" + argumentsFile)
	if err != nil {
		return err
	}
	cmd := exec.Command("/init", strings.Split(string(raw), "\n")...) //nolint:noctx // the machine ends with it
	cmd.Env = []string{"CI=true", "HOME=/tmp", "PATH=/"}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stdout
	return cmd.Run()
}
