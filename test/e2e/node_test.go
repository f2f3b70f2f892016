//go:build e2e

package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// Addresses of the site, which are for documentation. The first is the one that the load balancer of docs/install.md has; nobody has the last.
const (
	nodeAddress   = "192.0.2.10"
	ironicAddress = "192.0.2.11"
	mirrorAddress = "192.0.2.20"
	nobodyAddress = "192.0.2.30"
	// mirror is the server of the samples and of docs/install.md.
	mirror = "mirror.example"
)

// envNode tells a process that it is on the node, and the file with the names that its resolver knows.
const envNode = "IRONFLOW_E2E_NODE"

// TestMain runs the tests on a node: in a process with a network and mounts of its own.
func TestMain(m *testing.M) {
	switch {
	case os.Geteuid() != 0: // the test says that it needs root
		os.Exit(m.Run())
	case os.Getenv(envNode) == "":
		os.Exit(onNode())
	}
	if err := makeNode(); err != nil {
		fmt.Fprintln(os.Stderr, "make the node:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// onNode starts this program again, in namespaces of its own, and returns its exit code. It ends with this process.
func onNode() int {
	hosts, err := os.CreateTemp("", "ironflow-e2e-hosts-*")
	if err == nil {
		defer os.Remove(hosts.Name())
		_, err = hosts.WriteString("127.0.0.1 localhost\n" + mirrorAddress + " " + mirror + "\n")
		err = errors.Join(err, hosts.Chmod(0o644), hosts.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "write the names of the node:", err)
		return 1
	}
	runtime.LockOSThread()
	again := exec.Command("/proc/self/exe", os.Args[1:]...)
	again.Env = append(os.Environ(), envNode+"="+hosts.Name())
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	again.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	err = again.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "start the node:", err)
		return 1
	}
	return 0
}

// makeNode gives the node its addresses, and the names that its resolver knows.
func makeNode() error {
	loopback, err := netlink.LinkByName("lo")
	if err != nil {
		return err
	}
	errs := []error{netlink.LinkSetUp(loopback)}
	for _, address := range []string{nodeAddress, ironicAddress, mirrorAddress} {
		a, err := netlink.ParseAddr(address + "/32")
		errs = append(errs, err, netlink.AddrAdd(loopback, a))
	}
	errs = append(errs,
		unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount(os.Getenv(envNode), "/etc/hosts", "", unix.MS_BIND, ""),
	)
	return errors.Join(errs...)
}
