package configimage

import (
	"fmt"
	"net"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/agent/agentbased/hostsettings"
	"github.com/ironflow/ironflow/agent/agentbased/places"
)

// hosts are the addresses of the cards of each host that the archive describes: by its folder, its
// network and its name. Descriptions that share a card or a name are of one host.
func (c Contents) hosts() [][]string {
	named := map[string][]string{}
	var all [][]string
	for _, f := range c.Files {
		folder, name := path.Split(f.Path)
		switch folder = strings.TrimSuffix(folder, "/"); {
		case folder == places.Hostnames:
			host := strings.TrimSpace(string(f.Data))
			named[host] = append(named[host], addresses(name)...)
		case path.Dir(folder) == places.HostConfig && name == "mac_addresses":
			all = append(all, addresses(string(f.Data)))
		default:
			all = append(all, hostsettings.NetworkCards(f.Path, f.Data))
		}
	}
	for _, cards := range named {
		all = append(all, cards)
	}
	return joined(all)
}

// addresses are those that a text has, one a line.
func addresses(text string) (all []string) {
	for line := range strings.Lines(text) {
		if mac, err := net.ParseMAC(strings.TrimSpace(line)); err == nil {
			all = append(all, mac.String())
		}
	}
	return all
}

// joined makes one of those that share an address, and drops empty ones.
func joined(all [][]string) (hosts [][]string) {
	for _, cards := range all {
		if len(cards) == 0 {
			continue
		}
		host := slices.Clone(cards)
		hosts = slices.DeleteFunc(hosts, func(h []string) bool {
			same := slices.ContainsFunc(h, func(mac string) bool { return slices.Contains(host, mac) })
			if same {
				host = append(host, h...)
			}
			return same
		})
		hosts = append(hosts, host)
	}
	return hosts
}

// shown is how many addresses are told: the screen has 24 lines.
const shown = 8

// foreign tells that a host with these cards is none of those that the archive is for. It may be one
// where the archive describes fewer hosts than there will be, and where its cards are not known.
func (c Contents) foreign(cards []string) error {
	hosts := c.hosts()
	var macs []string
	for _, h := range hosts {
		macs = append(macs, h...)
	}
	wanted := c.wanted()
	if len(cards) == 0 || wanted == 0 || len(hosts) < wanted || slices.ContainsFunc(cards, func(mac string) bool { return slices.Contains(macs, mac) }) {
		return nil
	}
	return fmt.Errorf("it describes all %d hosts of cluster %s, which have the MAC addresses %s, and this host has %s: "+
		"attach the config image of this host's cluster, or correct the addresses and make it again", wanted, c.cluster(), some(macs), some(cards))
}

// some are addresses for people.
func some(macs []string) string {
	slices.Sort(macs)
	macs = slices.Compact(macs)
	if n := len(macs) - shown; n > 0 {
		return strings.Join(macs[:shown], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(macs, ", ")
}

// read reads a manifest of the archive as far as that goes: what is wrong with it is told elsewhere.
func (c Contents) read(file string, out any) {
	if i := slices.IndexFunc(c.Files, func(f File) bool { return f.Path == file }); i >= 0 {
		_ = yaml.Unmarshal(c.Files[i].Data, out) // see above
	}
}

// wanted is how many hosts the cluster will have; zero where that is not known.
func (c Contents) wanted() int {
	var install struct {
		Spec struct {
			ProvisionRequirements struct {
				ControlPlaneAgents int `json:"controlPlaneAgents"`
				WorkerAgents       int `json:"workerAgents"`
				ArbiterAgents      int `json:"arbiterAgents"`
			} `json:"provisionRequirements"`
		} `json:"spec"`
	}
	c.read(places.AgentClusterInstall, &install)
	n := install.Spec.ProvisionRequirements
	return n.ControlPlaneAgents + n.WorkerAgents + n.ArbiterAgents
}

// cluster is its name with its domain.
func (c Contents) cluster() string {
	var d struct {
		Spec struct {
			ClusterName string `json:"clusterName"`
			BaseDomain  string `json:"baseDomain"`
		} `json:"spec"`
	}
	c.read(places.Manifests+"/cluster-deployment.yaml", &d)
	return strings.TrimSuffix(d.Spec.ClusterName+"."+d.Spec.BaseDomain, ".")
}
