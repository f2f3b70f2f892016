package main

import (
	"errors"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/claim"
	"github.com/ironflow/ironflow/controllers/media"
	"github.com/ironflow/ironflow/controllers/subscription"
)

// makeKinds registers the controllers of the kinds around a host, and returns
// the gate at which the host controller asks for data images.
func (p *program) makeKinds() (*media.Gate, error) {
	gate := media.NewGate(p.manager.GetClient())
	err := errors.Join(
		media.Setup(p.manager, func(h *metal3.BareMetalHost) (media.Gateway, error) { return p.ironicOf(h) }, gate),
		subscription.Setup(p.manager, func(h *metal3.BareMetalHost) (subscription.Gateway, error) { return p.ironicOf(h) }),
	)
	if p.settings.hosts.claims {
		err = errors.Join(err, claim.Setup(p.manager))
	}
	return gate, err
}
