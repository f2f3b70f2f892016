package outbox_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/outbox"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

var self = hubclient.Host{InfraEnvID: "ie", HostID: "h"}

func bootOf(g *WithT, dir hostfile.Dir, id string) {
	path := dir.Path(hostfile.BootIDPath())
	g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(path, []byte(id), 0o600)).To(Succeed())
}

// crash runs an outbox whose hub is away, and ends it without a farewell.
func crash(t *testing.T, dir hostfile.Dir, replies ...wire.StepReply) {
	ctx, cancel := context.WithCancel(t.Context())
	o := outbox.New(func(context.Context, wire.StepReply) error { return errors.New("connection refused") }, func() {}, slog.New(slog.DiscardHandler))
	o.Restore(dir, self)
	done := make(chan struct{})
	go func() { defer close(done); o.Run(ctx) }()
	for _, r := range replies {
		o.Put(r)
	}
	synctest.Wait()
	cancel()
	<-done
}

func TestRepliesSurviveARestart(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(g *WithT, dir hostfile.Dir, host *hubclient.Host)
		want   []string
	}{
		"same boot, same host": {nil, []string{"installation-disk-speed-check new", "inventory x"}},
		"another boot":         {func(g *WithT, dir hostfile.Dir, _ *hubclient.Host) { bootOf(g, dir, "b2") }, nil},
		"another host":         {func(_ *WithT, _ hostfile.Dir, host *hubclient.Host) { host.HostID = "other" }, nil},
		"broken file": {func(g *WithT, dir hostfile.Dir, _ *hubclient.Host) {
			g.Expect(os.WriteFile(dir.Path(outbox.Path), []byte("{"), 0o600)).To(Succeed())
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				dir, host := hostfile.Dir{Root: t.TempDir()}, self
				bootOf(g, dir, "b1")
				crash(t, dir, reply("inventory", "x"), reply("installation-disk-speed-check", "old"),
					reply("installation-disk-speed-check", "new"), reply("install", "out of date"))
				info, err := os.Stat(dir.Path("/run/ironflow/outbox.json"))
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
				if tc.change != nil {
					tc.change(g, dir, &host)
				}
				r := start(t, accept)
				r.Restore(dir, host, "install")
				r.Drain(t.Context())
				g.Expect(r.posted).To(ConsistOf(tc.want))
				crash(t, dir) // a third process
				again := start(t, accept)
				again.Restore(dir, host)
				again.Drain(t.Context())
				g.Expect(again.posted).To(BeEmpty(), "what the hub took is not said again")
			})
		})
	}
}

func TestAHugeReplyDoesNotPushOthersOutOfTheFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		dir := hostfile.Dir{Root: t.TempDir()}
		bootOf(g, dir, "b1")
		crash(t, dir, reply("inventory", strings.Repeat("x", 2<<20)), reply("ntp-synchronizer", "y"))
		r := start(t, accept)
		r.Restore(dir, self)
		r.Drain(t.Context())
		g.Expect(r.posted).To(Equal([]string{"ntp-synchronizer y"}))
	})
}

// A hub may send step types that nobody knows, each with its own failure as the reply.
func TestWhatWaitsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := start(t, func(int) error { return errors.New("connection refused") })
		for i := range 1000 {
			r.Put(wire.StepReply{StepType: wire.StepType(strings.Repeat("x", i+1)), ExitCode: -1})
		}
		synctest.Wait()
		kinds := map[string]bool{}
		for _, p := range r.posted {
			kinds[p] = true
		}
		g.Expect(len(kinds)).To(BeNumerically("<=", 32))
	})
}
