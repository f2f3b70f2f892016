// Package reclaim is the step reboot-for-reclaim: it reboots an installed host
// into the discovery image that the step download-boot-artifacts has put there.
// The agent runs in a container that sees the host's file system in a folder;
// what it starts runs in there.
package reclaim

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/artifacts"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// Check reboots the host into discovery.
var Check = probe.Check[wire.RebootForReclaimRequest]{
	Deadline: 5 * time.Minute,
	Validate: func(r wire.RebootForReclaimRequest) error { return artifacts.CheckFolder(r.HostFsMountDir) },
	Real: func(ctx context.Context, env probe.Env, r wire.RebootForReclaimRequest) steps.Result {
		if err := reboot(ctx, env, r.HostFsMountDir, runtime.GOARCH); err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		return steps.Text("rebooting into discovery")
	},
	Dry: func(context.Context, probe.Env, wire.RebootForReclaimRequest) steps.Result {
		return steps.Text("rebooting into discovery")
	},
}

// reboot reboots the host whose file system is in the folder. On IBM Z the boot
// record is written before: there the firmware reads no entry of a boot loader.
func reboot(ctx context.Context, env probe.Env, host, arch string) error {
	entry, err := os.ReadFile(env.Dir.Path(filepath.Join(host, "boot", artifacts.Entry)))
	if err != nil {
		return fmt.Errorf("the boot artifacts are not there: %w", err)
	}
	if arch == "s390x" {
		if err := writeBootRecord(ctx, env, host, string(entry)); err != nil {
			return err
		}
	}
	return env.Commands.Run(ctx, command.Command{Name: "systemctl", Args: []string{"reboot"}, Root: host})
}

// writeBootRecord makes zipl boot the discovery image next.
func writeBootRecord(ctx context.Context, env probe.Env, host, entry string) error {
	live, err := os.ReadFile(env.Dir.Path("/proc/cmdline"))
	if err != nil {
		return fmt.Errorf("read the kernel's command line: %w", err)
	}
	parameters, err := bootParameters(entry, string(live))
	if err != nil {
		return err
	}
	if err := artifacts.MakeWritable(env.Dir.Path(filepath.Join(host, "boot"))); err != nil {
		return err
	}
	return env.Commands.Run(ctx, command.Command{
		Name: "zipl", Root: host,
		Args: []string{"-V", "-t", "/boot", "-i", "/boot/" + artifacts.Kernel, "-r", "/boot/" + artifacts.Initrd, "-P", parameters},
	})
}

// maxParameters is the longest command line of a kernel on IBM Z.
const maxParameters = 4096

// carried are the arguments of the running kernel without which the host finds
// neither its network nor its disks.
var carried = []string{"ip", "nameserver", "rd.znet", "zfcp.allow_lun_scan", "rd.zfcp", "rd.dasd"}

// bootParameters are the options of the entry, and those of the running kernel
// that are carried over, each once and in their order.
func bootParameters(entry, live string) (string, error) {
	var parameters []string
	for line := range strings.Lines(entry) {
		if options, ok := strings.CutPrefix(strings.TrimSpace(line), "options "); ok {
			parameters = append(parameters, strings.Fields(options)...)
		}
	}
	if len(parameters) == 0 {
		return "", fmt.Errorf("the entry %s has no options", artifacts.Entry)
	}
	seen := map[string]bool{}
	for argument := range strings.FieldsSeq(live) {
		name, _, hasValue := strings.Cut(argument, "=")
		if hasValue && !seen[argument] && isCarried(name) {
			seen[argument] = true
			parameters = append(parameters, argument)
		}
	}
	text := strings.Join(parameters, " ")
	if len(text) > maxParameters {
		return "", fmt.Errorf("the kernel's arguments have %d bytes, more than %d", len(text), maxParameters)
	}
	return text, nil
}

func isCarried(name string) bool {
	return slices.Contains(carried, name)
}
