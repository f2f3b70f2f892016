package image

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
)

// private is the mode of settings: many of them hold secrets, and only root reads any.
const private = 0o600

// settings are the files of the host with what the input says, sorted by path.
func (p *Plan) settings(id Identity) ([]ignition.Placed, error) {
	content, err := p.described()
	if err != nil {
		return nil, err
	}
	hub, err := p.hubEnvironment(id)
	if err != nil {
		return nil, err
	}
	if p.joins == nil {
		hub[places.SettingsDigest] = digest(content)
	}
	rendezvous, err := p.rendezvousEnvironment(id)
	if err != nil {
		return nil, err
	}
	content[places.ServiceSettings+"/assisted-service.env"] = places.FormatEnv(hub)
	content[places.RendezvousHost] = places.FormatEnv(rendezvous)
	p.added(content)
	if proxy := p.proxy(); proxy != nil {
		content[hostfile.AgentEnv] = places.FormatEnv(proxy)
	}
	for name, raw := range id.tls {
		content[places.ClusterCertificates+"/"+name] = string(raw)
	}
	// Where the initrd has the networks, it has waited for the cards already.
	if delay := p.discoveryDelay(); p.hasNetworks() && delay > 0 && (p.Format == ISO || p.Format == ConfigImage) {
		content[places.NetworkDelay] = places.FormatEnv(map[string]string{places.DiscoveryDelay: strconv.FormatInt(int64(delay/time.Second), 10)})
	}
	return placed(content), nil
}

// described are those of them that say what the cluster and its hosts are to be: neither keys nor
// what depends on the format.
func (p *Plan) described() (map[string]string, error) {
	rendered, err := p.Set.Render()
	if err != nil {
		return nil, err
	}
	content := p.networks()
	if p.joins == nil {
		content[places.StartCluster] = places.FormatEnv(p.startEnvironment())
	} else {
		maps.Copy(content, p.joins.settings())
	}
	for name, raw := range rendered {
		content[places.Assisted+"/"+name] = string(raw)
	}
	for i := range p.Hosts {
		if h := &p.Hosts[i]; h.Hostname != "" {
			for _, mac := range h.MACs {
				content[places.Hostnames+"/"+mac] = h.Hostname + "\n"
			}
		}
	}
	if len(p.hub) > 0 {
		content[places.HubSettings] = places.FormatEnv(p.hub)
	}
	return content, nil
}

// digest names the files. The hub's state after a loss of power is taken up by images with the same
// alone: with others, people want another cluster.
func digest(content map[string]string) string {
	h := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(content)) {
		fmt.Fprintf(h, "%d %s %d %s\n", len(path), path, len(content[path]), content[path])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// added are files that are there when there is something in them: what an appliance was made
// with stays otherwise.
func (p *Plan) added(content map[string]string) {
	if images := p.imagesEnvironment(); len(images) > 0 {
		content[places.ServiceSettings+"/images.env"] = places.FormatEnv(images)
	}
	if len(p.hub) > 0 {
		content[places.HubSettings] = places.FormatEnv(p.hub)
	}
}

func placed(content map[string]string) (out []ignition.Placed) {
	for _, path := range slices.Sorted(maps.Keys(content)) {
		out = append(out, ignition.Placed{Path: path, Mode: private, Data: ignition.Secret(content[path])})
	}
	return out
}

// networks are the keyfiles of all hosts, each in a folder of its own.
func (p *Plan) networks() map[string]string {
	out := map[string]string{}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		if len(h.settings.Keyfiles) == 0 {
			continue
		}
		folder := fmt.Sprintf("%s/host%d/", places.Networks, i)
		for name, raw := range h.settings.Keyfiles {
			out[folder+name] = string(raw)
		}
		var cards strings.Builder
		for _, c := range h.cards {
			cards.WriteString(strings.ToLower(c.Address) + "=" + c.Name + "\n")
		}
		out[folder+"mac_interface.ini"] = cards.String()
	}
	return out
}

// hasNetworks tells whether a host has keyfiles.
func (p *Plan) hasNetworks() bool {
	return slices.ContainsFunc(p.Hosts, func(h Host) bool { return len(h.settings.Keyfiles) > 0 })
}
