package observe

import (
	"context"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/resources"
)

// observeDoubles looks whether the host's machine is another host's, and which of its
// network interfaces tell nothing.
func (b *Observer) observeDoubles(ctx context.Context, o *policy.Observed) error {
	others, err := resources.MayBeDoubles(ctx, b.Store.Cache, o.Host)
	if err != nil {
		return err
	}
	o.Double = policy.JudgeDouble(o.Host, others)
	o.SharedMACs, err = resources.SharedMACs(ctx, b.Store.Cache, o.Host)
	return err
}
