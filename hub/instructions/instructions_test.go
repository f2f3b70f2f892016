package instructions_test

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/wire"
)

// input is a host of a cluster with everything that steps can ask for.
func input(status string, change func(*instructions.Input)) instructions.Input {
	tang := wire.DiskEncryptionModeTang
	in := instructions.Input{
		Host: &wire.Host{ID: "h", InfraEnvID: "e", Status: status, Role: wire.HostRoleWorker, InstallationDiskID: "/dev/disk/by-id/wwn-1"},
		Inventory: &wire.Inventory{Interfaces: []wire.Interface{
			{Name: "eno1", Ipv4Addresses: []string{"192.0.2.7/24", "10.0.0.1/8"}},
		}},
		Cluster: &wire.Cluster{
			ID: "c", Name: "c", BaseDNSDomain: "example", Kind: wire.ClusterKindCluster,
			MachineNetworks: []wire.MachineNetwork{{CIDR: "192.0.2.0/24"}}, APIVIPDNSName: new("api.c.example"),
			IngressVIPs: []wire.IngressVIP{{IP: "192.0.2.9"}}, ControlPlaneCount: 3,
			DiskEncryption: &wire.DiskEncryption{Mode: &tang, TangServers: "[]"},
		},
		HasPeers:         true,
		Images:           instructions.Images{Installer: "i", Controller: "k", Release: "registry.example:5000/release:1"},
		DiskCheckTimeout: 8 * time.Minute, ImageTimeout: 16 * time.Minute,
	}
	if change != nil {
		change(&in)
	}
	return in
}

func dayTwo(in *instructions.Input) { in.Cluster.Kind = wire.ClusterKindAddHostsCluster }

func unbound(in *instructions.Input) { in.Cluster = nil }

func TestStepsOfEachStatus(t *testing.T) {
	const cont, exit = wire.StepsPostStepActionContinue, wire.StepsPostStepActionExit
	for name, tc := range map[string]struct {
		status string
		change func(*instructions.Input)
		want   []wire.StepType
		wait   int64
		action string
	}{
		"discovering": {wire.HostStatusDiscovering, nil, []wire.StepType{"inventory"}, 60, cont},
		"known": {
			wire.HostStatusKnown, nil,
			[]wire.StepType{"connectivity-check", "tang-connectivity-check", "free-network-addresses", "inventory", "ntp-synchronizer", "domain-resolution", "verify-vips"},
			60, cont,
		},
		"insufficient": {
			wire.HostStatusInsufficient, nil,
			[]wire.StepType{"inventory", "connectivity-check", "tang-connectivity-check", "free-network-addresses", "ntp-synchronizer", "domain-resolution", "verify-vips"},
			60, cont,
		},
		"disconnected": {wire.HostStatusDisconnected, nil, []wire.StepType{"inventory"}, 120, cont},
		"preparing":    {wire.HostStatusPreparingForInstallation, nil, []wire.StepType{"installation-disk-speed-check", "container-image-availability"}, 60, cont},
		"installing":   {wire.HostStatusInstalling, nil, []wire.StepType{"install"}, 60, cont},
		"in progress":  {wire.HostStatusInstallingInProgress, nil, nil, 60, cont},
		"error":        {wire.HostStatusError, nil, []wire.StepType{"logs-gather", "stop-installation"}, 120, cont},
		"reset":        {wire.HostStatusResettingPendingUserAction, nil, []wire.StepType{"stop-installation"}, 60, cont},
		"day 2 reset":  {wire.HostStatusResettingPendingUserAction, dayTwo, []wire.StepType{"stop-installation"}, 60, cont},
		"binding":      {wire.HostStatusBinding, nil, nil, 0, exit},
		"unknown":      {"something new", nil, nil, 60, cont},
		"day 2 known": {
			wire.HostStatusKnown, dayTwo,
			[]wire.StepType{"connectivity-check", "api-vip-connectivity-check", "tang-connectivity-check", "inventory", "ntp-synchronizer", "domain-resolution"},
			60,
			cont,
		},
		"day 2 waiting": {wire.HostStatusInstallingInProgress, dayTwo, nil, 60, cont},
		"pool":          {wire.HostStatusKnownUnbound, unbound, []wire.StepType{"inventory", "ntp-synchronizer"}, 60, cont},
		"unbinding":     {wire.HostStatusUnbinding, unbound, nil, 0, exit},
		"hurry":         {wire.HostStatusDiscovering, func(in *instructions.Input) { in.Hurry = true }, []wire.StepType{"inventory"}, 2, cont},
		"checked disk and images": {
			wire.HostStatusPreparingForInstallation, func(in *instructions.Input) { in.DiskChecked, in.ImagesChecked = true, true },
			nil, 60, cont,
		},
		"no release, no images": {
			wire.HostStatusPreparingForInstallation, func(in *instructions.Input) { in.Images.Release = "" },
			[]wire.StepType{"installation-disk-speed-check"},
			60, cont,
		},
		"logs came": {
			wire.HostStatusError, func(in *instructions.Input) { in.Host.LogsCollectedAt = wire.At(time.Unix(1, 0)) },
			[]wire.StepType{"stop-installation"},
			120, cont,
		},
		"nothing to ask": {
			wire.HostStatusKnown, func(in *instructions.Input) { in.Cluster, in.HasPeers = &wire.Cluster{ID: "c"}, false },
			[]wire.StepType{"inventory", "ntp-synchronizer"},
			60, cont,
		},
		"a disabled step": {
			wire.HostStatusKnownUnbound, func(in *instructions.Input) { in.Disabled = []wire.StepType{"ntp-synchronizer"} },
			[]wire.StepType{"inventory"},
			60, cont,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			built, skipped := instructions.For(input(tc.status, tc.change))
			got, err := instructions.Complete(built, func() (string, error) { return `[{"host_id":"p"}]`, nil })
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(skipped).To(BeEmpty())
			var types []wire.StepType
			for _, s := range got.Instructions {
				types = append(types, s.StepType)
				g.Expect(s.StepID).To(MatchRegexp("^" + string(s.StepType) + "-[0-9a-f]{8}$"))
				g.Expect(s.Args).NotTo(BeNil(), "args must print as a list")
			}
			g.Expect(types).To(Equal(tc.want))
			g.Expect(got.NextInstructionSeconds).To(Equal(tc.wait))
			g.Expect(*got.PostStepAction).To(Equal(tc.action))
		})
	}
}

func TestArguments(t *testing.T) {
	for name, tc := range map[string]struct {
		status string
		step   wire.StepType
		change func(*instructions.Input)
		want   []string
	}{
		"disk speed has its limit in seconds": {
			wire.HostStatusPreparingForInstallation, wire.StepTypeInstallationDiskSpeedCheck, nil,
			[]string{`{"path":"/dev/disk/by-id/wwn-1"}`, "480.00"},
		},
		"images": {
			wire.HostStatusPreparingForInstallation, wire.StepTypeContainerImageAvailability, nil,
			[]string{`{"images":["registry.example:5000/release:1","i"],"timeout":960}`},
		},
		"only small networks are scanned": {wire.HostStatusKnown, wire.StepTypeFreeNetworkAddresses, nil, []string{`["192.0.2.0/24"]`}},
		"time sources of both": {wire.HostStatusKnown, wire.StepTypeNTPSynchronizer, func(in *instructions.Input) {
			in.InfraEnv = &wire.InfraEnv{AdditionalNTPSources: "a,b"}
			in.Cluster.AdditionalNTPSource = "c"
		}, []string{`{"ntp_source":"a,b,c"}`}},
		"virtual addresses": {wire.HostStatusKnown, wire.StepTypeVerifyVIPs, nil, []string{`[{"vip":"192.0.2.9","vip_type":"ingress"}]`}},
		"inventory":         {wire.HostStatusKnown, wire.StepTypeInventory, nil, []string{"h"}},
		"logs": {
			wire.HostStatusError, wire.StepTypeLogsGather, nil,
			[]string{`{"bootstrap":false,"cluster_id":"c","host_id":"h","infra_env_id":"e","installer_gather":true,"master_ips":null}`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			got, _ := instructions.For(input(tc.status, tc.change))
			for _, s := range got.Instructions {
				if s.StepType == tc.step {
					g.Expect(s.Args).To(Equal(tc.want))
					return
				}
			}
			t.Fatalf("no step %s in %+v", tc.step, got)
		})
	}
}

// TestPeersComeLast: the same steps serve every poll, with the peers of the moment.
func TestPeersComeLast(t *testing.T) {
	g := NewWithT(t)
	built, _ := instructions.For(input(wire.HostStatusKnown, nil))
	with := func(peers string, err error) (wire.Steps, error) {
		return instructions.Complete(built, func() (string, error) { return peers, err })
	}
	first, err := with(`[{"host_id":"p"}]`, nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(first.Instructions[0].Args).To(Equal([]string{`[{"host_id":"p"}]`}))
	alone, err := with("", nil)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(alone.Instructions).To(HaveLen(len(first.Instructions)-1), "nobody to connect to")
	_, err = with("", errors.New("away"))
	g.Expect(err).To(MatchError("away"))
	g.Expect(built.Instructions[0].StepID).To(BeEmpty(), "what was built stays as it is")
	g.Expect(built.Instructions[0].Args).To(BeEmpty())
}

func TestInstallOrder(t *testing.T) {
	g := NewWithT(t)
	got, skipped := instructions.For(input(wire.HostStatusInstalling, func(in *instructions.Input) {
		in.Host.Bootstrap, in.Host.Role, in.Host.InstallerArgs = true, wire.HostRoleMaster, `["--append-karg","a=b"]`
		in.Cluster.HTTPProxy = "http://proxy.example"
	}))
	g.Expect(skipped).To(BeEmpty())
	var order wire.InstallCmdRequest
	g.Expect(json.Unmarshal([]byte(got.Instructions[0].Args[0]), &order)).To(Succeed())
	g.Expect(order.Role).To(Equal(wire.HostRoleBootstrap))
	g.Expect(order.BootDevice).To(Equal("/dev/disk/by-id/wwn-1"))
	g.Expect(order.ControlPlaneCount).To(Equal(int64(3)))
	g.Expect(order.InstallerArgs).To(Equal(`["--append-karg","a=b"]`))
	g.Expect(*order.Proxy.HTTPProxy).To(Equal("http://proxy.example"))
	g.Expect(order.CheckCvo).To(HaveValue(BeFalse()))
}

func TestStepThatCannotBeBuiltIsLeftOut(t *testing.T) {
	g := NewWithT(t)
	got, skipped := instructions.For(input(wire.HostStatusPreparingForInstallation, func(in *instructions.Input) { in.Host.InstallationDiskID = "" }))
	g.Expect(got.Instructions).To(HaveLen(1))
	g.Expect(skipped).To(HaveLen(1))
	g.Expect(skipped[0].Err).To(MatchError(ContainSubstring("no installation disk")))
}

// Every status of the host machine gets an answer that keeps its agent in step.
func TestEveryStatusIsAnswered(t *testing.T) {
	for _, status := range hostmachine.Machine.States {
		got, _ := instructions.For(input(status, nil))
		g := NewWithT(t)
		if *got.PostStepAction == wire.StepsPostStepActionContinue {
			g.Expect(got.NextInstructionSeconds).To(BeNumerically(">=", 60), status)
		}
	}
}
