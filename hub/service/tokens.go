package service

import (
	"context"

	"github.com/ironflow/ironflow/hub/auth"
)

// AgentToken returns the token that agents of the infra-env send; empty for a
// hub without a token key. It stays the same until the tokens are revoked.
func (h *Hub) AgentToken(ctx context.Context, infraEnvID string) (string, error) {
	if h.key.IsZero() {
		return "", nil
	}
	env, err := h.record(ctx, infraEnvID)
	if err != nil {
		return "", err
	}
	return h.key.Token(auth.Claims{InfraEnvID: infraEnvID, Generation: env.TokenGeneration})
}

// CheckAgentToken returns the infra-env that the token opens, or [auth.ErrInvalid].
func (h *Hub) CheckAgentToken(ctx context.Context, token string) (infraEnvID string, err error) {
	claims, err := h.key.Check(token)
	if err != nil {
		return "", err
	}
	return h.current(ctx, claims)
}

// current returns the infra-env of the claims unless its tokens were revoked.
func (h *Hub) current(ctx context.Context, claims auth.Claims) (infraEnvID string, err error) {
	generation, err := h.generation(ctx, claims.InfraEnvID)
	switch {
	case IsNotFound(err):
		return "", auth.ErrInvalid
	case err != nil:
		return "", err
	case generation != claims.Generation:
		return "", auth.ErrInvalid
	}
	return claims.InfraEnvID, nil
}

// generation returns the generation of the infra-env's tokens.
func (h *Hub) generation(ctx context.Context, infraEnvID string) (int64, error) {
	if known, ok := h.cache.Generation(infraEnvID); ok {
		return known, nil
	}
	since := h.cache.Now()
	env, err := h.record(ctx, infraEnvID)
	if err != nil {
		return 0, err
	}
	h.cache.PutGeneration(infraEnvID, env.TokenGeneration, since)
	return env.TokenGeneration, nil
}

// RevokeAgentTokens makes every token of the infra-env invalid; live images
// have to be rendered with the new one.
func (h *Hub) RevokeAgentTokens(ctx context.Context, infraEnvID string) error {
	return h.update(ctx, func(w *work) error {
		env, err := w.env(infraEnvID)
		if err != nil {
			return err
		}
		before := *env
		env.TokenGeneration++
		return w.putInfraEnv(env, false, before)
	})
}

// CheckImageToken returns the infra-env whose images the token opens: one of
// images, or of agents. Otherwise the error is [auth.ErrInvalid].
func (h *Hub) CheckImageToken(ctx context.Context, token string) (infraEnvID string, err error) {
	claims, err := h.key.CheckImage(token)
	if err != nil {
		return h.CheckAgentToken(ctx, token)
	}
	return h.current(ctx, claims)
}
