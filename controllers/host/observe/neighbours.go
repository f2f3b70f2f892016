package observe

import (
	"context"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/resources"
)

// observeNeighbours looks for other hosts that may be of the same machine.
func (b *Observer) observeNeighbours(ctx context.Context, o *policy.Observed) error {
	others, err := resources.Neighbours(ctx, b.Store.Cache, o.Host)
	o.Neighbours = policy.JudgeNeighbours(o.Host, others)
	return err
}
