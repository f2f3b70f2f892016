package networkcheck

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/imagecustomization/network"
)

// manifest looks at an object that may hold networks of hosts; others are left out.
func (c *check) manifest(name string, m map[string]any) {
	spec := mapping(m, "spec")
	switch text(m, "kind") {
	case "Secret":
		c.secret(name, m)
	case "NMStateConfig":
		metadata := mapping(m, "metadata")
		within := "namespace " + text(metadata, "namespace")
		c.logical(name, spec["config"], spec["interfaces"], within, "NMStateConfig "+text(metadata, "name"))
	case "AgentConfig":
		c.agentConfig(name, m)
	case "SiteConfig":
		for n, cluster := range list(spec, "clusters") {
			c.nodes(fmt.Sprintf("%s, spec.clusters[%d]", name, n), cluster)
		}
	case "ClusterInstance":
		c.nodes(name+", spec", spec)
	case "List", "SecretList", "NMStateConfigList", "SiteConfigList", "ClusterInstanceList":
		for _, item := range list(m, "items") {
			c.manifest(named(name, item), item)
		}
	}
}

// secret looks at a network data Secret; other Secrets are left out.
func (c *check) secret(name string, m map[string]any) {
	data := map[string][]byte{}
	for key, value := range mapping(m, "data") {
		encoded, _ := value.(string)
		raw, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			c.add(name, network.Settings{}, fmt.Errorf("data.%s: not base64", key))
			return
		}
		data[key] = raw
	}
	for key, value := range mapping(m, "stringData") {
		content, _ := value.(string)
		data[key] = []byte(content)
	}
	if !network.IsNetworkData(data) {
		return
	}
	s, err := c.live.FromSecret(data)
	c.add(name, s, err)
}

// agentConfig looks at the hosts of an agent-config.yaml.
func (c *check) agentConfig(name string, m map[string]any) {
	for n, host := range list(m, "hosts") {
		if has(host, "networkConfig") {
			c.logical(fmt.Sprintf("%s, hosts[%d]", name, n), host["networkConfig"], host["interfaces"], name, fmt.Sprintf("hosts[%d]", n))
		}
	}
}

// nodes looks at the nodes of a cluster.
func (c *check) nodes(name string, cluster map[string]any) {
	for n, node := range list(cluster, "nodes") {
		if net := mapping(node, "nodeNetwork"); len(net) > 0 {
			c.logical(fmt.Sprintf("%s.nodes[%d]", name, n), net["config"], net["interfaces"], name, fmt.Sprintf("nodes[%d]", n))
		}
	}
}

// card is one of a machine, within what one builder sees: a namespace, or one document.
type card struct{ within, address string }

// logical looks at a document whose names of cards are logical. owner is whose it is.
func (c *check) logical(name string, document, interfaces any, within, owner string) {
	raw, err := json.Marshal(document)
	if err != nil {
		c.add(name, network.Settings{}, err)
		return
	}
	var cards []network.Card
	for _, i := range list(map[string]any{"interfaces": interfaces}, "interfaces") {
		cards = append(cards, network.Card{Name: text(i, "name"), Address: text(i, "macAddress")})
	}
	s, err := c.live.TranslateLogical(raw, cards)
	if err == nil {
		err = c.own(cards, within, owner)
	}
	c.add(name, s, err)
}

// own refuses the cards of another one: of two networks of one card a host has the first,
// and the image for all hosts leaves the other out. The same object once more, as in an
// overlay, is no other.
func (c *check) own(cards []network.Card, within, owner string) error {
	for _, one := range cards {
		if other := c.owners[card{within, strings.ToLower(one.Address)}]; other != "" && other != owner {
			return fmt.Errorf("its card %s is that of %s, too; give each card to one of them", strings.ToLower(one.Address), other)
		}
	}
	for _, one := range cards {
		c.owners[card{within, strings.ToLower(one.Address)}] = owner
	}
	return nil
}

// mapping is a member that is a mapping, nil for none.
func mapping(m map[string]any, key string) map[string]any {
	value, _ := m[key].(map[string]any)
	return value
}

// list is a member that is a list of mappings.
func list(m map[string]any, key string) (out []map[string]any) {
	values, _ := m[key].([]any)
	for _, v := range values {
		item, _ := v.(map[string]any)
		out = append(out, item)
	}
	return out
}
