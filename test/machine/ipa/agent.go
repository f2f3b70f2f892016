package ipa

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Version is the version of the real agent that this one is modelled on.
const Version = "13.0.0"

// hiddenToken is what Ironic gives out when the token has been handed out before.
const hiddenToken = "******"

// promptAfter is how long after a step's end its own heartbeat is sent: Ironic
// must find the command done.
const promptAfter = 100 * time.Millisecond

// Phase is what the agent is doing.
type Phase string

// The phases of an agent's life, in their order; a life ends in the last or in
// LockedDown.
const (
	Inspecting Phase = "inspecting"
	LookingUp  Phase = "looking up"
	LockedDown Phase = "locked down"
	Serving    Phase = "serving"
)

// Power switches the machine that the agent runs on. Both end the agent with it.
type Power interface {
	Off(ctx context.Context) error
	Reboot(ctx context.Context) error
}

// Options is what one life of the agent needs.
type Options struct {
	Config Config
	// Roots are the CAs for Ironic; nil means the system's.
	Roots *x509.CertPool
	// Inventory is what inspection finds.
	Inventory Inventory
	// Managers are the hardware managers, the best suited first.
	Managers []Manager
	Power    Power
	// WriteImage writes the image of a deployment with deploy interface direct, and
	// returns the device. Nil: this machine has no disk, such deployments fail.
	WriteImage func(context.Context, Image) (device string, err error)
	// Logs makes the archive (tar.gz) of the ramdisk's logs. Nil: there are none.
	Logs func(context.Context) ([]byte, error)
	Pace Pace
	// Identity is kept by the caller for a restart within one boot. Nil: fresh.
	Identity *Identity
	// Observe is told each phase; it must not block. Nil: nobody listens.
	Observe func(Phase)
	Log     *slog.Logger
}

type agent struct {
	Options
	log      *slog.Logger
	client   *client
	managers managers
	journal  journal
	beats    *heartbeater
	node     string
	started  time.Time
	// life ends with the agent; commands run in it.
	life context.Context
	// commanded is closed by the first command.
	commanded     chan struct{}
	commandedOnce sync.Once
	// prompt is set while the running step wants a heartbeat of its own at its end.
	prompt atomic.Bool
	// leaves is set once the agent itself has the machine go down, which takes longer than
	// the answer to whoever asked for it.
	leaves atomic.Bool
	// lockdown ends the API and the heartbeats.
	lockdown context.CancelFunc
}

// Run is one life of the agent. It returns nil when ctx ends, and an error only
// for what a restart of the agent could mend.
func Run(ctx context.Context, o Options) error {
	a := &agent{
		Options: o, log: o.Log, client: newClient(o.Config, o.Roots), managers: o.Managers,
		started: time.Now(), life: ctx, commanded: make(chan struct{}),
	}
	a.Pace = a.Pace.withDefaults()
	if a.WriteImage != nil {
		a.managers = append(slices.Clone(a.managers), imageWriter{a})
	}
	if a.Identity == nil {
		a.Identity = &Identity{}
	}
	if a.Observe == nil {
		a.Observe = func(Phase) {}
	}
	defer a.client.http.CloseIdleConnections()
	offering := a.firstInspection(ctx)
	answer, err := a.findNode(ctx)
	if err != nil {
		return ended(ctx, err)
	}
	a.node = answer.Node.UUID
	if !a.takeToken(answer.Config.AgentToken) {
		a.Observe(LockedDown)
		a.log.Error("no agent token: it was handed out before; locked down until the machine is rebooted through Ironic")
		<-ctx.Done()
		return nil
	}
	return ended(ctx, a.serve(ctx, time.Duration(answer.Config.HeartbeatTimeout*float64(time.Second)), offering))
}

// ended turns the end of the context into a quiet end.
func ended(ctx context.Context, err error) error {
	select {
	case <-ctx.Done():
		return nil
	default:
		return err
	}
}

// firstInspection posts the inventory and reports whether to offer it again.
func (a *agent) firstInspection(ctx context.Context) bool {
	if len(a.Config.InspectionURLs) == 0 {
		return false
	}
	a.Observe(Inspecting)
	node, err := a.inspect(ctx)
	if err != nil {
		a.log.Info("inventory not taken, going on with the look-up", "error", err)
		return notWaiting(err)
	}
	a.node = node
	a.log.Info("inventory taken", "node", node)
	return false
}

// findNode looks the node up until Ironic knows it.
func (a *agent) findNode(ctx context.Context) (lookupAnswer, error) {
	a.Observe(LookingUp)
	pause := a.Pace.Lookup
	for {
		answer, err := a.client.lookup(ctx, a.Inventory.macs(), a.node)
		if err == nil {
			a.log.Info("node found", "node", answer.Node.UUID)
			return answer, nil
		}
		if ctx.Err() != nil {
			return answer, ctx.Err()
		}
		wait := pause
		if r, ok := errors.AsType[*refusal](err); ok && r.code == http.StatusConflict {
			wait = a.Pace.Conflict
		}
		a.log.Info("node not found, trying again", "error", err)
		select {
		case <-ctx.Done():
			return answer, ctx.Err()
		case <-time.After(wait):
		}
		pause = min(2*pause, 10*a.Pace.Lookup)
	}
}

// takeToken keeps the token and reports whether there is one to work with.
func (a *agent) takeToken(token string) bool {
	if token != "" && token != hiddenToken {
		a.Identity.Token = token
	}
	if a.Identity.Token == "" && token == "" {
		a.log.Warn("Ironic gave no agent token: every command will be refused")
		return true
	}
	return a.Identity.Token != ""
}

// serve runs the command API and the heartbeats until the context ends or the
// agent is locked down.
func (a *agent) serve(ctx context.Context, timeout time.Duration, offering bool) error {
	listener, err := a.Identity.listen(ctx)
	if err != nil {
		return err
	}
	open, closeAPI := context.WithCancel(ctx)
	defer closeAPI()
	a.lockdown = closeAPI
	a.beats = newHeartbeater(a.Pace, timeout, func(ctx context.Context) error { return a.beat(ctx, "") }, a.log)
	server := &http.Server{
		Handler: a.handler(), ReadHeaderTimeout: time.Minute,
		ErrorLog: log.New(io.Discard, "", 0), // Ironic's look at a dead connection is no news
	}
	var wg sync.WaitGroup
	wg.Go(func() { a.beats.run(open) })
	if offering {
		wg.Go(func() { a.keepOffering(open) })
	}
	failed := make(chan error, 1)
	wg.Go(func() { failed <- server.Serve(listener) })
	a.Observe(Serving)
	a.log.Info("agent serves", "url", a.url())
	select {
	case err = <-failed:
		err = fmt.Errorf("agent's command API: %w", err)
	case <-open.Done():
	}
	closeAPI()
	a.stop(ctx, server)
	wg.Wait()
	if ctx.Err() == nil && err == nil {
		a.Observe(LockedDown)
		a.log.Info("locked down, as Ironic asked")
		<-ctx.Done()
	}
	a.journal.wg.Wait()
	return err
}

// stop ends the API: at once with a machine that loses its power, after the last answer in a
// lockdown, or where the machine goes down in order.
func (a *agent) stop(ctx context.Context, server *http.Server) {
	if a.leaves.Load() {
		ctx = context.WithoutCancel(ctx)
	}
	grace, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if server.Shutdown(grace) != nil {
		_ = server.Close() // connections end with the machine
	}
}

func (a *agent) url() string { return "https://" + a.Identity.Address }

// beat sends one heartbeat, with a status message if there is one.
func (a *agent) beat(ctx context.Context, message string) error {
	beat := heartbeat{
		CallbackURL: a.url(), AgentToken: a.Identity.Token, AgentVersion: Version, AgentVerifyCA: a.Identity.pem,
	}
	if message != "" {
		beat.AgentStatus, beat.StatusMessage = "start", message
	}
	return a.client.heartbeat(ctx, a.node, beat)
}

// commandEnded lets a heartbeat follow an asynchronous command.
func (a *agent) commandEnded() {
	if !a.prompt.Swap(false) {
		signal(a.beats.forced)
		return
	}
	select {
	case <-a.life.Done():
	case <-time.After(promptAfter):
		signal(a.beats.prompt)
	}
}
