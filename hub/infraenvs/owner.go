package infraenvs

import (
	"context"

	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/wire"
)

// GiveInfraEnv notes whose the infra-env is.
func (r *Registry) GiveInfraEnv(ctx context.Context, id, owner string) (wire.InfraEnv, error) {
	var out wire.InfraEnv
	err := r.units.Update(ctx, func(w *settle.Work) error {
		env, err := w.Env(id)
		if err != nil {
			return err
		}
		env.API.UserName = owner
		w.PutEnv(env)
		out = r.shown(env)
		return nil
	})
	return out, err
}
