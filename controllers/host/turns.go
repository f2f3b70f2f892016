package host

import (
	"context"

	"k8s.io/apimachinery/pkg/runtime"
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

// next does one write when its turn comes.
func (t turns) next(ctx context.Context, write func() error) error {
	done, err := t.take(ctx)
	if err != nil {
		return err
	}
	defer done()
	return write()
}

// Create implements client.Writer.
func (t turns) Create(ctx context.Context, obj client.Object, opts ...client.CreateOption) error {
	return t.next(ctx, func() error { return t.Client.Create(ctx, obj, opts...) })
}

// Delete implements client.Writer.
func (t turns) Delete(ctx context.Context, obj client.Object, opts ...client.DeleteOption) error {
	return t.next(ctx, func() error { return t.Client.Delete(ctx, obj, opts...) })
}

// DeleteAllOf implements client.Writer.
func (t turns) DeleteAllOf(ctx context.Context, obj client.Object, opts ...client.DeleteAllOfOption) error {
	return t.next(ctx, func() error { return t.Client.DeleteAllOf(ctx, obj, opts...) })
}

// Update implements client.Writer.
func (t turns) Update(ctx context.Context, obj client.Object, opts ...client.UpdateOption) error {
	return t.next(ctx, func() error { return t.Client.Update(ctx, obj, opts...) })
}

// Patch implements client.Writer.
func (t turns) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
	return t.next(ctx, func() error { return t.Client.Patch(ctx, obj, patch, opts...) })
}

// Apply implements client.Writer.
func (t turns) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.ApplyOption) error {
	return t.next(ctx, func() error { return t.Client.Apply(ctx, obj, opts...) })
}

// Status implements client.StatusClient.
func (t turns) Status() client.SubResourceWriter { return partTurns{t.Client.Status(), t} }

// SubResource implements client.SubResourceClientConstructor.
func (t turns) SubResource(name string) client.SubResourceClient {
	c := t.Client.SubResource(name)
	return struct {
		client.SubResourceReader
		partTurns
	}{c, partTurns{c, t}}
}

// partTurns is the client of a part of resources, such as the status.
type partTurns struct {
	client.SubResourceWriter
	turns turns
}

// Create implements client.SubResourceWriter.
func (p partTurns) Create(ctx context.Context, obj, sub client.Object, opts ...client.SubResourceCreateOption) error {
	return p.turns.next(ctx, func() error { return p.SubResourceWriter.Create(ctx, obj, sub, opts...) })
}

// Update implements client.SubResourceWriter.
func (p partTurns) Update(ctx context.Context, obj client.Object, opts ...client.SubResourceUpdateOption) error {
	return p.turns.next(ctx, func() error { return p.SubResourceWriter.Update(ctx, obj, opts...) })
}

// Patch implements client.SubResourceWriter.
func (p partTurns) Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
	return p.turns.next(ctx, func() error { return p.SubResourceWriter.Patch(ctx, obj, patch, opts...) })
}

// Apply implements client.SubResourceWriter.
func (p partTurns) Apply(ctx context.Context, obj runtime.ApplyConfiguration, opts ...client.SubResourceApplyOption) error {
	return p.turns.next(ctx, func() error { return p.SubResourceWriter.Apply(ctx, obj, opts...) })
}
