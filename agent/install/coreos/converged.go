package coreos

import "context"

// Converged tells whether Ironic's agent is on this host, which restarts the
// machine when agent.service has ended.
func (i *Installer) Converged(ctx context.Context) bool { return i.converged(ctx) }
