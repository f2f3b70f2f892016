package image

import (
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/agent/agentbased/units"
)

// Summary is what a plan comes to, for people and programs. It has no secrets.
type Summary struct {
	Workflow   units.Workflow `json:"workflow"`
	Format     Format         `json:"format"`
	Cluster    string         `json:"cluster,omitempty"`
	Release    string         `json:"release,omitempty"`
	Rendezvous string         `json:"rendezvous,omitempty"`
	HubURL     string         `json:"hub_url,omitempty"`
	Masters    int            `json:"masters"`
	Arbiters   int            `json:"arbiters"`
	Workers    int            `json:"workers"`
	Hosts      []HostSummary  `json:"hosts"`
	// Others are hosts that are waited for and not described: the hub chooses their roles and
	// disks, their networks have DHCP.
	Others int `json:"others"`
}

// HostSummary is what a host will be.
type HostSummary struct {
	Name      string   `json:"name"`
	Role      string   `json:"role"`
	MACs      []string `json:"macs"`
	Addresses []string `json:"addresses"`
	// RootDevice are the hints for its disk.
	RootDevice string `json:"root_device"`
	// Network says how its network gets to it.
	Network string `json:"network"`
	// Rendezvous tells that it is the hub.
	Rendezvous bool `json:"rendezvous"`
}

// Summary says what will be.
func (p *Plan) Summary() Summary {
	s := Summary{
		Workflow: p.Workflow, Format: p.Format, Cluster: p.Cluster(), Release: p.Release, Hosts: []HostSummary{},
		Masters: p.Wanted.ControlPlaneAgents, Arbiters: p.Wanted.ArbiterAgents, Workers: p.Wanted.WorkerAgents,
		Others: max(p.Wanted.Hosts()-len(p.Hosts), 0),
	}
	if p.Rendezvous.IsValid() {
		s.Rendezvous, s.HubURL = p.Rendezvous.String(), p.HubURL()
	}
	for i := range p.Hosts {
		h := &p.Hosts[i]
		one := HostSummary{Name: h.Name, Role: h.Role, MACs: h.MACs, Addresses: []string{}, RootDevice: hints(h.Hints), Network: h.Way(), Rendezvous: h.Rendezvous}
		switch {
		case p.joins != nil:
			one.Role, one.Rendezvous = "worker", true
		case one.Role == "" && s.Arbiters+s.Workers == 0:
			one.Role = "master"
		case one.Role == "":
			one.Role = "chosen by the hub"
		}
		for _, a := range h.Addresses {
			one.Addresses = append(one.Addresses, a.String())
		}
		if h.DHCP {
			one.Addresses = append(one.Addresses, "DHCP")
		}
		if one.Network == "" {
			one.Network = "none described"
		}
		s.Hosts = append(s.Hosts, one)
	}
	return s
}

// hints are written as people wrote them, by the names of the fields.
func hints(h *manifests.RootDeviceHints) string {
	if h == nil {
		return "chosen by the hub"
	}
	var words []string
	v := reflect.ValueOf(*h)
	for i := range v.NumField() {
		field := v.Field(i)
		if field.IsZero() {
			continue
		}
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		words = append(words, fmt.Sprintf("%s=%v", name, field.Interface()))
	}
	return strings.Join(words, " ")
}

// JSON writes the summary for programs.
func (s Summary) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}

// Text writes the summary for people.
func (s Summary) Text(w io.Writer) error {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-12s%s\n", name, value)
		}
	}
	line("image", fmt.Sprintf("%s, workflow %s", s.Format, s.Workflow))
	line("release", s.Release)
	if s.Cluster == "" {
		line("settings", "none: they come with a config image")
		return nil
	}
	counts := s.counts()
	if s.Workflow == units.AddNodes {
		counts += " that join"
	}
	line("cluster", s.Cluster+": "+counts)
	line("hub", s.HubURL)
	fmt.Fprintln(w)
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "HOST\tROLE\tMAC ADDRESSES\tADDRESSES\tROOT DEVICE\tNETWORK\tRENDEZVOUS")
	for _, h := range s.Hosts {
		rendezvous := ""
		switch {
		case h.Rendezvous && s.Workflow == units.AddNodes:
			rendezvous = "hub for itself"
		case h.Rendezvous:
			rendezvous = "hub, installed last"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", h.Name, h.Role, strings.Join(h.MACs, " "), strings.Join(h.Addresses, " "), h.RootDevice, h.Network, rendezvous)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for row := range strings.Lines(rows.String()) {
		fmt.Fprintln(w, strings.TrimRight(row, " \n"))
	}
	if s.Others > 0 {
		fmt.Fprintf(w, "and %d more, which are not described: addresses by DHCP, roles and disks chosen by the hub\n", s.Others)
	}
	if !s.known() {
		fmt.Fprintf(w, "none of these hosts is known to have %s: the one that gets it from the network is the hub\n", s.Rendezvous)
	}
	return nil
}

// counts are the hosts of each role that there are.
func (s Summary) counts() string {
	var words []string
	for _, role := range []struct {
		name string
		n    int
	}{{"master", s.Masters}, {"arbiter", s.Arbiters}, {"worker", s.Workers}} {
		switch {
		case role.n == 1:
			words = append(words, "1 "+role.name)
		case role.n > 1:
			words = append(words, fmt.Sprintf("%d %ss", role.n, role.name))
		}
	}
	return strings.Join(words, ", ")
}

// known tells whether a host is known to be the rendezvous host.
func (s Summary) known() bool {
	for _, h := range s.Hosts {
		if h.Rendezvous {
			return true
		}
	}
	return false
}
