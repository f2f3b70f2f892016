package main

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"time"

	"github.com/go-logr/logr"
	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/controllers/bmcrotation"
)

// makeRotations registers the controllers that change passwords and certificates. They
// go with that of BMCs, so that a change can be asked for, and one that has begun is
// carried on.
func (p *program) makeRotations(pool *client.Pool, ca []byte) error {
	r := p.settings.BMCCredentials
	policy, err := password.ParsePolicy(r.PasswordPolicy)
	if err != nil {
		return fmt.Errorf("--bmc-password-policy: %w", err)
	}
	gate := &credentials.Gate{Most: max(r.AtOnce, 1)}
	err = bmcrotation.Setup(p.manager, bmcrotation.Options{
		BMCs: pool, CA: ca, Ironics: func(h *metal3.BareMetalHost) (bmcrotation.Gateway, error) { return p.ironicOf(h) },
		Gate: gate, Every: r.RotateEvery.Duration, Policy: policy, Random: rand.Reader, Now: time.Now,
		Log: slog.New(logr.ToSlogHandler(p.log)),
	})
	if err != nil {
		return err
	}
	return p.makeCertificates(pool, ca, gate)
}
