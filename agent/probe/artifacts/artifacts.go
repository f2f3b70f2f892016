// Package artifacts is the step download-boot-artifacts: it puts the kernel and
// the initrd of the discovery image on an installed host, with an entry for the
// boot loader, so that the host boots into discovery next and is given back
// (step reboot-for-reclaim, package reclaim). The agent then runs in a container
// that sees the host's file system in a folder.
package artifacts

import (
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// done is the text that hubs look for.
const done = "Successfully downloaded boot artifacts"

// Paths below the host's /boot.
const (
	Kernel = "discovery/vmlinuz"
	Initrd = "discovery/initrd"
	// Entry is the boot loader's; it is written last and says that the others are complete.
	Entry = "loader/entries/00-assisted-discovery.conf"
)

// Check downloads the boot artifacts.
var Check = probe.Check[wire.DownloadBootArtifactsRequest]{
	Deadline: time.Hour,
	Validate: func(r wire.DownloadBootArtifactsRequest) error {
		return errors.Join(
			CheckFolder(r.HostFsMountDir),
			probe.CheckURL("kernel_url", r.KernelURL), probe.CheckURL("initrd_url", r.InitrdURL),
			probe.CheckURL("rootfs_url", r.RootfsURL), checkKernelArgument(r.RootfsURL),
		)
	},
	Real: func(ctx context.Context, env probe.Env, r wire.DownloadBootArtifactsRequest) steps.Result {
		if err := fetch(ctx, env, r, runtime.GOARCH); err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		return steps.Text(done)
	},
	Dry: func(context.Context, probe.Env, wire.DownloadBootArtifactsRequest) steps.Result {
		return steps.Text(done)
	},
}

// CheckFolder refuses what is not the plain path of a folder.
func CheckFolder(folder string) error {
	if !path.IsAbs(folder) || strings.Contains(folder, "\x00") || path.Clean(folder) != strings.TrimRight(folder, "/") && folder != "/" {
		return fmt.Errorf("host_fs_mount_dir %q is not the path of a folder", folder)
	}
	return nil
}

// checkKernelArgument refuses a URL that would be more than one word for the
// boot loader or the kernel.
func checkKernelArgument(url string) error {
	if strings.ContainsFunc(url, func(c rune) bool { return c <= ' ' || c >= 0x7f || strings.ContainsRune(`'"\{}$;|<>`, c) }) {
		return errors.New("rootfs_url has characters that a kernel argument cannot have")
	}
	return nil
}

// entry is the boot loader's entry, see the Boot Loader Specification.
func entry(rootfsURL, arch string) string {
	rootfs := "coreos.live.rootfs_url=" + rootfsURL
	options := []string{"random.trust_cpu=on"}
	if arch == s390x {
		options = append(options, "ai.ip_cfg_override=1")
	} else if strings.Contains(rootfs, "&") {
		rootfs = "'" + rootfs + "'" // GRUB would end the command there
	}
	options = append(options, "ignition.firstboot", "ignition.platform.id=metal", rootfs)
	return "title Assisted Installer Discovery\nversion 999\noptions " + strings.Join(options, " ") +
		"\nlinux /boot/" + Kernel + "\ninitrd /boot/" + Initrd + "\n"
}

// s390x is Go's name of IBM Z.
const s390x = "s390x"
