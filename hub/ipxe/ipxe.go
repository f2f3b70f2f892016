// Package ipxe writes the scripts by which machines boot the live image of an
// infra-env over the network, and decides whether a machine should do so at all.
package ipxe

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/kernelargs"
	"github.com/ironflow/ironflow/hub/wire"
)

// Artifacts are where the parts of a live image are.
type Artifacts struct{ Initrd, Kernel, Rootfs string }

// ErrKernelArguments tells of changes to the command line that iPXE cannot make.
var ErrKernelArguments = errors.New("kernel_arguments: over the network only the operation append is possible")

// always are the arguments of every live system that is booted over the network, as the
// protocol has them. The last one is there for who looks for it: no installer reads it.
const always = `random.trust_cpu=on rd.luks.options=discard ignition.firstboot ignition.platform.id=metal console=tty1 console=ttyS1,115200n8 ` +
	`coreos.inst.persistent-kargs="console=tty1 console=ttyS1,115200n8"`

// Script boots the image. Arguments are the infra-env's, a JSON list in text.
func Script(a Artifacts, arguments string) (string, error) {
	var line strings.Builder
	line.WriteString("coreos.live.rootfs_url=" + a.Rootfs + " " + always)
	var list wire.KernelArguments
	if arguments != "" {
		if err := json.Unmarshal([]byte(arguments), &list); err != nil {
			return "", fmt.Errorf("kernel_arguments: %w", err)
		}
	}
	for _, argument := range list {
		if argument.Operation != wire.KernelArgumentOperationAppend {
			return "", ErrKernelArguments
		}
		if strings.ContainsAny(argument.Value, "\r\n") {
			return "", errors.New("kernel_arguments: a value has more than one line")
		}
		if err := kernelargs.Refused(argument.Operation, argument.Value); err != nil {
			return "", fmt.Errorf("kernel_arguments: %w", err)
		}
		line.WriteString(" " + argument.Value)
	}
	return fmt.Sprintf("#!ipxe\ninitrd --name initrd %s\nkernel %s initrd=initrd %s\nboot\n", a.Initrd, a.Kernel, line.String()), nil
}

// Redirect has a machine ask again with its address. The URL is that of the script.
func Redirect(url string) string {
	return "#!ipxe\nchain " + url + "&mac=${net0/mac}\n"
}

// behind are the stages after which a machine has to start its own disk.
var behind = []wire.HostStage{
	wire.HostStageRebooting, wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone,
}

// BootsDisk reports whether a machine has its system on its disk already.
func BootsDisk(h wire.Host) bool {
	switch h.Status {
	case wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster:
		return true
	case wire.HostStatusInstallingInProgress:
		return h.Progress != nil && slices.Contains(behind, h.Progress.CurrentStage)
	}
	return false
}
