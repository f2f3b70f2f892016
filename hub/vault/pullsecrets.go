package vault

import (
	"errors"
	"fmt"

	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/store"
)

// Pull secrets lie sealed within the records of clusters and infra-envs, and are opened
// where something is made of them: an installation, a live image.

func ofCluster(c *store.Cluster) string { return "pull secret of cluster " + c.API.ID }

func ofInfraEnv(e *store.InfraEnv) string { return "pull secret of infra-env " + e.API.ID }

// PullSecret is the cluster's; empty for none.
func (v Vault) PullSecret(c *store.Cluster) (string, error) {
	return v.open(ofCluster(c), c.PullSecret)
}

// KeepPullSecret has the record keep it; empty removes it. The same one changes nothing.
func (v Vault) KeepPullSecret(c *store.Cluster, secret string) (err error) {
	c.API.PullSecretSet = secret != ""
	c.PullSecret, err = v.Keys.Keep(ofCluster(c), c.PullSecret, secret)
	return err
}

// InfraEnvPullSecret is the infra-env's; empty for none.
func (v Vault) InfraEnvPullSecret(e *store.InfraEnv) (string, error) {
	return v.open(ofInfraEnv(e), e.PullSecret)
}

// open says who can put an end to the lack of a key.
func (v Vault) open(place string, t seal.Text) (string, error) {
	secret, err := v.Keys.Reveal(place, t)
	if errors.Is(err, seal.ErrKey) {
		err = fmt.Errorf("%w, or set pull_secret anew", err)
	}
	return secret, err
}

// KeepInfraEnvPullSecret has the record keep it; empty removes it. The same one changes nothing.
func (v Vault) KeepInfraEnvPullSecret(e *store.InfraEnv, secret string) (err error) {
	e.API.PullSecretSet = secret != ""
	e.PullSecret, err = v.Keys.Keep(ofInfraEnv(e), e.PullSecret, secret)
	return err
}

// RenewPullSecret seals the cluster's with the present key; done tells that the record changed.
func (v Vault) RenewPullSecret(c *store.Cluster) (done bool, err error) {
	c.PullSecret, done, err = v.Keys.Renew(ofCluster(c), c.PullSecret)
	return done, err
}

// RenewInfraEnvPullSecret seals the infra-env's with the present key; done tells that the
// record changed.
func (v Vault) RenewInfraEnvPullSecret(e *store.InfraEnv) (done bool, err error) {
	e.PullSecret, done, err = v.Keys.Renew(ofInfraEnv(e), e.PullSecret)
	return done, err
}
