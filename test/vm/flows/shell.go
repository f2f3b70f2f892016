package flows

import (
	"context"
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

// Type gives the shell of the live system a line.
func (h *Host) Type(ctx context.Context, line string) error {
	h.Timeline.Happened(time.Now(), "typed: "+line)
	return h.Machine.Type(ctx, line+"\n")
}
