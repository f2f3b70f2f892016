package service_test

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/hub/wire"
)

// stopping plays a systemd that ends units too. The agent's unit is this process,
// with the given Restart=.
type stopping struct {
	childHost
	restart string
}

func (s stopping) Unit(ctx context.Context, name string) (systemd.Properties, error) {
	p, err := s.childHost.Unit(ctx, name)
	if name == hostfile.AgentUnit {
		p.Restart, p.InvocationID = s.restart, os.Getenv(outcome.InvocationEnv)
	}
	return p, err
}

func (s stopping) Stop(_ context.Context, name string) (string, error) {
	s.note(ranFile, "stop "+name)
	return systemd.JobDone, nil
}

// The program installer runs beside the agent: after the done marker it stops the
// agent's unit where Ironic waits for that, and restarts the machine elsewhere.
func TestTheInstallersLastWord(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the node of a block device needs root")
	}
	for name, tc := range map[string]struct {
		converged bool
		last      string
	}{
		"Ironic waits":   {true, "stop agent.service"},
		"without Ironic": {false, "reboot"},
	} {
		t.Run(name, func(t *testing.T) {
			order := wire.InstallCmdRequest{
				ClusterID: cluster, InfraEnvID: infraEnv, Role: wire.HostRoleMaster, BootDevice: "/dev/sda", ControllerImage: image, InstallerImage: image,
			}
			v := newVictim(t, order)
			if tc.converged {
				v.g.Expect(v.dir.Write(hostfile.StepFile, hostfile.StepState{BootID: bootID, StartedAt: time.Unix(1000, 0).UTC()})).To(Succeed())
			}
			order.HostID = "33333333-3333-4333-8333-333333333333"
			units := stopping{childHost: childHost{v.dir}}
			code := service.Run(t.Context(), service.Config{
				URL: v.hub, InfraEnvID: infraEnv, HostID: order.HostID, AgentVersion: image, Interval: time.Second, Dir: v.dir, Order: &order,
				Commands: units, Units: units, Log: slog.New(slog.DiscardHandler), OwnLog: func() []byte { return nil },
			})
			v.g.Expect(code).To(Equal(exitcode.AgentInstalled))
			v.g.Expect(v.dir.Read(hostfile.InstalledFile, &hostfile.Installed{})).To(Succeed())
			ran := v.lines(ranFile)
			v.g.Expect(ran[len(ran)-1]).To(Equal(tc.last))
			v.g.Expect(writers(ran)).To(ContainElement(HavePrefix("coreos-installer install")))
		})
	}
}

// The units of existing hubs start the agent again after every end: then only a
// stopped unit is one that has succeeded.
func TestAUnitThatIsStartedForEverIsStopped(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the node of a block device needs root")
	}
	for name, tc := range map[string]struct {
		restart string
		stopped bool
	}{
		"always":     {"always", true},
		"on-failure": {"on-failure", false},
	} {
		t.Run(name, func(t *testing.T) {
			v := newVictim(t, orders()["master"])
			t.Setenv(outcome.InvocationEnv, "0123456789abcdef0123456789abcdef")
			v.g.Expect(v.dir.Write(hostfile.StepFile, hostfile.StepState{BootID: bootID, StartedAt: time.Unix(1000, 0).UTC()})).To(Succeed())
			units := stopping{childHost{v.dir}, tc.restart}
			code := service.Run(t.Context(), service.Config{
				URL: v.hub, InfraEnvID: infraEnv, AgentVersion: image, Interval: time.Second, Dir: v.dir,
				Commands: units, Units: units, Log: slog.New(slog.DiscardHandler), OwnLog: func() []byte { return nil },
			})
			v.g.Expect(code).To(Equal(exitcode.AgentInstalled))
			v.g.Expect(slices.Contains(v.lines(ranFile), "stop agent.service")).To(Equal(tc.stopped))
		})
	}
}
