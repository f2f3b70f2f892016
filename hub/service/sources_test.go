package service_test

import (
	"context"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/sources"
)

// empty is the Ignition of a system that does nothing.
const empty = `{"ignition":{"version":"3.2.0"}}`

// from are the options of a hub that has this source only.
func from(s sources.Source) service.Options {
	return service.Options{Sources: sources.Set{Default: sources.Files, All: map[sources.Name]sources.Source{sources.Files: s}}}
}

// played is a source that lacks nothing. Its members change what it does.
type played struct {
	ending sources.Ending
	// before is called before anything is made; an error is the source's own.
	before func(context.Context) error
	calls  int
}

func (s *played) Ending(*sources.Order) sources.Ending { return s.ending }

func (*played) Lacks(context.Context, *sources.Order) []sources.Lack { return nil }

func (s *played) Make(ctx context.Context, o *sources.Order) (*sources.Made, error) {
	s.calls++
	if s.before != nil {
		if err := s.before(ctx); err != nil {
			return nil, err
		}
	}
	made := &sources.Made{Hosts: map[string][]byte{}, Credentials: map[string][]byte{}}
	for _, h := range o.Hosts {
		made.Hosts[h.ID] = []byte(empty)
	}
	if s.ending == sources.EndsInside {
		made.Credentials["kubeconfig-noingress"] = []byte(kubeconfig)
	}
	return made, nil
}

// hanging is a source that ends when it is told to.
func hanging() *played {
	return &played{before: func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}}
}

// reporting is a source for clusters whose own program reports how they come up.
func reporting() *played { return &played{ending: sources.EndsInside} }

// kubeconfig is what such a source makes for users.
const kubeconfig = `{"kind": "Config", "clusters": [{"name": "edge", "cluster": {"server": "https://api.edge.example:6443"}}]}`
