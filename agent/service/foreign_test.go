package service_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/service"
	"github.com/ironflow/ironflow/api/exitcode"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// engine plays podman with one installer, which ends when the test says how.
type engine struct {
	childHost
	ends chan string // its exit status
	pull error

	mu  sync.Mutex
	ran []string
}

func (e *engine) Run(ctx context.Context, c command.Command) error {
	if c.Name != "podman" {
		return e.childHost.Run(ctx, c)
	}
	e.mu.Lock()
	e.ran = append(e.ran, c.Args[0])
	e.mu.Unlock()
	switch c.Args[0] {
	case "pull":
		return e.pull
	case "stop": // the one who waits for it hears of it first
		select {
		case e.ends <- "137":
		case <-time.After(200 * time.Millisecond):
		}
		select { // podman itself ends a moment later
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	case "wait":
		select {
		case code := <-e.ends:
			fmt.Fprintln(c.Stdout, code)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (e *engine) count(what string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(e.ran), func(r string) bool { return r != what }))
}

// TestAForeignHubsInstaller: the order names an image that is not ours.
func TestAForeignHubsInstaller(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the node of a block device needs root")
	}
	for name, tc := range map[string]struct {
		pull    error
		during  func(e *engine, stop context.CancelFunc)
		exit    int
		reason  string
		reply   int64 // of the hub's repeated orders, besides 125
		stopped int
		away    bool // the hub dies while it works
	}{
		"the hub dies, it ends well": {
			during: func(e *engine, _ context.CancelFunc) { e.ends <- "0" }, away: true, exit: exitcode.AgentInstalled, reason: "the end of its container counts",
		},
		"it ends well":         {during: func(e *engine, _ context.CancelFunc) { e.ends <- "0" }, exit: exitcode.AgentInstalled, reason: "the end of its container counts"},
		"it stops our unit":    {during: func(_ *engine, stop context.CancelFunc) { stop() }, exit: exitcode.AgentInstalled, reason: "the end of its container counts"},
		"it fails":             {during: func(e *engine, _ context.CancelFunc) { e.ends <- "1" }, exit: exitcode.AgentFailed, reason: "the hub's own installer failed: the installer ended with exit status 1", reply: 1},
		"it cannot be pulled":  {pull: &command.ExitError{Name: "podman", Code: 125, Last: "no route"}, exit: exitcode.AgentFailed, reason: "pull the installer image", reply: 2},
		"the hub has it ended": {exit: exitcode.AgentCancelled, reason: "the hub ended the installation", stopped: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time is waiting between polls
			v := newVictim(t, orders()["master"])
			g := v.g
			e := &engine{childHost: childHost{v.dir}, ends: make(chan string), pull: tc.pull}
			h := newHub(t, func(h *hub) wire.Steps {
				request := orders()["master"]
				request.HostID, request.InstallerImage = h.host, "quay.example/assisted-installer:v2"
				raw, _ := json.Marshal(request)
				busy := slices.ContainsFunc(h.replies, func(r wire.StepReply) bool { return r.StepType == wire.StepTypeInstall })
				if tc.stopped > 0 && busy {
					return instructions(1, step(wire.StepTypeStopInstallation))
				}
				return instructions(1, step(wire.StepTypeInstall, string(raw)))
			})
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			done := make(chan int)
			var log lockedText
			go func() {
				done <- service.Run(ctx, service.Config{
					URL: h.URL, InfraEnvID: infraEnv, AgentVersion: image, Interval: time.Second, Dir: v.dir, Commands: e, Units: e,
					Log: slog.New(slog.NewTextHandler(&log, nil)), OwnLog: func() []byte { return nil },
				})
			}()
			if tc.during != nil {
				running := func() bool { // the hub's order has been repeated meanwhile
					h.mu.Lock()
					defer h.mu.Unlock()
					return slices.ContainsFunc(h.replies, func(r wire.StepReply) bool {
						return r.ExitCode == 125 && r.Error == `the container name "assisted-installer" is already in use`
					})
				}
				g.Eventually(running).WithTimeout(time.Minute).Should(BeTrue(), "%v", &log)
				if tc.away {
					h.CloseClientConnections()
					h.Close()
				}
				tc.during(e, stop)
			}
			g.Eventually(done).WithTimeout(time.Minute).Should(Receive(Equal(tc.exit)), "%v", &log)
			var reason hostfile.Reason
			g.Expect(v.dir.Read(hostfile.ReasonFile, &reason)).To(Succeed())
			g.Expect(reason.Text).To(ContainSubstring(tc.reason))
			g.Expect(v.dir.Read(hostfile.InstalledFile, &hostfile.Installed{})).To(MatchError(hostfile.ErrNoState), "whose end is not ours to prove")
			g.Expect(e.count("stop")).To(Equal(tc.stopped))
			if tc.pull == nil {
				g.Expect(e.count("run")).To(Equal(1), "one installer, however often it is ordered")
				g.Expect(e.ran[0]).To(Equal("rm"), "how an earlier one ended says nothing of this one")
			}
			if tc.reply != 0 {
				h.mu.Lock()
				defer h.mu.Unlock()
				g.Expect(h.replies).To(ContainElement(HaveField("ExitCode", tc.reply)))
			}
			g.Expect(v.lines(ranFile)).NotTo(ContainElement(HavePrefix("coreos-installer")), "we write nothing")
		})
	}
}

// lockedText is a log that is read while it is written.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
