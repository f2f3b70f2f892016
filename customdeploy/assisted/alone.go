package assisted

import (
	"context"
	"fmt"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Alone tells, with nil, that no installer of an earlier step can be at work on this
// host, for a step that writes a disk itself: a step that was killed leaves the agent
// running, and a foreign installer its container.
func (s *Step) Alone(ctx context.Context, host Host) error {
	state, ours, unread := host.State()
	began := unread != nil || ours && state.Step == Name // of an unreadable file nothing better is known
	unit, lost := s.Units.Unit(ctx, hostfile.AgentUnit)
	switch {
	case lost != nil && began:
		return fmt.Errorf("an earlier step of this boot has started %s, and whether it still runs is not known: %w; restart the machine, then retry", hostfile.AgentUnit, lost)
	case lost == nil && !unit.Ended(): // without systemd nobody has started it: its gate is closed
		return fmt.Errorf("%s runs (%s/%s) and may be installing this host: two installers would write one disk; stop it or restart the machine, then retry",
			hostfile.AgentUnit, unit.ActiveState, unit.SubState)
	case began && s.Foreign != nil:
		if err := s.Foreign.Remove(ctx); err != nil {
			return fmt.Errorf("another installer may be writing a disk of this host: the container of an earlier attempt's was not removed: %w; restart the machine, then retry", err)
		}
	}
	return nil
}
