package ironic

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Endpoint is one Ironic with its watch.
type Endpoint struct {
	*Gateway
	Watch *Watch
}

// EndpointChange is a node change with the Ironic that it happened in.
type EndpointChange struct {
	Endpoint string
	Change
}

// Endpoints are the Ironics of this installation. Hosts stay with the one that
// they were assigned to, so an endpoint is never taken away. The set is complete
// before Run; a new endpoint means a restart.
type Endpoints struct {
	mu      sync.Mutex
	byName  map[string]*Endpoint
	changes chan EndpointChange
}

// ErrUnknownEndpoint is returned for a name that no endpoint has.
var ErrUnknownEndpoint = errors.New("unknown Ironic endpoint")

// NewEndpoints makes an empty set.
func NewEndpoints() *Endpoints {
	return &Endpoints{byName: map[string]*Endpoint{}, changes: make(chan EndpointChange)}
}

// Add adds an endpoint, before Run.
func (s *Endpoints) Add(g *Gateway, o WatchOptions) (*Endpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.byName[g.Name()]; there {
		return nil, fmt.Errorf("there are two Ironic endpoints named %q: rename one", g.Name())
	}
	e := &Endpoint{Gateway: g, Watch: NewWatch(g, o)}
	s.byName[g.Name()] = e
	return e, nil
}

// Get returns the endpoint with a name; an empty name means the only one, or
// the one named "default". The error wraps ErrUnknownEndpoint and lists those
// that there are.
func (s *Endpoints) Get(name string) (*Endpoint, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if name == "" {
		name = defaultName
		if len(s.byName) == 1 {
			name = sortedKeys(s.byName)[0]
		}
	}
	if e, there := s.byName[name]; there {
		return e, nil
	}
	return nil, fmt.Errorf("%w %q: there are: %s", ErrUnknownEndpoint, name, strings.Join(sortedKeys(s.byName), ", "))
}

// All returns the endpoints in the order of their names.
func (s *Endpoints) All() []*Endpoint {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*Endpoint, 0, len(s.byName))
	for _, name := range sortedKeys(s.byName) {
		all = append(all, s.byName[name])
	}
	return all
}

// Assign chooses the endpoint for a new host: of those that answer, the one with
// the fewest nodes; the first by name when several have as few. It is a choice
// made once: the caller writes it down before the host is enrolled.
func (s *Endpoints) Assign() (*Endpoint, error) {
	all := s.All()
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: none is configured", ErrUnknownEndpoint)
	}
	answering := slices.DeleteFunc(slices.Clone(all), func(e *Endpoint) bool { return e.Watch.Err() != nil || !e.Watch.isSynced() })
	if len(answering) == 0 {
		return nil, &Error{Kind: Unavailable, Op: "assign an Ironic endpoint", Text: "none answers; see their states"}
	}
	return slices.MinFunc(answering, func(a, b *Endpoint) int { return a.Watch.Len() - b.Watch.Len() }), nil
}

// Changes delivers the changes of all endpoints. It has one consumer.
func (s *Endpoints) Changes() <-chan EndpointChange { return s.changes }

// Run watches all endpoints until the context ends and returns its cause.
func (s *Endpoints) Run(ctx context.Context) error {
	var running sync.WaitGroup
	for _, e := range s.All() {
		running.Go(func() { _ = e.Watch.Run(ctx) }) // ends with the context only
		running.Go(func() { s.forward(ctx, e) })
	}
	running.Wait()
	return context.Cause(ctx)
}

func (s *Endpoints) forward(ctx context.Context, e *Endpoint) {
	for {
		select {
		case c := <-e.Watch.Changes():
			select {
			case s.changes <- EndpointChange{Endpoint: e.Name(), Change: c}:
			case <-ctx.Done():
				return
			}
		case <-ctx.Done():
			return
		}
	}
}
