package install

import (
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/ironflow/ironflow/agent/scenario"
)

// Mishaps lets happen to the agent's process what a scenario has planned for it.
// The zero value has nothing planned.
type Mishaps struct {
	Faults scenario.Faults
	Log    *slog.Logger
	// Die ends the process as a crash would; nil means SIGKILL to itself.
	Die func()
	// Exit ends the process with a status; nil means os.Exit.
	Exit func(code int)
	// Hang never returns; nil means to hear no signal and to wait for ever.
	Hang func()
	// Notify sends to the service manager; nil means $NOTIFY_SOCKET.
	Notify func(state string) error
}

// At lets happen what is planned for the stage: the empty one is right after the
// registration, [scenario.StageMarked] after the done marker. It may not return.
func (m Mishaps) At(stage string) error {
	for _, mishap := range []struct {
		kind scenario.FaultKind
		do   func(scenario.Fault) error
	}{
		{scenario.FaultAgentStatus, m.say},
		{scenario.FaultAgentDies, func(scenario.Fault) error { orDefault(m.Die, die)(); return nil }},
		{scenario.FaultAgentExits, func(f scenario.Fault) error { orDefault(m.Exit, os.Exit)(f.Code); return nil }},
		{scenario.FaultAgentHangs, func(scenario.Fault) error { orDefault(m.Hang, hang)(); return nil }},
	} {
		fault, taken, err := m.Faults.Take(mishap.kind, stage)
		if err != nil {
			return err
		}
		if !taken {
			continue
		}
		m.Log.Warn("the scenario has planned a fault of the agent", "fault", mishap.kind, "stage", stage)
		if err := mishap.do(fault); err != nil {
			return err
		}
	}
	return nil
}

// say sends statuses as no notifier would.
func (m Mishaps) say(fault scenario.Fault) error {
	text, err := strconv.Unquote(`"` + fault.Text + `"`)
	if err != nil {
		return fmt.Errorf("the text of the fault %s has a quote or a broken escape: %w", fault.Kind, err)
	}
	send := orDefault(m.Notify, func(state string) error { _, err := daemon.SdNotify(false, state); return err })
	if fault.Count == 0 {
		return send("STATUS=" + text)
	}
	for i := range fault.Count {
		if err := send(fmt.Sprintf("STATUS=%s %d", text, i+1)); err != nil {
			return err
		}
	}
	return nil
}

func orDefault[F func() | func(int) | func(string) error](f, other F) F {
	if f == nil {
		return other
	}
	return f
}

// die ends the process as a crash would, without a last word.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {} // the signal is on its way
}

// hang makes the process deaf to those who ask it to stop.
func hang() {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	select {}
}
