package host

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Errors of a live system that must not run; their texts are for people.
var (
	// ErrNoIPA means that nothing would ever speak to Ironic.
	ErrNoIPA = errors.New("unit " + hostfile.IPAUnit + " is missing or not enabled: nothing would talk to Ironic")
	// ErrAgentEnabled means that the agent would start before the deploy step asks for it.
	ErrAgentEnabled = errors.New("unit " + hostfile.AgentUnit + " is enabled: the agent would start before its deploy step")
)

// Check holds the system against the contract of a live image: IPA's unit is
// enabled, and the agent's unit, if there is one, is not.
func (s System) Check() error {
	switch {
	case !s.Enabled[hostfile.IPAUnit]:
		return fmt.Errorf("%w (units of this image: %s)", ErrNoIPA, strings.Join(slices.Sorted(maps.Keys(s.Enabled)), ", "))
	case s.Enabled[hostfile.AgentUnit]:
		return ErrAgentEnabled
	default:
		return nil
	}
}

// HasAgent says whether the image brings the agent along.
func (s System) HasAgent() bool {
	_, ok := s.Enabled[hostfile.AgentUnit]
	return ok
}
