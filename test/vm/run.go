package vm

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/vm/qmp"
)

// tellLimit is how long the BMC may take to hear that the machine is off.
const tellLimit = 30 * time.Second

// run is the machine's life: one thing after the other.
func (m *Machine) run(ctx context.Context) {
	defer close(m.done)
	for {
		var events <-chan qmp.Event
		var retry <-chan time.Time
		if m.life != nil {
			events, retry = m.life.events, m.life.retry
		}
		select {
		case <-ctx.Done():
			m.end()
			return
		case o := <-m.orders:
			m.follow(ctx, o)
		case <-retry:
			m.life.readAgain()
		case event, ok := <-events:
			if !ok {
				m.ended(ctx)
				continue
			}
			m.life.happened(event)
		}
	}
}

// follow does what an order asks for.
func (m *Machine) follow(ctx context.Context, o order) {
	if o.done != nil {
		defer close(o.done)
	}
	switch {
	case o.media:
		m.changeMedium()
		return
	case o.eject:
		if m.life != nil {
			m.life.eject()
		}
		return
	case o.action == "":
		o.action = actions[emulator.Reset(o.why)][m.state]
		m.record(EventAsked, o.why)
	}
	switch o.action {
	case start:
		m.begin(ctx)
	case cut:
		m.end()
		m.record(EventOff, "no power")
		if o.self {
			m.tell(ctx, emulator.PowerOff)
		}
	case restart:
		m.end()
		m.begin(ctx)
	case nothing:
	case shutdown, cycle:
		m.state, m.again = stopping, o.action == cycle
		if err := m.life.qmp.Execute(m.life.ctx, "system_powerdown", nil, nil); err != nil {
			m.record(EventTrouble, err.Error())
		}
	case startLater:
		m.again = true
	}
	if m.state == on && !o.taken.IsZero() && m.told.After(o.taken) {
		// The machine went off by itself just before the BMC asked, and was heard after that.
		m.tell(ctx, emulator.PowerOn)
	}
}

// begin starts the machine. One that cannot start is off, as its BMC gets to hear.
func (m *Machine) begin(ctx context.Context) {
	m.mu.Lock()
	board, forced := m.board, m.forced
	m.mu.Unlock()
	p := decide(m.config, board, forced)
	m.record(EventStart, p.String())
	l, err := m.startLife(ctx, p)
	if err != nil {
		m.end()
		m.record(EventTrouble, err.Error())
		m.tell(ctx, emulator.PowerOff)
		return
	}
	m.state, m.again = on, false
	l.insertFirst(p.medium)
}

// end takes the power away.
func (m *Machine) end() {
	m.mu.Lock()
	l := m.life
	m.life = nil
	m.mu.Unlock()
	l.kill()
	m.state, m.again = off, false
}

// ended follows the end of a QEMU that ended by itself.
func (m *Machine) ended(ctx context.Context) {
	how, again := m.life.how, m.again
	detail := string(how)
	if how == endDied {
		detail += ": " + m.life.lastWords()
	}
	m.end()
	switch {
	case how == endReset:
		m.record(EventReset, detail)
		m.begin(ctx)
	case again && how == endOff:
		m.record(EventOff, detail)
		m.begin(ctx)
	default:
		m.record(EventOff, detail)
		m.tell(ctx, emulator.PowerOff)
	}
}

// tell tells the BMC what it cannot know: a change of the power by the machine.
func (m *Machine) tell(ctx context.Context, power emulator.Power) {
	m.told = time.Now()
	if m.config.Board == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	if err := m.config.Board.SetPower(ctx, m.config.UUID, power); err != nil {
		m.record(EventTrouble, err.Error())
	}
}
