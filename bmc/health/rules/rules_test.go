package rules

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

const (
	ok       = v1alpha1.HealthOK
	warning  = v1alpha1.HealthWarning
	critical = v1alpha1.HealthCritical
	unknown  = v1alpha1.HealthUnknown
)

// TestAssess has a case for each trap of the vendors.
func TestAssess(t *testing.T) {
	for name, c := range map[string]struct {
		part  Part
		state v1alpha1.HealthState // empty: does not count
		shows string
	}{
		"well":                              {Part{Kind: Fan, State: "Enabled", Health: "OK"}, ok, ""},
		"not well":                          {Part{Kind: Fan, State: "Enabled", Health: "Critical"}, critical, "reports Critical"},
		"a rollup of a part does not count": {Part{Kind: Drive, Health: "OK", Rollup: "Warning"}, ok, ""},
		"a rollup of a group does":          {Part{Kind: Group, Health: "OK", Rollup: "Warning"}, warning, "reports Warning"},
		"Fujitsu: health without rollup":    {Part{Kind: Group, Health: "Warning"}, warning, "reports Warning"},
		"rollup without health":             {Part{Kind: Group, Rollup: "Critical"}, critical, "reports Critical"},
		"AMI: a supply without health":      {Part{Kind: Supply, State: "Present"}, ok, ""},
		"AMI: another part without health":  {Part{Kind: Drive, State: "Present"}, "", ""},
		"AMI: a supply that is not there":   {Part{Kind: Supply, State: "Absent"}, "", ""},
		"HPE: a supply of unknown status":   {Part{Kind: Supply, State: "Enabled", Health: "OK", VendorState: "Unknown"}, critical, "has a status that the BMC calls Unknown"},
		"HPE: a supply in use":              {Part{Kind: Supply, State: "Enabled", Health: "OK", VendorState: "Ok"}, ok, ""},
		"iLO4: life below zero":             {Part{Kind: Drive, Health: "OK", LifeLeft: new(-1.0)}, ok, ""},
		"little life":                       {Part{Kind: Drive, Health: "OK", LifeLeft: new(7.0)}, warning, "has 7 % of its life left"},
		"no life":                           {Part{Kind: Drive, Health: "OK", LifeLeft: new(0.0)}, critical, "has no life left"},
		"enough life":                       {Part{Kind: Drive, LifeLeft: new(11.0)}, "", ""},
		"a drive that predicts its failure": {Part{Kind: Drive, Health: "OK", FailurePredicted: true}, warning, "predicts its failure"},
		"Cisco: an absent drive":            {Part{Kind: Drive, State: "Absent", Health: "Critical"}, "", ""},
		"Cisco: a disabled drive":           {Part{Kind: Drive, State: "Disabled", Health: "Warning"}, "", ""},
		"Cisco: the word Normal":            {Part{Kind: Drive, Health: "Normal"}, ok, ""},
		"a word that nobody knows":          {Part{Kind: Drive, Health: "Purple"}, "", ""},
		"above its critical limit": {
			Part{Kind: Temperature, State: "Enabled", Health: "OK", Value: new(96.0), Unit: "Cel", UpperCritical: new(95.0)},
			critical, "reads 96 Cel, its upper critical limit is 95",
		},
		"above its warning limit": {
			Part{Kind: Temperature, State: "Enabled", Value: new(90.0), UpperCaution: new(85.0), UpperCritical: new(95.0)},
			warning, "reads 90, its upper warning limit is 85",
		},
		"below its critical limit":    {Part{Kind: Fan, State: "Enabled", Value: new(300.0), Unit: "RPM", LowerCritical: new(600.0)}, critical, "reads 300 RPM, its lower critical limit is 600"},
		"within its limits":           {Part{Kind: Temperature, State: "Enabled", Value: new(40.0), UpperCritical: new(95.0)}, ok, ""},
		"a limit of zero is none":     {Part{Kind: Temperature, State: "Enabled", Value: new(40.0), UpperCritical: new(0.0)}, ok, ""},
		"a sensor that is absent":     {Part{Kind: Temperature, State: "Absent", UpperCritical: new(95.0)}, "", ""},
		"a sensor that is not in use": {Part{Kind: Fan, State: "StandbyOffline", Value: new(0.0), LowerCritical: new(600.0)}, "", ""},
		"a reading of null":           {Part{Kind: Temperature, State: "Enabled", UpperCritical: new(95.0)}, "", ""},
		"the worst of several":        {Part{Kind: Drive, Health: "Critical", FailurePredicted: true, LifeLeft: new(3.0)}, critical, "reports Critical"},
		"a leak":                      {Part{Kind: Leak, State: "Enabled", Health: "Critical"}, critical, "reports Critical"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			v, counts := Assess(c.part)
			g.Expect(counts).To(Equal(c.state != ""))
			if counts {
				g.Expect(v).To(Equal(Verdict{State: c.state, Shows: c.shows}))
			}
		})
	}
}

// TestSettle: sequences of reads and what is shown after each.
func TestSettle(t *testing.T) {
	const off = v1alpha1.HealthState("off") // Unknown for sure
	type states = []v1alpha1.HealthState
	for name, c := range map[string]struct{ reads, shown states }{
		"well from the start":         {states{ok, ok}, states{ok, ok}},
		"bad from the start":          {states{critical, critical}, states{unknown, critical}},
		"bad once from the start":     {states{critical, ok}, states{unknown, ok}},
		"bad once":                    {states{ok, critical, ok}, states{ok, ok, ok}},
		"bad twice":                   {states{ok, critical, critical, critical}, states{ok, ok, critical, critical}},
		"flapping is not shown":       {states{ok, critical, ok, critical, ok, critical}, states{ok, ok, ok, ok, ok, ok}},
		"flapping is not taken back":  {states{critical, critical, ok, critical, ok, critical}, states{unknown, critical, critical, critical, critical, critical}},
		"the milder of two":           {states{ok, critical, warning, critical, critical}, states{ok, ok, warning, warning, critical}},
		"well again":                  {states{warning, warning, ok, ok}, states{unknown, warning, warning, ok}},
		"better step by step":         {states{critical, critical, warning, ok, ok}, states{unknown, critical, critical, warning, ok}},
		"a read that failed":          {states{ok, unknown, ok}, states{ok, ok, ok}},
		"reads that fail":             {states{critical, critical, unknown, unknown, critical, critical}, states{unknown, critical, critical, unknown, unknown, critical}},
		"the host is off and on":      {states{ok, off, ok}, states{ok, unknown, ok}},
		"off, then bad":               {states{ok, off, critical, critical}, states{ok, unknown, unknown, critical}},
		"a failed read between bad":   {states{ok, critical, unknown, critical, critical}, states{ok, ok, ok, ok, critical}},
		"not read at all":             {states{"", ""}, states{unknown, unknown}},
		"bad, and not read meanwhile": {states{ok, critical, "", critical}, states{ok, ok, ok, critical}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var row Row
			var got states
			for _, read := range c.reads {
				s := sight{state: read}
				if read == off {
					s = sight{state: unknown, sure: true}
				}
				row = settle(row, s)
				got = append(got, row.Shown)
			}
			g.Expect(got).To(Equal(c.shown))
		})
	}
}
