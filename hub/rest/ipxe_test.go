package rest

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

func TestIPXEScript(t *testing.T) {
	const kernel = `kernel http://i.example/kernel initrd=initrd coreos.live.rootfs_url=http://i.example/rootfs random.trust_cpu=on ` +
		`rd.luks.options=discard ignition.firstboot ignition.platform.id=metal console=tty1 console=ttyS1,115200n8 ` +
		`coreos.inst.persistent-kargs="console=tty1 console=ttyS1,115200n8"`
	for name, tc := range map[string]struct {
		arguments, want, wrong string
	}{
		"plain": {"", `#!ipxe
initrd --name initrd http://i.example/initrd?a=b&c=d
` + kernel + `
boot
`, ""},
		"more arguments": {`[{"operation":"append","value":"ip=dhcp"},{"operation":"append","value":"a=\"b c\""}]`, `#!ipxe
initrd --name initrd http://i.example/initrd?a=b&c=d
` + kernel + ` ip=dhcp a="b c"
boot
`, ""},
		"fewer arguments": {`[{"operation":"delete","value":"quiet"}]`, "", "only the operation append"},
		"an installation": {`[{"operation":"append","value":"a=\"b coreos.inst.install_dev=/dev/sda\""}]`, "", "coreos.inst.install_dev: "},
		"another line":    {`[{"operation":"append","value":"a\nshell"}]`, "", "more than one line"},
		"no list":         {"x", "", "kernel_arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			script, err := ipxeScript(artifacts{initrd: "http://i.example/initrd?a=b&c=d", kernel: "http://i.example/kernel", rootfs: "http://i.example/rootfs"}, tc.arguments)
			if tc.wrong != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.wrong)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(script).To(Equal(tc.want))
		})
	}
}

func TestWhoBootsItsDisk(t *testing.T) {
	at := func(status string, stage wire.HostStage) wire.Host {
		return wire.Host{Status: status, Progress: &wire.HostProgressInfo{CurrentStage: stage}}
	}
	for name, tc := range map[string]struct {
		host wire.Host
		disk bool
	}{
		"new":            {wire.Host{Status: wire.HostStatusDiscovering}, false},
		"writing":        {at(wire.HostStatusInstallingInProgress, wire.HostStageWritingImageToDisk), false},
		"rebooting":      {at(wire.HostStatusInstallingInProgress, wire.HostStageRebooting), true},
		"joined":         {at(wire.HostStatusInstallingInProgress, wire.HostStageJoined), true},
		"installed":      {at(wire.HostStatusInstalled, wire.HostStageDone), true},
		"failed":         {at(wire.HostStatusError, wire.HostStageRebooting), false},
		"added":          {at(wire.HostStatusAddedToExistingCluster, wire.HostStageDone), true},
		"no progress":    {wire.Host{Status: wire.HostStatusInstallingInProgress}, false},
		"to begin again": {at(wire.HostStatusResettingPendingUserAction, wire.HostStageDone), false},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(bootsDisk(tc.host)).To(Equal(tc.disk)) })
	}
}
