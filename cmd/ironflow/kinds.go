package main

import (
	"errors"

	"github.com/ironflow/ironflow/controllers/claim"
	"github.com/ironflow/ironflow/controllers/media"
	"github.com/ironflow/ironflow/controllers/subscription"
)

// makeKinds registers the controllers of the kinds around a host, and returns
// the gate at which the host controller asks for data images.
func (p *program) makeKinds() (*media.Gate, error) {
	gate := media.NewGate(p.manager.GetClient())
	err := errors.Join(media.Setup(p.manager, media.One(p.gateway), gate), subscription.Setup(p.manager, subscription.One(p.gateway)))
	if p.settings.hosts.claims {
		err = errors.Join(err, claim.Setup(p.manager))
	}
	return gate, err
}
