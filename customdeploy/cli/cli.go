// Package cli is the command line of ironflow-step, which runs Ironic's deploy
// steps on a host in its live image. The shipped program and the one of the lab
// differ in what they pass as [Units]: the host's systemd, or a stand-in.
//
// Progress and result go to stdout, logs to stderr. SIGTERM cancels the step
// and stops what it started. Exit codes are in package api/exitcode.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/customdeploy/confirm"
	"github.com/ironflow/ironflow/customdeploy/coreos"
	"github.com/ironflow/ironflow/customdeploy/efiboot"
	"github.com/ironflow/ironflow/customdeploy/foreign"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/customdeploy/hostname"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/customdeploy/systemd/sdbus"
)

const usage = `Usage: ironflow-step list
       ironflow-step STEP < INPUT
       ironflow-step set-hostname NAME

Runs one of Ironic's deploy steps on this host. INPUT is one JSON object:
{"node": {…}, "ports": […], "args": {…}}. Progress comes as JSON lines on
stdout, the result as the last of them; logs go to stderr.

  list                print the names of the steps as JSON, as the IPA plugin needs them
  STEP                run this deploy step
  set-hostname NAME   give this host that name, unless it has one already
  --help              print this text
  --version           print the version

Called by a link named poweroff or reboot, it asks the host's systemd to do that:
the container of ironic-python-agent has no systemd of its own.

Environment:
  IRONFLOW_ROOT             directory with the host's files (default /)
  DBUS_SYSTEM_BUS_ADDRESS   the host's system bus (default: its well-known socket)

Exit codes:
`

// nameCommand is the command that names a host. Its argument is no flag: no host is called --help.
const nameCommand = "set-hostname"

// Units returns what manages the units of a host, and what ends it when the step is over.
type Units func(host hostfile.Dir) (units systemd.Manager, end func())

// Systemd is the host's own systemd, over D-Bus. It has nothing to end.
func Systemd(host hostfile.Dir) (units systemd.Manager, end func()) {
	return sdbus.New(sdbus.Address(host), host), func() {}
}

// Main runs the program with the process's arguments and streams and returns its exit code.
func Main(newUnits Units) int {
	// An IPA that is gone does not end the step: writing to its pipe is an error then, and no more.
	signal.Ignore(syscall.SIGPIPE)
	if target, ok := targets[filepath.Base(os.Args[0])]; ok {
		return enter(hostfile.FromEnv(), target, os.Args[1:], os.Stderr)
	}
	return run(newUnits, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

func run(newUnits Units, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	host := hostfile.FromEnv()
	if len(args) == 2 && args[0] == nameCommand && !strings.HasPrefix(args[1], "-") {
		return setHostname(host, args[1], stderr)
	}
	if len(args) != 1 || args[0] == nameCommand {
		printUsage(stderr)
		return exitcode.StepBadInput
	}
	units, end := newUnits(host)
	defer end()
	installer := &assisted.Step{Units: units}
	if systemd, ok := units.(foreign.Host); ok {
		installer.Foreign = foreign.Installer{Host: systemd}
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	inRoot := hostexec.Root{Host: host, Log: log}.Exec
	installer.Kept = func(ctx context.Context, node step.Node) (map[string]string, error) {
		return coreos.Kept(ctx, inRoot, host, node)
	}
	bootable := func(ctx context.Context, host hostfile.Dir, disk string) (bool, error) {
		return efiboot.Bootable(ctx, inRoot, host, disk)
	}
	steps := step.Registry{
		installer.Definition(),
		(&coreos.Step{Exec: inRoot, Installer: hostexec.Root{Host: host, Both: true}.Exec, Hostname: os.Hostname, Alone: installer.Alone}).Definition(),
		(&confirm.Step{Units: units, Assisted: installer, Bootable: bootable}).Definition(),
	}
	switch args[0] {
	case "--help", "-h", "help":
		printUsage(stdout)
		return exitcode.StepDone
	case "--version":
		fmt.Fprintln(stdout, "ironflow-step", version.String())
		return exitcode.StepDone
	case "list":
		list, err := steps.List()
		if err != nil {
			fmt.Fprintln(stderr, err)
			return exitcode.StepFailed
		}
		fmt.Fprintln(stdout, string(list))
		return exitcode.StepDone
	}
	ctx, done := untilSignal()
	defer done()
	return step.Run(ctx, steps, args[0], host, step.Streams{In: stdin, Out: stdout, Log: log})
}

// targets are the programs by which ironic-python-agent ends the machine it runs
// on, and what systemd calls it. IPA's container has no systemd of its own, and
// the host's programs may lie on a medium that was ejected by then.
var targets = map[string]string{"poweroff": "poweroff.target", "reboot": "reboot.target"}

// enterLimit is how long the bus and systemd have to take the order. IPA falls back
// on the kernel's own way when it fails, as it does where the medium was ejected that
// systemd reads its units from; Ironic waits half a minute for either.
const enterLimit = 10 * time.Second

// enter has the host's systemd end the machine.
func enter(host hostfile.Dir, target string, args []string, stderr io.Writer) int {
	if len(args) > 0 {
		fmt.Fprintf(stderr, "no arguments are known; the host's systemd is asked for %s\n", target)
		return exitcode.StepBadInput
	}
	ctx, done := context.WithTimeout(context.Background(), enterLimit)
	defer done()
	if err := sdbus.New(sdbus.Address(host), host).Enter(ctx, target); err != nil {
		fmt.Fprintln(stderr, err)
		return exitcode.StepFailed
	}
	return exitcode.StepDone
}

// setHostname gives a nameless host the default name.
func setHostname(host hostfile.Dir, name string, stderr io.Writer) int {
	ctx, done := context.WithTimeout(context.Background(), 20*time.Second)
	defer done()
	if _, err := hostname.SetDefault(ctx, sdbus.Address(host), name); err != nil {
		fmt.Fprintln(stderr, "set-hostname:", err)
		return exitcode.StepFailed
	}
	return exitcode.StepDone
}

// untilSignal returns a context that ends with SIGTERM or SIGINT; its cause is
// the signal's name.
func untilSignal() (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		if s, ok := <-signals; ok {
			cancel(errors.New("the signal " + s.String()))
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel(nil)
	}
}

func printUsage(w io.Writer) {
	fmt.Fprint(w, usage)
	for _, m := range exitcode.Meanings() {
		if m.Program == "ironflow-step" {
			fmt.Fprintf(w, "  %d   %s\n", m.Code, m.Text)
		}
	}
}
