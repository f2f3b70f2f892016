package ironic

import (
	"context"
	"maps"
	"slices"
)

// ValidationFailure is one hardware interface that Ironic finds unfit.
type ValidationFailure struct {
	Interface string // "boot", "deploy" …
	Reason    string // Ironic's text
}

// Validate asks Ironic to check the node's settings, interface by interface, and
// returns those that failed, sorted by name. Interfaces that the driver does
// not have are not failures.
func (g *Gateway) Validate(ctx context.Context, uuid string) ([]ValidationFailure, error) {
	var answer map[string]struct {
		Result *bool  `json:"result"` // null: not supported by the driver
		Reason string `json:"reason"`
	}
	if err := g.get(ctx, "validate node", uuid, nodePath(uuid, "validate"), &answer); err != nil {
		return nil, err
	}
	var failed []ValidationFailure
	for _, name := range slices.Sorted(maps.Keys(answer)) {
		if r := answer[name]; r.Result != nil && !*r.Result {
			failed = append(failed, ValidationFailure{Interface: name, Reason: g.redactor.clean(r.Reason, nil)})
		}
	}
	return failed, nil
}
