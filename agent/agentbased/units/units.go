// Package units is the systemd side of an agent-based install: one table of units with
// their order, conditions and commands, rendered for the three workflows. Names are a
// contract: users, support scripts and documents refer to them. The programs that the
// units run are in the other packages of agent/agentbased; who builds an image writes
// what [Render] returns into it.
package units

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Workflow is a way in which a cluster installs itself.
type Workflow string

// Workflows.
const (
	// Automated: all settings are in the image.
	Automated Workflow = "automated"
	// Appliance: a factory image, settings come with a config image.
	Appliance Workflow = "appliance"
	// AddNodes: the host joins a running cluster.
	AddNodes Workflow = "addnodes"
)

// Workflows lists them.
func Workflows() []Workflow { return []Workflow{Automated, Appliance, AddNodes} }

// HubBinary is where the live image keeps the hub's program, Binary what units run.
const (
	HubBinary = "/usr/local/bin/ironflow"
	Binary    = "/usr/local/bin/ironflow-agent-based"
)

// Options are what differs between images.
type Options struct {
	Workflow Workflow
	// HubArguments are the words behind the hub's program, "hub agent-based" when empty; its
	// settings are in environment files.
	HubArguments []string
	// ConfigImageFiles are the files, and folders with a slash at their end, that a config
	// image brings; nil keeps the program's own list. For the appliance only.
	ConfigImageFiles []string
}

// Rendered is a unit, or a file that units need.
type Rendered struct {
	// Name is the unit's; Path is where the file lies.
	Name, Path string
	// Enabled tells whether the unit starts by itself.
	Enabled bool
	Content string
}

// Unit is a row of the table.
type Unit struct {
	Name, Description string
	// In are the workflows that have it; nil is all.
	In []Workflow
	// OnNodeZero adds the condition that only the rendezvous host meets.
	OnNodeZero bool
	// Conditions are paths for ConditionPathExists=, with ! for a path that must be missing.
	Conditions []string
	// Order and dependencies, as systemd.unit(5) has them.
	After, Before, Wants, BindsTo, Conflicts []string
	// With are units that it wants, and that it is stopped and run again with. They are not
	// required: systemd gives up a unit for good when one that it requires has failed, also
	// when that one is tried again.
	With []string
	// Service are the lines of that section.
	Service []string
	// WantedBy starts it; empty means that something else does.
	WantedBy string
	// OffIn are workflows in which it does not start by itself.
	OffIn []Workflow
}

// Table lists all units in the order of the protocol's description.
func Table(o Options) []Unit {
	return slices.Concat(everywhere(), hub(o), registration(), lead(), appliance(o), addNodes())
}

// Render returns the units of a workflow, in the order of the table, and the files that
// they need.
func Render(o Options) ([]Rendered, error) {
	if !slices.Contains(Workflows(), o.Workflow) {
		return nil, fmt.Errorf("workflow %q: there are %s, %s and %s", o.Workflow, Automated, Appliance, AddNodes)
	}
	if o.Workflow != Appliance && len(o.ConfigImageFiles) > 0 {
		return nil, fmt.Errorf("a list of files for the config image: only the workflow %s has one", Appliance)
	}
	for _, word := range slices.Concat(o.HubArguments, o.ConfigImageFiles) {
		if strings.ContainsAny(word, " \t\r\n\"'\\%$,;") || word == "" {
			return nil, fmt.Errorf("%q cannot be a word of a unit: it is empty, or has a blank or a special character", word)
		}
	}
	var out []Rendered
	for _, u := range Table(o) {
		if len(u.In) > 0 && !slices.Contains(u.In, o.Workflow) {
			continue
		}
		out = append(out, Rendered{
			Name: u.Name, Path: hostfile.UnitDir + "/" + u.Name, Content: u.text(),
			Enabled: u.WantedBy != "" && !slices.Contains(u.OffIn, o.Workflow),
		})
	}
	out = append(out, Rendered{Path: policyModule, Content: policy})
	if o.Workflow == Appliance {
		out = append(out, Rendered{Path: udevRule, Content: udev})
	}
	return out, nil
}

func (u Unit) text() string {
	lines := []string{"[Unit]", "Description=" + u.Description}
	list := func(key string, values []string) {
		if len(values) > 0 {
			lines = append(lines, key+"="+strings.Join(values, " "))
		}
	}
	list("Wants", slices.Concat(u.Wants, u.With))
	list("PartOf", u.With)
	list("BindsTo", u.BindsTo)
	list("Conflicts", u.Conflicts)
	list("After", u.After)
	list("Before", u.Before)
	if u.OnNodeZero {
		lines = append(lines, "ConditionPathExists="+places.NodeZero)
	}
	for _, path := range u.Conditions {
		lines = append(lines, "ConditionPathExists="+path)
	}
	if slices.ContainsFunc(u.Service, func(l string) bool { return strings.HasPrefix(l, "Restart=") }) {
		lines = append(lines, "StartLimitIntervalSec=0")
	}
	lines = append(append(lines, "", "[Service]"), u.Service...)
	if u.WantedBy != "" {
		lines = append(lines, "", "[Install]", "WantedBy="+u.WantedBy)
	}
	return strings.Join(lines, "\n") + "\n"
}
