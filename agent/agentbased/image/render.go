package image

import (
	"maps"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/sharednetwork"
)

// Ignition is the live system's config.
func (p *Plan) Ignition(id Identity) ([]byte, error) {
	c := ignition.HostConfig{Registries: p.registries, CABundle: p.trusted()}
	var err error
	if p.Set == nil {
		c.Files = p.factory()
	} else if c.Files, err = p.settings(id); err != nil {
		return nil, err
	}
	rendered, err := units.Render(units.Options{Workflow: p.Workflow})
	if err != nil {
		return nil, err
	}
	for _, u := range rendered {
		if u.Name == "" {
			c.Files = append(c.Files, ignition.Placed{Path: u.Path, Mode: 0o644, Data: ignition.Secret(u.Content)})
			continue
		}
		c.Units = append(c.Units, ignition.Unit{Name: u.Name, Enabled: u.Enabled, Content: u.Content})
	}
	p.live(&c)
	return ignition.Build(c)
}

// trusted are the certificates that the live system trusts besides its own: the folder's and
// the infra-env's.
func (p *Plan) trusted() string {
	if p.Set == nil || p.Set.InfraEnv == nil || p.Set.InfraEnv.Spec.AdditionalTrustBundle == "" {
		return p.caBundle
	}
	own := p.caBundle
	if own != "" && !strings.HasSuffix(own, "\n") {
		own += "\n"
	}
	return own + p.Set.InfraEnv.Spec.AdditionalTrustBundle
}

// factory are the files of an appliance that waits for its settings.
func (p *Plan) factory() []ignition.Placed {
	content := map[string]string{
		places.ServiceSettings + "/assisted-service.env": places.FormatEnv(settingsOfAll()),
		places.ClusterImageSet:                           "apiVersion: hive.openshift.io/v1\nkind: ClusterImageSet\nmetadata:\n  name: appliance\nspec:\n  releaseImage: " + p.Release + "\n",
	}
	p.added(content)
	return placed(content)
}

// live adds what the infra-env says of the live system.
func (p *Plan) live(c *ignition.HostConfig) {
	if p.Set == nil {
		return
	}
	s := p.Set.InfraEnv.Spec
	c.SSHKeys, c.PullSecret = keys(s.SSHAuthorizedKey), ignition.Secret(p.Set.PullSecret)
	c.NTPServers = append(append(c.NTPServers, s.NTPSources...), s.AdditionalNTPSources...)
	if s.IgnitionConfigOverride != "" {
		c.Override = []byte(s.IgnitionConfigOverride)
	}
	for i := range p.Hosts {
		if h := &p.Hosts[i]; h.settings.Nmstate != "" {
			c.Nmstate = append(c.Nmstate, ignition.Nmstate{Cards: h.MACs, Document: h.settings.Nmstate})
		}
	}
}

// initrdNetworks are members of the initrd for hosts that need the network before their
// root file system is there.
func (p *Plan) initrdNetworks() []cpio.Entry {
	if p.Format == ISO || p.Set == nil {
		return nil
	}
	var hosts []sharednetwork.Host
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if len(h.settings.Keyfiles) == 0 {
			continue
		}
		one := sharednetwork.Host{Cards: map[string]string{}, Keyfiles: maps.Clone(h.settings.Keyfiles)}
		for _, c := range h.cards {
			one.Cards[c.Address] = c.Name
		}
		hosts = append(hosts, one)
	}
	return sharednetwork.Entries(hosts, p.discoveryDelay())
}

// discoveryDelay is how long a live system waits for its cards.
func (p *Plan) discoveryDelay() time.Duration {
	d := p.Set.InfraEnv.Spec.NetworkDiscoveryDelay
	if d == nil {
		return 0
	}
	return time.Duration(*d) * time.Second
}
