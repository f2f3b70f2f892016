package command

import (
	"context"
	"slices"
)

// WithEnv is a runner whose programs get more environment, NAME=value. What a
// command brings itself wins.
func WithEnv(r Runner, env ...string) Runner { return withEnv{r, env} }

type withEnv struct {
	Runner
	env []string
}

func (w withEnv) Run(ctx context.Context, c Command) error {
	c.Env = append(slices.Clone(w.env), c.Env...)
	return w.Runner.Run(ctx, c)
}
