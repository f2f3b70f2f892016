package kubernetes

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/coreos/ignition/v2/config/v3_2/types"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/admission"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/units"
	"github.com/ironflow/ironflow/hub/wire"
)

// Modes of files.
const (
	secret = 0o600
	public = 0o644
)

// approval is the source's own manifest. It comes after those of users, which have numbers.
const approval = "ironflow-approval.yaml"

// config collects what a host gets. Its version is the oldest that all installed systems read.
type config struct{ types.Config }

// add is a file of the host; an existing one is replaced.
func (c *config) add(name string, mode int, content []byte) {
	source := "data:;base64," + base64.StdEncoding.EncodeToString(content)
	c.Storage.Files = append(c.Storage.Files, types.File{
		Node:          types.Node{Path: name, Overwrite: new(true)},
		FileEmbedded1: types.FileEmbedded1{Mode: &mode, Contents: types.Resource{Source: &source}},
	})
}

// put is a file in the folder of the units.
func (c *config) put(name string, mode int, content []byte) {
	c.add(path.Join(units.Folder, name), mode, content)
}

// ignition is the configuration of a host.
func (p *plan) ignition(h *sources.Host) ([]byte, error) {
	c := &config{types.Config{Ignition: types.Ignition{Version: types.MaxVersion.String()}}}
	// What the folder has is nobody's business but root's.
	c.Storage.Directories = []types.Directory{{
		Node: types.Node{Path: units.Folder}, DirectoryEmbedded1: types.DirectoryEmbedded1{Mode: new(0o700)},
	}}
	if key := p.order.Cluster.SSHPublicKey; key != "" {
		user := types.PasswdUser{Name: "core"}
		for line := range strings.Lines(key) {
			if line = strings.TrimSpace(line); line != "" {
				user.SSHAuthorizedKeys = append(user.SSHAuthorizedKeys, types.SSHAuthorizedKey(line))
			}
		}
		c.Passwd.Users = []types.PasswdUser{user}
	}
	configuration, err := p.configuration(h)
	if err != nil {
		return nil, err
	}
	c.put(units.Configuration, secret, configuration)
	c.put(units.Settings, public, p.settings(h))
	c.put(units.Programs, public, programs(p.order.Kubernetes.Programs))
	p.certificates(c, h)
	if p.initialises(h) {
		for i, m := range p.order.Manifests {
			c.put(fmt.Sprintf("manifests/%04d-%s", i, m.Name), secret, m.Content)
		}
		c.put("manifests/"+approval, secret, []byte(admission.Watched))
	}
	if err := p.vip(c, h); err != nil {
		return nil, err
	}
	p.system(c)
	p.units(c, h)
	raw, err := json.Marshal(c.Config)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return raw, nil
}

// certificates gives the authorities to hosts of the control plane, and to all others the
// certificate alone by which they know the API.
func (p *plan) certificates(c *config, h *sources.Host) {
	files := p.authorities.Files()
	if h.Role != wire.HostRoleMaster {
		c.put("pki/"+authorities.Cluster+".crt", public, p.authorities.Certificate())
		return
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		mode := public
		if authorities.Private(name) {
			mode = secret
		}
		c.put("pki/"+name, mode, files[name])
	}
}

// settings are the environment of the units.
func (p *plan) settings(h *sources.Host) []byte {
	lines := []string{"NODE=" + nodeName(h), "ENDPOINT=" + p.endpoint, "VERSION=" + p.order.Kubernetes.Version, "RUNTIME=" + runtime(p.order)}
	if all := p.networks.nodeAddresses(h); len(all) > 0 {
		lines = append(lines, "ADDRESS="+all[0].String())
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// units adds the units of the host with their scripts.
func (p *plan) units(c *config, h *sources.Host) {
	first := p.initialises(h)
	all, scripts := units.For(units.Host{
		First: first, Manifests: first, Runtime: runtime(p.order), Proxy: p.proxied(),
		VIP: h.Role == wire.HostRoleMaster && carriesVIP(p.order), Keepalived: p.order.Kubernetes.VIPImage == "",
	})
	for _, s := range scripts {
		c.put(s.Name, public, []byte(s.Text))
	}
	for _, u := range all {
		if u.Dropin != "" {
			c.Systemd.Units = append(c.Systemd.Units, types.Unit{Name: u.Name, Dropins: []types.Dropin{{Name: u.Dropin, Contents: &u.Contents}}})
			continue
		}
		c.Systemd.Units = append(c.Systemd.Units, types.Unit{Name: u.Name, Contents: &u.Contents, Enabled: new(true)})
	}
	if slices.ContainsFunc(p.order.Kubernetes.Programs, func(one sources.Program) bool { return one.Kind == kindSysext }) {
		c.Systemd.Units = append(c.Systemd.Units, types.Unit{Name: "systemd-sysext.service", Enabled: new(true)})
	}
}
