package infraenvs

import (
	"context"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/settle"
)

// AgentToken returns the token that agents of the infra-env send; empty for a
// hub without a token key. It stays the same until the tokens are revoked.
func (r *Registry) AgentToken(ctx context.Context, infraEnvID string) (string, error) {
	if r.key.IsZero() {
		return "", nil
	}
	env, err := r.record(ctx, infraEnvID)
	if err != nil {
		return "", err
	}
	return r.key.Token(auth.Claims{InfraEnvID: infraEnvID, Generation: env.TokenGeneration})
}

// MachineToken returns the token for the image of one machine of the infra-env: it
// speaks for the host alone that registers with it first. The machine is named by
// something that lasts, such as its boot MAC address.
func (r *Registry) MachineToken(ctx context.Context, infraEnvID, machine string) (string, error) {
	if r.key.IsZero() {
		return "", nil
	}
	env, err := r.record(ctx, infraEnvID)
	if err != nil {
		return "", err
	}
	return r.key.Token(auth.Claims{InfraEnvID: infraEnvID, Generation: env.TokenGeneration, Machine: machine})
}

// HostToken returns the token of a host's own for what its agent registered with.
func (r *Registry) HostToken(registered auth.Claims, hostID string, serial int64) (string, error) {
	return r.key.Token(auth.Claims{InfraEnvID: registered.InfraEnvID, Generation: registered.Generation, HostID: hostID, Serial: serial})
}

// CheckAgentToken returns what the agent's token opens, or [auth.ErrInvalid]. Which hosts
// it speaks for is told by their [auth.Bearer].
func (r *Registry) CheckAgentToken(ctx context.Context, token string) (auth.Claims, error) {
	claims, err := r.key.Check(token)
	if err != nil {
		return auth.Claims{}, err
	}
	generation, err := r.generation(ctx, claims.InfraEnvID)
	switch {
	case apierror.IsNotFound(err):
		return auth.Claims{}, r.unknown(ctx, claims.InfraEnvID)
	case err != nil:
		return auth.Claims{}, err
	case generation != claims.Generation:
		return auth.Claims{}, auth.ErrInvalid
	}
	return claims, nil
}

// unknown is the error of a token that this hub has made for an infra-env without a record: wrong,
// unless the record was lost and comes back. Agents take a wrong token for the end.
func (r *Registry) unknown(ctx context.Context, infraEnvID string) error {
	if r.lost == nil {
		return auth.ErrInvalid
	}
	lost, err := r.lost(ctx, infraEnvID)
	switch {
	case err != nil:
		return err
	case lost:
		return apierror.Later("the hub has lost its record of infra-env %s, which comes back from its InfraEnv; ask again", infraEnvID)
	}
	return auth.ErrInvalid
}

// generation returns the generation of the infra-env's tokens.
func (r *Registry) generation(ctx context.Context, infraEnvID string) (int64, error) {
	if known, ok := r.snapshots.Generation(infraEnvID); ok {
		return known, nil
	}
	since := r.snapshots.Now()
	env, err := r.record(ctx, infraEnvID)
	if err != nil {
		return 0, err
	}
	r.snapshots.PutGeneration(infraEnvID, env.TokenGeneration, since)
	return env.TokenGeneration, nil
}

// RevokeAgentTokens makes every token of the infra-env invalid; live images
// have to be rendered with the new one.
func (r *Registry) RevokeAgentTokens(ctx context.Context, infraEnvID string) error {
	return r.units.Update(ctx, func(w *settle.Work) error {
		env, err := w.Env(infraEnvID)
		if err != nil {
			return err
		}
		before := *env
		env.TokenGeneration++
		return r.putInfraEnv(w, env, nil, false, before)
	})
}

// RevokeImageTokens makes every address of the infra-env's images invalid. Agents
// that run go on.
func (r *Registry) RevokeImageTokens(ctx context.Context, infraEnvID string) error {
	return r.units.Update(ctx, func(w *settle.Work) error {
		env, err := w.Env(infraEnvID)
		if err != nil {
			return err
		}
		before := *env
		env.ImageGeneration++
		return r.putInfraEnv(w, env, nil, false, before)
	})
}

// CheckImageToken returns the infra-env whose images the token opens: one of
// images, or of those who boot from them; a host's own opens nothing that is for all.
// Otherwise the error is [auth.ErrInvalid].
func (r *Registry) CheckImageToken(ctx context.Context, token string) (infraEnvID string, err error) {
	claims, err := r.key.CheckImage(token)
	if err != nil {
		agent, err := r.CheckAgentToken(ctx, token)
		if err == nil && agent.Own() {
			return "", auth.ErrInvalid
		}
		return agent.InfraEnvID, err
	}
	env, err := r.record(ctx, claims.InfraEnvID)
	switch {
	case apierror.IsNotFound(err):
		return "", r.unknown(ctx, claims.InfraEnvID)
	case err != nil:
		return "", err
	case imageGeneration(env) != claims.Generation:
		return "", auth.ErrInvalid
	}
	return claims.InfraEnvID, nil
}
