package host

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// writesOfBeginners is how many writes of hosts that begin are under way to
// Kubernetes at the same moment. More would not get a fleet started sooner: they
// stand in the API server, before the requests of whoever asks for more hosts and
// before the writes of hosts that go on. Five of 20 ms each are 250 a second.
const writesOfBeginners = 5

// turns is a client whose writes take turns, where the context says so.
type turns struct {
	client.Client
	places chan struct{}
}

func newTurns(c client.Client) turns { return turns{c, make(chan struct{}, writesOfBeginners)} }

type turnsKey struct{}

// inTurn has the writes under the context take turns.
func inTurn(ctx context.Context) context.Context { return context.WithValue(ctx, turnsKey{}, true) }

// take waits for a turn, if the context asks for that. done ends it.
func (t turns) take(ctx context.Context) (done func(), err error) {
	if ctx.Value(turnsKey{}) == nil {
		return func() {}, nil
	}
	select {
	case t.places <- struct{}{}:
		return func() { <-t.places }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Create implements client.Client.
func (t turns) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	done, err := t.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	return t.Client.Create(ctx, obj, opts...)
}

// Patch implements client.Client.
func (t turns) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	done, err := t.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	return t.Client.Patch(ctx, obj, patch, opts...)
}

// Status implements client.Client.
func (t turns) Status() client.SubResourceWriter { return statusTurns{t.Client.Status(), t} }

// statusTurns is the client of the status.
type statusTurns struct {
	client.SubResourceWriter
	turns turns
}

// Patch implements client.SubResourceWriter.
func (s statusTurns) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	done, err := s.turns.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	return s.SubResourceWriter.Patch(ctx, obj, patch, opts...)
}
