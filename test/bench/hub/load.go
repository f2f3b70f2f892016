package main

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// order is what the process with the load is told.
type order struct {
	// Phase names one of the phases below.
	Phase   string
	URL, CA string
	Groups  []group
	// Boot is the time within which all machines start.
	Boot time.Duration
	// Settle is how long they are left alone before they are watched for Window.
	Settle, Window time.Duration
	// Reactions is how many inventories change, of hosts of the largest and of the smallest group.
	Reactions int
	// Tokens are the hosts' own ones, by their numbers, which an earlier phase was given.
	Tokens map[int]string
}

// event is what the load tells, one line each.
type event struct {
	Name    string
	Figures map[string]float64
	// Errors are failed calls by what they are.
	Errors map[string]int
	// Tokens are the hosts' own ones, by their numbers, for phases that come later.
	Tokens map[int]string `json:",omitempty"`
}

// The events. Those without figures mark a moment.
const (
	allJudged   = "judged"
	tokensGiven = "every host has a token of its own"
	windowBegin = "window begins"
	windowEnd   = "window ends"
	reacted     = "reacted"
	saturated   = "saturated"
	installed   = "installed"

	hostileEnded = "the hostile host has ended"
)

var phases = map[string]func(*load, context.Context) error{
	"live": (*load).live, "saturate": (*load).saturate, "install": (*load).install, "prepare": (*load).prepare, "hostile": (*load).hostile,
}

// load is a fleet of simulated machines in one process.
type load struct {
	order
	out   *json.Encoder
	roots *x509.CertPool

	mu     sync.Mutex
	errors map[string]int
	// refusals are all of them, refusedMost those of the machine with most, deadlines calls that were not answered in time.
	refusals, refusedMost, deadlines int
	// polls are how long answers took while they are watched.
	polls    []time.Duration
	watching bool
}

// token is the machine's own one once it has it, as an agent of ours has; before, it is that of its image.
func (l *load) token(m machine) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own, ok := l.Tokens[m.number]; ok {
		return own
	}
	return m.group.Token
}

// keepToken notes a machine's own token.
func (l *load) keepToken(m machine, own string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Tokens == nil {
		l.Tokens = map[int]string{}
	}
	l.Tokens[m.number] = own
}

// tellTokens hands the tokens to whoever starts the next phase.
func (l *load) tellTokens() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Encode(event{Name: tokensGiven, Tokens: l.Tokens})
}

// beLoad does a phase.
func beLoad(ctx context.Context, orders io.Reader) error {
	l := &load{out: json.NewEncoder(os.Stdout), errors: map[string]int{}}
	if err := json.NewDecoder(orders).Decode(&l.order); err != nil {
		return err
	}
	l.roots = trust(l.CA)
	do := phases[l.Phase]
	if do == nil {
		return fmt.Errorf("there is no phase %q", l.Phase)
	}
	return do(l, ctx)
}

// tell reports an event with the errors so far.
func (l *load) tell(name string, figures map[string]float64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Encode(event{Name: name, Figures: figures, Errors: l.errors})
}

// failed counts a call that went wrong otherwise than by a deadline.
func (l *load) failed(what error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !errors.Is(what, errDeadline) {
		l.errors[what.Error()]++
	}
}

// refused counts the last of a machine's refusals. What was refused of a machine with more than any before is for
// people to read.
func (l *load) refused(ofMachine []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.refusals++
	if len(ofMachine) > max(l.refusedMost, 1) {
		fmt.Fprintf(os.Stderr, "refused %d times: %s\n", len(ofMachine), strings.Join(ofMachine, ", "))
	}
	l.refusedMost = max(l.refusedMost, len(ofMachine))
}

// late counts a call that was not answered in time.
func (l *load) late() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.deadlines++
}

// calls are the figures of what became of calls so far.
func (l *load) calls() map[string]float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return map[string]float64{"refusals": float64(l.refusals), "refused_most": float64(l.refusedMost), "deadlines": float64(l.deadlines)}
}

// polled notes an answered poll.
func (l *load) polled(took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.watching {
		l.polls = append(l.polls, took)
	}
}

func (l *load) watch(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watching = on
}

// machines are those of all groups.
func (l *load) machines() (all []machine) {
	for _, g := range l.Groups {
		for place := range g.Size {
			all = append(all, machine{g, g.First + place, place})
		}
	}
	return all
}

// live boots all machines, watches them at rest, and lets some of them change.
func (l *load) live(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	machines := l.machines()
	begin := time.Now()
	judged := make(chan struct{}, len(machines))
	for i, m := range machines {
		delay := l.Boot * time.Duration(i) / time.Duration(len(machines))
		running.Go(func() {
			agent := &agent{machine: m, load: l, calls: l.newClient()}
			defer agent.calls.close()
			if wait(ctx, delay) {
				agent.run(ctx, func() { judged <- struct{}{} })
			}
		})
	}
	for range machines {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-judged:
		}
	}
	figures := l.calls()
	figures["seconds"] = time.Since(begin).Seconds()
	if err := errors.Join(l.tell(allJudged, figures), l.tellTokens()); err != nil {
		return err
	}
	if !wait(ctx, l.Settle) {
		return ctx.Err()
	}
	l.watch(true)
	if err := l.tell(windowBegin, nil); err != nil {
		return err
	}
	if !wait(ctx, l.Window) {
		return ctx.Err()
	}
	l.watch(false)
	if err := l.tell(windowEnd, summary(l.polls)); err != nil {
		return err
	}
	return l.react(ctx, machines)
}

// react lets machines lose their disks, one after the other, while everybody else goes on.
func (l *load) react(ctx context.Context, machines []machine) error {
	var largest, other []time.Duration
	calls := l.newClient()
	defer calls.close()
	ends := []struct {
		machines []machine
		into     *[]time.Duration
	}{{machines, &largest}, {backwards(machines), &other}}
	for n := range l.Reactions {
		for _, end := range ends {
			agent := &agent{machine: end.machines[n], load: l, calls: calls}
			took, err := agent.lose(ctx)
			if err != nil {
				return err
			}
			*end.into = append(*end.into, took)
			if !wait(ctx, 20*time.Millisecond) {
				return ctx.Err()
			}
		}
	}
	all := summary(append(largest, other...))
	all["largest_p99_ms"], all["other_p99_ms"] = summary(largest)["p99_ms"], summary(other)["p99_ms"]
	return l.tell(reacted, all)
}

// connections is how many callers a closed loop has.
const connections = 32

// saturate polls as fast as the hub answers, over a fixed number of connections.
func (l *load) saturate(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, l.Window)
	defer stop()
	machines := l.machines()
	l.watch(true)
	var running sync.WaitGroup
	for c := range connections {
		running.Go(func() {
			calls, err := l.dial(ctx)
			if err != nil {
				l.failed(err)
				return
			}
			defer calls.close()
			for i := c; ctx.Err() == nil; i = (i + connections) % len(machines) {
				begin := time.Now()
				if err := calls.poll(machines[i], l.token(machines[i])); err != nil {
					l.failed(err)
					return
				}
				l.polled(time.Since(begin))
			}
		})
	}
	running.Wait()
	figures := summary(l.polls)
	figures["per_s"] = float64(len(l.polls)) / l.Window.Seconds()
	return l.tell(saturated, figures)
}

// install takes all clusters through a whole installation.
func (l *load) install(ctx context.Context) error {
	begin := time.Now()
	failures := make(chan error, len(l.Groups))
	for i, g := range l.Groups {
		delay := l.Boot * time.Duration(i) / time.Duration(len(l.Groups))
		go func() {
			if !wait(ctx, delay) {
				failures <- ctx.Err()
				return
			}
			failures <- l.installCluster(ctx, g)
		}()
	}
	var errs []error
	for range l.Groups {
		if err := <-failures; err != nil && len(errs) < 5 {
			errs = append(errs, err)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return l.tell(installed, map[string]float64{"seconds": time.Since(begin).Seconds()})
}

// wait waits; false means that it is over.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
