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

// rotationSettings say when the passwords of BMCs are changed, besides on request.
type rotationSettings struct {
	// every is the time between two changes of a password; 0 for never.
	every time.Duration
	// atOnce is how many passwords are changed at once.
	atOnce int
	// policy is what they are made of; empty for the default.
	policy       string
	certificates certificateSettings
}

func (r *rotationSettings) settings() []setting {
	return append([]setting{
		{"bmc-rotate-every", "IRONFLOW_BMC_ROTATE_EVERY", "0s", "time between two changes of a BMC's password, such as 2160h; 0 for never, only on request by a host's annotation ironflow.io/rotate-credentials; see docs/rotation.md", duration(&r.every)},
		{"bmc-rotations", "IRONFLOW_BMC_ROTATIONS", "2", "maximum number of BMCs whose password or certificate is changed concurrently", number(&r.atOnce)},
		{"bmc-password-policy", "IRONFLOW_BMC_PASSWORD_POLICY", "", "rules for new passwords of BMCs, such as length=20,least=16,classes=lower+upper+digit+symbol, which is the default; a host's annotation ironflow.io/password-policy comes first", text(&r.policy)},
	}, r.certificates.settings()...)
}

// makeRotations registers the controllers that change passwords and certificates. They
// go with that of BMCs, so that a change can be asked for, and one that has begun is
// carried on.
func (p *program) makeRotations(pool *client.Pool, ca []byte) error {
	r := p.settings.bmcs.rotation
	policy, err := password.ParsePolicy(r.policy)
	if err != nil {
		return fmt.Errorf("--bmc-password-policy: %w", err)
	}
	gate := &credentials.Gate{Most: max(r.atOnce, 1)}
	err = bmcrotation.Setup(p.manager, bmcrotation.Options{
		BMCs: pool, CA: ca, Ironics: func(h *metal3.BareMetalHost) (bmcrotation.Gateway, error) { return p.ironicOf(h) },
		Gate: gate, Every: r.every, Policy: policy, Random: rand.Reader, Now: time.Now,
		Log: slog.New(logr.ToSlogHandler(p.log)),
	})
	if err != nil {
		return err
	}
	return p.makeCertificates(pool, ca, gate)
}
