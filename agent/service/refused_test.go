package service_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestOrdersThatOurInstallerRefuses: what it cannot do is refused when the order comes, by its
// name, and the deployment ends. Nothing on the machine is looked at or changed.
func TestOrdersThatOurInstallerRefuses(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the node of a block device needs root")
	}
	for member, change := range map[string]func(*wire.InstallCmdRequest){
		"coreos_image":           func(r *wire.InstallCmdRequest) { r.CoreosImage = "quay.example/os:1" },
		"enable_skip_mco_reboot": func(r *wire.InstallCmdRequest) { r.EnableSkipMcoReboot = true },
	} {
		t.Run(member, func(t *testing.T) {
			t.Parallel() // most of the time is waiting between polls
			v := newVictim(t, orders()["master"])
			host := childHost{v.dir}
			h := newHub(t, func(h *hub) wire.Steps {
				request := orders()["master"]
				request.HostID = h.host
				change(&request)
				raw, _ := json.Marshal(request)
				return instructions(1, step(wire.StepTypeInstall, string(raw)))
			})
			var log lockedText
			code := service.Run(t.Context(), service.Config{
				URL: h.URL, InfraEnvID: infraEnv, AgentVersion: image, Interval: time.Second, Dir: v.dir, Commands: host, Units: host,
				Log: slog.New(slog.NewTextHandler(&log, nil)), OwnLog: func() []byte { return nil },
			})
			v.g.Expect(code).To(Equal(exitcode.AgentFailed), "%v", &log)
			h.mu.Lock()
			defer h.mu.Unlock()
			v.g.Expect(h.replies).To(ContainElement(And(HaveField("StepType", wire.StepTypeInstall), HaveField("ExitCode", int64(-1)), HaveField("Error", HavePrefix(member+": this agent ")))))
			v.g.Expect(v.lines(ranFile)).To(BeEmpty())
		})
	}
}
