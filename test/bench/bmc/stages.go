package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// used is what the program has taken since its start.
type used struct {
	cpu  time.Duration
	peak int64
}

func (w *world) used() (used, error) {
	u, err := w.process()
	return used{u.CPU, u.Peak}, err
}

// register makes the hosts and waits until they are available, and so many BMCs probed.
// It returns how long that took.
func (w *world) register(ctx context.Context, probed int) (allAvailable, allProbed time.Duration, u used, err error) {
	making := make(chan error, 1)
	go func() { making <- w.hosts.create(ctx, w.roll.Systems) }()
	allAvailable, allProbed, err = w.hosts.until(ctx, w.options.Limit, w.options.Hosts, probed)
	if err = errors.Join(err, <-making); err == nil {
		u, err = w.used()
	}
	return allAvailable, allProbed, u, err
}

// quietFor is how long nobody asks a BMC before the program is taken to be at rest.
const quietFor = 10 * time.Second

// quiet waits until the BMCs are asked no more, and returns how many requests each has got.
func (w *world) quiet(ctx context.Context) ([]int, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, w.options.Limit, fmt.Errorf("BMCs are asked all the time, for %s", w.options.Limit))
	defer cancel()
	var last []int
	for since := time.Now(); ; pause(ctx, time.Second) {
		counts, err := w.fleet.requests(ctx)
		if err != nil {
			return nil, errors.Join(err, context.Cause(ctx))
		}
		if !slices.Equal(counts, last) {
			last, since = counts, time.Now()
		}
		if time.Since(since) >= quietFor {
			return counts, nil
		}
	}
}

// subscribe waits until all BMCs push their events, and until nothing is asked any more.
func (w *world) subscribe(ctx context.Context) error {
	limited, cancel := context.WithTimeoutCause(ctx, w.options.Limit, fmt.Errorf("not all BMCs push their events within %s", w.options.Limit))
	defer cancel()
	for n := w.hosts.subscribed(); n < w.options.Hosts; n = w.hosts.subscribed() {
		if limited.Err() != nil {
			return fmt.Errorf("%w: %d do", context.Cause(limited), n)
		}
		say("%d BMCs push their events", n)
		pause(limited, talk)
	}
	_, err := w.quiet(ctx)
	return err
}

const (
	// eventsPerHost a second make 1,200 of a fleet of 1,000 hosts.
	eventsPerHost = 1.2
	eventsFor     = 20 * time.Second
	// eventPatience is how long events may take to arrive.
	eventPatience = 20 * time.Second
)

// flood has the BMCs tell events, and returns how many a second were taken, until the
// last one was. One that was not taken is an error.
func (w *world) flood(ctx context.Context) (perSecond float64, err error) {
	rate := int(math.Ceil(eventsPerHost * float64(w.options.Hosts)))
	wanted := rate * int(eventsFor.Seconds())
	before, err := w.told(ctx)
	if err != nil {
		return 0, err
	}
	say("%d events, %d a second", wanted, rate)
	begin, err := w.fleet.emit(ctx, wanted, rate)
	if err != nil {
		return 0, err
	}
	for end := time.Now().Add(eventPatience); ; pause(ctx, 100*time.Millisecond) {
		now, err := w.told(ctx)
		if err != nil {
			return 0, err
		}
		took := time.Since(begin)
		switch taken, lost := now.events-before.events, now.overflowed-before.overflowed; {
		case lost > 0:
			return 0, fmt.Errorf("%d deliveries were too many to be read", lost)
		case taken >= wanted && now.tasks-before.tasks >= wanted:
			return float64(taken) / took.Seconds(), nil
		case time.Now().After(end):
			return 0, fmt.Errorf("%d of %d events were taken, and %d looked at", taken, wanted, now.tasks-before.tasks)
		}
	}
}

const (
	// mostWakes is how many reactions are measured, of one host each, wakePause the time
	// between two.
	mostWakes = 300
	wakePause = 50 * time.Millisecond
	// wakePatience is how long a reaction may take. Without an event a host is looked
	// at within a minute.
	wakePatience = 30 * time.Second
)

// react has machines change their power by themselves, and returns how soon the program
// asks Ironic for their nodes: 99 of 100 are faster.
func (w *world) react(ctx context.Context) (time.Duration, error) {
	wakes := min(mostWakes, w.options.Hosts)
	say("%d machines change their power", wakes)
	took, errs := make(chan time.Duration, wakes), make(chan error, wakes)
	for i := range wakes {
		asked := w.calls.next(w.hosts.node(i))
		at, err := w.fleet.power(ctx, i, simulator.Off)
		if err != nil {
			return 0, err
		}
		go func() {
			select {
			case when := <-asked:
				took <- when.Sub(at)
			case <-time.After(wakePatience):
				errs <- fmt.Errorf("the power of host %d changed, and nobody asked Ironic for its node within %s", i, wakePatience)
			}
		}()
		pause(ctx, wakePause)
	}
	var all []time.Duration
	for range wakes {
		select {
		case d := <-took:
			all = append(all, d)
		case err := <-errs:
			return 0, err
		}
	}
	for i := range wakes { // what comes next is measured of machines that are on: of others little is read
		if _, err := w.fleet.power(ctx, i, simulator.On); err != nil {
			return 0, err
		}
	}
	slices.Sort(all)
	say("reactions: half within %s, the slowest %s", all[len(all)/2], all[len(all)-1])
	return all[int(math.Ceil(0.99*float64(len(all))))-1], nil
}

// allAsked waits until each BMC has got a request more than before: until a program that was
// just started has come to the last of them.
func (w *world) allAsked(ctx context.Context, before []int) error {
	ctx, cancel := context.WithTimeoutCause(ctx, w.options.Limit, fmt.Errorf("not all BMCs are asked within %s", w.options.Limit))
	defer cancel()
	for ; ; pause(ctx, time.Second) {
		now, err := w.fleet.requests(ctx)
		if err != nil {
			return errors.Join(err, context.Cause(ctx))
		}
		asked := 0
		for i := range now {
			if now[i] > before[i] {
				asked++
			}
		}
		if asked == len(now) {
			return nil
		}
	}
}

// looks is how many requests a look at a BMC's subscription takes, in the mean of all
// hosts: as many as are made between two looks at a host, once the program, which has
// been started since before, has found the subscriptions.
func (w *world) looks(ctx context.Context, before []int) (float64, error) {
	if err := w.allAsked(ctx, before); err != nil {
		return 0, err
	}
	pause(ctx, quietFor) // the last of the first looks
	known, err := w.fleet.kinds(ctx)
	if err != nil {
		return 0, err
	}
	say("%d hosts rest for %s", w.options.Hosts, lookEvery)
	pause(ctx, lookEvery)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return w.perHost(ctx, known)
}

// lookEvery is the shortest time between two looks that the program takes.
const lookEvery = time.Minute

// readings is how many requests a reading of a machine's health takes, in the mean of all
// hosts: those that the program makes right after its start, when it knows of none.
func (w *world) readings(ctx context.Context, before []int, kinds map[string]int) (float64, error) {
	if err := w.allAsked(ctx, before); err != nil {
		return 0, err
	}
	if _, err := w.quiet(ctx); err != nil {
		return 0, err
	}
	return w.perHost(ctx, kinds)
}

// perHost is how many requests were made since before, for one host, and says which.
func (w *world) perHost(ctx context.Context, before map[string]int) (total float64, err error) {
	after, err := w.fleet.kinds(ctx)
	for _, kind := range slices.Sorted(maps.Keys(after)) {
		if n := float64(after[kind]-before[kind]) / float64(w.options.Hosts); n > 0 {
			say("%6.2f a host  %s", n, kind)
			total += n
		}
	}
	return total, err
}
