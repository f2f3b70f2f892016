package image

import (
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
	hub, err := p.hubEnvironment(id)
	if err != nil {
		return nil, err
	}
	rendezvous, err := p.rendezvousEnvironment(id)
	if err != nil {
		return nil, err
	}
	rendered, err := p.Set.Render()
	if err != nil {
		return nil, err
	}
	content := map[string]string{
		places.ServiceSettings + "/assisted-service.env": places.FormatEnv(hub),
		places.RendezvousHost:                            places.FormatEnv(rendezvous),
	}
	if p.joins == nil {
		content[places.StartCluster] = places.FormatEnv(p.startEnvironment())
	} else {
		maps.Copy(content, p.joins.settings())
	}
	p.added(content)
	if proxy := p.proxy(); proxy != nil {
		content[hostfile.AgentEnv] = places.FormatEnv(proxy)
	}
	for name, raw := range rendered {
		content[places.Assisted+"/"+name] = string(raw)
	}
	for name, raw := range id.tls {
		content[places.ClusterCertificates+"/"+name] = string(raw)
	}
	maps.Copy(content, p.networks())
	for i := range p.Hosts {
		if h := &p.Hosts[i]; h.Hostname != "" {
			for _, mac := range h.MACs {
				content[places.Hostnames+"/"+mac] = h.Hostname + "\n"
			}
		}
	}
	return placed(content), nil
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
	// Where the initrd has the networks, it has waited for the cards already.
	if delay := p.discoveryDelay(); len(out) > 0 && delay > 0 && (p.Format == ISO || p.Format == ConfigImage) {
		out[places.NetworkDelay] = places.FormatEnv(map[string]string{places.DiscoveryDelay: strconv.FormatInt(int64(delay/time.Second), 10)})
	}
	return out
}
