package flows

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"
)

// consoleShell is a unit of the user's own Ignition: root's shell on the live
// system's serial console, as somebody would have it who looks for a fault.
const consoleShell = `[Unit]
Description=Shell on the serial console
ConditionKernelCommandLine=coreos.liveiso
[Service]
ExecStart=/bin/bash
StandardInput=tty-force
StandardOutput=journal
StandardError=journal
TTYPath=/dev/ttyS0
Restart=always
[Install]
WantedBy=multi-user.target
`

// typed is how long the console is held open for a line, so that all of it arrives.
const typed = 2 * time.Second

// Type gives the shell of the live system a line.
func (h *Host) Type(ctx context.Context, line string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", h.Machine.ConsoleSocket())
	if err != nil {
		return fmt.Errorf("console of machine %s: %w", h.Name, err)
	}
	defer conn.Close()
	h.Timeline.Happened(time.Now(), "typed: "+line)
	if _, err := io.WriteString(conn, line+"\n"); err != nil {
		return fmt.Errorf("console of machine %s: %w", h.Name, err)
	}
	// What the machine writes meanwhile is taken, or it would stand still.
	if err := conn.SetReadDeadline(time.Now().Add(typed)); err != nil {
		return err
	}
	if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("console of machine %s: %w", h.Name, err)
	}
	return nil
}
