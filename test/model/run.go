package model

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host"
	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// answer is how Ironic answers a request that changes something.
type answer string

const (
	taken   answer = ""
	busy    answer = "busy"
	refused answer = "refused"
	lost    answer = "lost"
	down    answer = "down"
)

// upset is what goes wrong in the passes that follow a move. The zero value is nothing.
type upset struct {
	// Crash ends the process right after so many writes, counted from 1.
	Crash int
	// Request is the request to Ironic, counted from 1, that gets this Answer.
	Request int
	Answer  answer
	// Read is the look at Ironic, counted from 1, that gets no answer.
	Read int
	// Write is the write to the API server, counted from 1, that is refused because the
	// object has changed meanwhile, or whose answer is lost.
	Write int
	// Stale means that the cache does not show the last change of a user in the first pass.
	Stale bool
}

// run is the controller at work in a world: one for each worker, since it goes from
// world to world.
type run struct {
	world     *World
	rehearsal *host.Rehearsal      // of a controller without firmware resources
	keeping   *host.Rehearsal      // and of one with them
	limiting  *host.Rehearsal      // and of one that limits how many hosts are at work
	host      types.NamespacedName // whose pass it is
	upset     upset
	stale     bool
	counts
	telling bool
	dead    bool // the process, until the next step
}

// counts are what was done since the move.
type counts struct {
	writes   int // of any kind
	requests int // to Ironic, to change something
	reads    int // of Ironic
	stored   int // at the API server
}

// crashed is what a pass ends with that was cut off.
type crashed struct{}

func newRun() (*run, error) {
	r := &run{}
	c := &cluster{run: r}
	o := host.Options{
		Gateway: gateway{r}, Watch: watch{r}, Now: func() time.Time { return r.world.Now },
		Settings: policy.Settings{MaxAttempts: 3, Settings: nodespec.Settings{DeployISO: "http://images/live.iso", Architecture: "x86_64"}},
	}
	var err error
	if r.rehearsal, err = host.NewRehearsal(c, o); err != nil {
		return nil, err
	}
	o.Limits = limits
	if r.limiting, err = host.NewRehearsal(c, o); err != nil {
		return nil, err
	}
	o.Limits, o.Firmware = capacity.Limits{}, keeper{r}
	r.keeping, err = host.NewRehearsal(c, o)
	return r, err
}

var _ client.Client = (*cluster)(nil)

func (r *run) note(format string, args ...any) {
	if r.telling {
		r.world.told = append(r.world.told, fmt.Sprintf(format, args...))
	}
}

// answer says how the next request to Ironic is answered.
func (r *run) answer() answer {
	r.requests++
	if r.requests == r.upset.Request {
		return r.upset.Answer
	}
	return taken
}

// look says whether the next look at Ironic is answered.
func (r *run) look(op string) error {
	r.reads++
	if r.reads != r.upset.Read {
		return nil
	}
	r.note("Ironic does not answer %q", op)
	return failed(ironic.Unavailable, op, "connection refused")
}

// store says how the next write to the API server is answered.
func (r *run) store() answer {
	r.stored++
	if r.stored == r.upset.Write {
		return r.upset.Answer
	}
	return taken
}

// checkHold is before each write but that of a status: none is made for a host that
// somebody keeps everybody off.
func (r *run) checkHold(what string) {
	if h := r.world.host(r.host); h != nil && !r.stale && reconcile.KeptOff(h) != "" {
		r.world.breaks("TOUCHED ON HOLD: %s, for host %s, which has the annotation %s", what, h.Name, reconcile.KeptOff(h))
	}
}

// checkMoved is before each request to Ironic: none is made for a host that is elsewhere now.
func (r *run) checkMoved(what string) {
	if h := r.world.host(r.host); h != nil && !r.stale && reconcile.Moved(h) {
		r.world.breaks("TOUCHED THOUGH MOVED: Ironic is asked to %s, for host %s, which is elsewhere now", what, h.Name)
	}
}

// wrote is after each write.
func (r *run) wrote(format string, args ...any) {
	r.note(format, args...)
	r.writes++
	if r.writes == r.upset.Crash {
		r.note("the controller dies")
		panic(crashed{}) //nolint:forbidigo // as a process dies: nothing after the write is done
	}
}

// maxPasses bounds the passes that follow a move without time going by.
const maxPasses = 30

// toRest runs passes until no host is woken any more, or the process has died.
func (r *run) toRest(w *World) {
	r.world, r.dead = w, false
	r.resume(w)
	for range maxPasses {
		key, found := w.nextWoken()
		if !found || w.broken != "" || r.dead {
			return
		}
		delete(w.woken, key)
		r.pass(key)
	}
	w.breaks("NO REST: after %d passes hosts are still woken, without anything having happened", maxPasses)
}

// nextWoken is the first host that is to be looked at.
func (w *World) nextWoken() (types.NamespacedName, bool) {
	for _, key := range hostKeys {
		if w.woken[key] {
			return key, true
		}
	}
	return types.NamespacedName{}, false
}

// pass runs one pass of a host.
func (r *run) pass(key types.NamespacedName) {
	w := r.world
	defer func() {
		r.stale = false
		if cut := recover(); cut != nil {
			if _, is := cut.(crashed); !is {
				panic(cut) //nolint:forbidigo // another panic than ours goes on
			}
			w.restart()
			r.dead = true
		}
	}()
	r.host = key
	rehearsal := r.of(w)
	rehearsal.Stand(w.line, w.wake)
	rehearsal.Remember(key, w.memories[key])
	_, r.stale = w.before[key]
	r.stale = r.stale && r.upset.Stale
	if !r.stale {
		delete(w.before, key)
	}
	result, err := rehearsal.Next(quiet, key)
	w.line = rehearsal.Line()
	w.settle(key, rehearsal.Memory(key), result, err)
	if r.stale {
		w.woken[key] = w.host(key) != nil // when the cache hears of the change
		delete(w.before, key)
	}
	if err != nil {
		r.note("the pass ends with an error: %v", err)
	}
}

// of is the controller that a world has.
func (r *run) of(w *World) *host.Rehearsal {
	switch {
	case w.limited:
		return r.limiting
	case w.firmware != notKept:
		return r.keeping
	default:
		return r.rehearsal
	}
}

// quiet is a context whose log goes nowhere.
var quiet = ctrl.LoggerInto(context.Background(), logr.Discard())

// settle takes over what a pass has come to.
func (w *World) settle(key types.NamespacedName, m memory.Memory, result ctrl.Result, err error) {
	delete(w.timers, key)
	if w.host(key) == nil {
		delete(w.memories, key)
		delete(w.errors, key)
		return
	}
	forgot := m.SeenIn == "" && w.memories[key].SeenIn != "" // as of a host that is paused
	w.doubt.Unseen = w.doubt.Unseen || forgot && w.doubt.NodeLost
	w.memories[key] = m
	switch {
	case err != nil:
		w.errors[key]++
		w.timers[key] = w.Now.Add(time.Duration(min(w.errors[key], 10)) * time.Second)
	case result.RequeueAfter > 0:
		w.timers[key] = w.Now.Add(result.RequeueAfter)
		delete(w.errors, key)
	default:
		delete(w.errors, key)
	}
}

// restart is a new process, or another leader: it remembers nothing, and looks at all.
func (w *World) restart() {
	w.doubt.Unseen = w.doubt.Unseen || w.doubt.NodeLost
	clear(w.memories)
	clear(w.timers)
	clear(w.errors)
	clear(w.before)
	w.rows = nil // a new watch lists all
	w.line, w.resumed = capacity.Line{}, false
	for _, key := range w.hosts() {
		w.woken[key] = true
	}
}
