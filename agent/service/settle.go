package service

import (
	"context"
	"errors"
	"time"

	"github.com/ironflow/ironflow/agent/poll"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// exitGrace is the least that running steps get when the hub lets the host go.
	exitGrace = 5 * time.Second
	// cancelGrace is what cancelled steps get to clean up after themselves.
	cancelGrace = 5 * time.Second
)

// entered is told each new situation: steps that are moot in it end.
func (a *agent) entered(s poll.Situation) {
	a.cfg.Image.Polled()
	if s != poll.Stopping && s != poll.Unknown {
		a.seen.Store(&s)
	}
	a.dispatcher.Cancel(errors.New(s.Text()), s.Moot)
}

// settle carries out the hub's word to exit: the steps that run, those of the
// same answer among them, end by themselves within the hub's delay or are
// cancelled, their replies are sent, and the rest of the delay passes. It is
// false when the work ended first.
func (a *agent) settle(work context.Context, again poll.Again) bool {
	over := time.NewTimer(again.After)
	defer over.Stop()
	running, cancel := context.WithTimeout(work, max(again.After, exitGrace))
	a.dispatcher.Wait(running)
	cancel()
	a.dispatcher.Cancel(errors.New(again.Reason), func(wire.StepType) bool { return true })
	ending, cancel := context.WithTimeout(work, cancelGrace)
	a.dispatcher.Wait(ending)
	cancel()
	sending, cancel := context.WithTimeout(work, drainGrace)
	a.outbox.Drain(sending)
	cancel()
	select {
	case <-work.Done():
		return false
	case <-over.C:
		return true
	}
}
