package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/kernelargs"
	"github.com/ironflow/ironflow/hub/wire"
)

// artifacts are where the parts of a live image are.
type artifacts struct{ initrd, kernel, rootfs string }

// errKernelArguments tells of changes to the command line that iPXE cannot make.
var errKernelArguments = errors.New("kernel_arguments: over the network only the operation append is possible")

// ipxeAlways are the arguments of every live system that is booted over the network, as the
// protocol has them. The last one is there for who looks for it: no installer reads it.
const ipxeAlways = `random.trust_cpu=on rd.luks.options=discard ignition.firstboot ignition.platform.id=metal console=tty1 console=ttyS1,115200n8 ` +
	`coreos.inst.persistent-kargs="console=tty1 console=ttyS1,115200n8"`

// ipxeScript boots a live image over the network. Arguments are the infra-env's, a JSON list in text.
func ipxeScript(a artifacts, arguments string) (string, error) {
	var line strings.Builder
	line.WriteString("coreos.live.rootfs_url=" + a.rootfs + " " + ipxeAlways)
	var list wire.KernelArguments
	if arguments != "" {
		if err := json.Unmarshal([]byte(arguments), &list); err != nil {
			return "", fmt.Errorf("kernel_arguments: %w", err)
		}
	}
	for _, argument := range list {
		if argument.Operation != wire.KernelArgumentOperationAppend {
			return "", errKernelArguments
		}
		if strings.ContainsAny(argument.Value, "\r\n") {
			return "", errors.New("kernel_arguments: a value has more than one line")
		}
		if err := kernelargs.Refused(argument.Operation, argument.Value); err != nil {
			return "", fmt.Errorf("kernel_arguments: %w", err)
		}
		line.WriteString(" " + argument.Value)
	}
	return fmt.Sprintf("#!ipxe\ninitrd --name initrd %s\nkernel %s initrd=initrd %s\nboot\n", a.initrd, a.kernel, line.String()), nil
}

// ipxeRedirect has a machine ask again with its address. The URL is that of the script.
func ipxeRedirect(url string) string {
	return "#!ipxe\nchain " + url + "&mac=${net0/mac}\n"
}

// fromDisk are the stages after which a machine has to start its own disk.
var fromDisk = []wire.HostStage{
	wire.HostStageRebooting, wire.HostStageWaitingForIgnition, wire.HostStageConfiguring, wire.HostStageJoined, wire.HostStageDone,
}

// bootsDisk reports whether a machine has its system on its disk already.
func bootsDisk(h wire.Host) bool {
	switch h.Status {
	case wire.HostStatusInstalled, wire.HostStatusAddedToExistingCluster:
		return true
	case wire.HostStatusInstallingInProgress:
		return h.Progress != nil && slices.Contains(fromDisk, h.Progress.CurrentStage)
	}
	return false
}
