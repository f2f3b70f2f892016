package confirm_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/customdeploy/confirm"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

const (
	boot = "boot-1"
	node = "node-1"
)

// unit is a systemd whose unit never changes.
type unit systemd.Properties

func (u unit) Start(context.Context, string) (string, error) { panic("confirm_install starts nothing") }

func (u unit) Stop(context.Context, string) (string, error) { panic("confirm_install stops nothing") }

func (u unit) Unit(context.Context, string) (systemd.Properties, error) {
	return systemd.Properties(u), nil
}

func (u unit) Follow(context.Context, string) (<-chan systemd.Update, error) {
	ch := make(chan systemd.Update, 1)
	ch <- systemd.Update{Unit: systemd.Properties(u)}
	return ch, nil
}

func (u unit) Journal(context.Context, string, string, int) ([]string, error) { return nil, nil }

var (
	ended  = unit{LoadState: "loaded", ActiveState: "inactive", SubState: "dead", Result: "success", ConditionResult: true, InvocationID: "aa"}
	failed = unit{LoadState: "loaded", ActiveState: "failed", SubState: "failed", Result: "exit-code", ConditionResult: true, InvocationID: "aa", ExecMainCode: systemd.Exited, ExecMainStatus: 90}
)

func started(bootID, nodeUUID, name string) *hostfile.StepState {
	return &hostfile.StepState{BootID: bootID, NodeUUID: nodeUUID, Step: name, StartedAt: time.Now(), InvocationID: "aa"}
}

func marker(bootID, invocation string) *hostfile.Installed {
	return &hostfile.Installed{BootID: bootID, InvocationID: invocation, Disk: "/dev/vda", Time: time.Now()}
}

func TestConfirm(t *testing.T) {
	for name, tc := range map[string]struct {
		steps  []any // names in the node's list; nil for no list
		state  *hostfile.StepState
		marker *hostfile.Installed
		reason *hostfile.Reason
		unit   unit
		done   bool
		text   string // reason, or the result's outcome
	}{
		"no installing step in the deployment": {steps: []any{"write_image", "confirm_install"}, done: true, text: "nothing to confirm"},
		"a node without a list of steps":       {text: "no record of an installation step"},
		"marker of this boot":                  {steps: []any{assisted.Name}, state: started(boot, node, assisted.Name), marker: marker(boot, "aa"), unit: ended, done: true, text: "confirmed"},
		"marker of the unit's last run": {
			steps: []any{assisted.Name}, state: started(boot, node, assisted.Name), marker: marker(boot, "bb"), unit: unit{ActiveState: "inactive", InvocationID: "bb"},
			done: true, text: "confirmed",
		},
		"marker of install_coreos":  {steps: []any{"install_coreos"}, state: started(boot, node, "install_coreos"), marker: marker(boot, "aa"), done: true, text: "confirmed"},
		"the machine was restarted": {steps: []any{assisted.Name}, text: "the machine was restarted during the installation"},
		"files of an earlier boot":  {steps: []any{assisted.Name}, state: started("boot-0", node, assisted.Name), marker: marker("boot-0", "aa"), text: "the machine was restarted"},
		"marker of an earlier boot": {
			steps: []any{assisted.Name}, state: started(boot, node, assisted.Name), marker: marker("boot-0", "aa"), unit: ended,
			text: "stopped before the installation was done",
		},
		"marker of another run": {
			steps: []any{assisted.Name}, state: started(boot, node, assisted.Name), marker: marker(boot, "zz"), unit: ended,
			text: "stopped before the installation was done",
		},
		"installed for another node": {steps: []any{assisted.Name}, state: started(boot, "node-2", assisted.Name), marker: marker(boot, "aa"), text: "was for node node-2, not for node-1"},
		"the agent failed": {
			steps: []any{assisted.Name}, state: started(boot, node, assisted.Name), reason: &hostfile.Reason{BootID: boot, Text: "no space left", Exit: 90},
			unit: failed, text: "installation failed: no space left",
		},
		"install_coreos came to no end": {steps: []any{"install_coreos"}, state: started(boot, node, "install_coreos"), text: "install_coreos has left no done marker"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			host := hostfile.Dir{Root: t.TempDir()}
			path := host.Path(hostfile.BootIDPath())
			g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
			g.Expect(os.WriteFile(path, []byte(boot), 0o600)).To(Succeed())
			if tc.state != nil {
				g.Expect(host.Write(hostfile.StepFile, tc.state)).To(Succeed())
			}
			if tc.marker != nil {
				g.Expect(host.Write(hostfile.InstalledFile, tc.marker)).To(Succeed())
			}
			if tc.reason != nil {
				g.Expect(host.Write(hostfile.ReasonFile, tc.reason)).To(Succeed())
			}
			req := &step.Request{Host: host, Log: slog.New(slog.DiscardHandler), Progress: func(string, int, string) {}}
			req.Node.UUID = node
			if tc.steps != nil {
				var list []any
				for _, s := range tc.steps {
					list = append(list, map[string]any{"step": s, "interface": "deploy"})
				}
				req.Node.DriverInternalInfo = map[string]any{"deploy_steps": list}
			}
			s := &confirm.Step{Units: tc.unit, Assisted: &assisted.Step{Units: tc.unit}}
			r := s.Run(t.Context(), req)
			if tc.done {
				g.Expect(r.Outcome).To(Equal(step.Done), "%+v", r)
				g.Expect(r.Result).To(HaveKeyWithValue("outcome", tc.text))
				return
			}
			g.Expect(r.Outcome).To(Equal(step.Failed))
			g.Expect(r.Reason).To(ContainSubstring(tc.text))
		})
	}
}

// TestConfirmLooksAtTheFirmware: a marker alone does not start a machine.
func TestConfirmLooksAtTheFirmware(t *testing.T) {
	for name, tc := range map[string]struct {
		found   bool
		err     error
		outcome step.Outcome
		reason  string
	}{
		"bootable":     {found: true, outcome: step.Done},
		"not bootable": {outcome: step.Failed, reason: "no boot entry for /dev/vda"},
		"not known":    {err: errors.New("no efibootmgr"), outcome: step.Done, reason: "is not known: no efibootmgr"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			host := hostfile.Dir{Root: t.TempDir()}
			path := host.Path(hostfile.BootIDPath())
			g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
			g.Expect(os.WriteFile(path, []byte(boot), 0o600)).To(Succeed())
			g.Expect(host.Write(hostfile.StepFile, started(boot, node, assisted.Name))).To(Succeed())
			g.Expect(host.Write(hostfile.InstalledFile, marker(boot, "aa"))).To(Succeed())
			s := &confirm.Step{Units: ended, Bootable: func(_ context.Context, _ hostfile.Dir, disk string) (bool, error) {
				g.Expect(disk).To(Equal("/dev/vda"))
				return tc.found, tc.err
			}}
			r := s.Run(t.Context(), &step.Request{Host: host, Log: slog.New(slog.DiscardHandler)})
			g.Expect(r.Outcome).To(Equal(tc.outcome), "%+v", r)
			g.Expect(r.Reason).To(ContainSubstring(tc.reason))
		})
	}
}

func TestListedBehindTheInstallingSteps(t *testing.T) {
	g := NewWithT(t)
	g.Expect((&confirm.Step{}).Definition().Priority).To(Equal(79))
}
