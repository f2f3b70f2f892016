package emulator

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// notifierPatience is how long a machine may take to answer.
const notifierPatience = 20 * time.Second

// Notifier tells machines behind our own Redfish simulator what they hear from
// the emulator: the same PUT requests with a [SystemChange], so that the machines
// cannot tell one from the other. It implements simulator.Machine.
type Notifier struct {
	// URL receives the changes.
	URL string
	// User and Password are sent along if User is set.
	User, Password string
	// HTTP must trust an https notifier.
	HTTP *http.Client
}

// PowerChanged implements simulator.Machine.
func (n *Notifier) PowerChanged(ctx context.Context, state simulator.State, reset simulator.ResetType) error {
	return n.tell(ctx, state, ChangePower, ResetOf(reset, state.Power))
}

// MediaChanged implements simulator.Machine.
func (n *Notifier) MediaChanged(ctx context.Context, state simulator.State, _ string) error {
	return n.tell(ctx, state, ChangeMedia, "")
}

// BootChanged implements simulator.Machine.
func (n *Notifier) BootChanged(ctx context.Context, state simulator.State) error {
	return n.tell(ctx, state, ChangeBoot, "")
}

// ResetOf is the reset type that the emulator would have sent: the simulator has
// some more, which do the same.
func ResetOf(reset simulator.ResetType, after simulator.PowerState) Reset {
	switch {
	case reset == simulator.ResetPowerCycle:
		return ResetForceRestart
	case reset == simulator.ResetPushPowerButton && after == simulator.On:
		return ResetOn
	case reset == simulator.ResetPushPowerButton:
		return ResetGracefulShutdown
	default:
		return Reset(reset)
	}
}

// ChangeOf writes a simulated system's state the way the emulator does. What is
// booted over HTTP is shown as a CD, and every kind of CD as Cd.
func ChangeOf(state simulator.State, change Change, reset Reset) SystemChange {
	c := SystemChange{
		UUID: state.UUID, Name: state.Name, Sequence: state.Sequence, Change: change, Reset: reset,
		PowerState: Power(state.Power), BootMode: BootMode(state.Boot.Mode), SecureBoot: state.SecureBoot, Media: map[string]Medium{},
	}
	for slot, medium := range state.Media {
		c.Media[slot] = Medium{Image: medium.Image, Inserted: true, WriteProtected: medium.WriteProtected}
	}
	switch {
	case state.Boot.Enabled == "Disabled" || state.Boot.Target == "None":
	case state.Boot.Target == "UefiHttp":
		c.BootDevice, c.HTTPBootURI = BootCd, state.Boot.HTTPURI
		c.Media[MediaCd] = Medium{Image: state.Boot.HTTPURI, Inserted: true, WriteProtected: true}
	case strings.HasSuffix(state.Boot.Target, "Cd"):
		c.BootDevice = BootCd
	default:
		c.BootDevice = BootDevice(state.Boot.Target)
	}
	return c
}

// tell makes one notification.
func (n *Notifier) tell(ctx context.Context, state simulator.State, change Change, reset Reset) error {
	body, err := json.Marshal(ChangeOf(state, change, reset))
	if err != nil {
		return fmt.Errorf("encode the change of system %s: %w", state.Name, err)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), notifierPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, n.URL, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("tell the machine %s: %w", state.Name, err)
	}
	request.Header.Set("Content-Type", "application/json")
	if n.User != "" {
		request.SetBasicAuth(n.User, n.Password)
	}
	answer, err := n.HTTP.Do(request)
	if err != nil {
		return fmt.Errorf("the machine %s cannot be reached: %w", state.Name, err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 4096))
	if err != nil {
		return fmt.Errorf("the machine %s cannot be reached: %w", state.Name, err)
	}
	if answer.StatusCode >= http.StatusBadRequest {
		return fmt.Errorf("the machine %s refused the change: %s", state.Name, strings.TrimSpace(string(text)))
	}
	return nil
}
