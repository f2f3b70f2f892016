package operators

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// Choice is an operator that a cluster gets, and why.
type Choice struct {
	*Operator
	// DependencyOnly tells that nobody chose it, but another one needs it.
	DependencyOnly bool
	// SourceBundles are the bundles that it was chosen with.
	SourceBundles []string
}

// Asked is what a user has asked for.
type Asked struct {
	Operators []wire.OperatorCreateParams
	Bundles   []wire.BundleCreateParams
}

// Nothing tells that no operator is asked for.
func (a Asked) Nothing() bool { return len(a.Operators)+len(a.Bundles) == 0 }

// Refuse says what is asked for and cannot be had there, by its name; nil when all can.
func (t Table) Refuse(a Asked, target Target) error {
	for _, p := range a.Operators {
		if t.Find(p.Name) == nil {
			return fmt.Errorf("olm_operators: there is no operator %.80q; this hub offers %s", p.Name, strings.Join(t.Names(), ", "))
		}
		if text := strings.TrimSpace(p.Properties); text != "" && text != "{}" {
			return fmt.Errorf("olm_operators: operator %s has no properties, and %.80q was given; leave properties out", p.Name, text)
		}
	}
	for _, p := range a.Bundles {
		b := t.FindBundle(p.ID)
		if b == nil {
			return fmt.Errorf("operator_bundles: there is no bundle %.80q", p.ID)
		}
		for _, name := range p.OptionalOperators {
			if !slices.Contains(b.Optional, name) {
				return fmt.Errorf("operator_bundles: bundle %s has no optional operator %.80q, only %v", b.ID, name, b.Optional)
			}
		}
	}
	chosen, _ := t.Choose(a, target.SingleNode)
	for _, c := range chosen {
		if _, why := c.Unfit(target); why != "" {
			return fmt.Errorf("operator %s cannot be installed: %s%s", c.Name, why, t.neededBy(c, chosen, target.SingleNode))
		}
		if other := c.Beside(chosen); other != "" {
			return fmt.Errorf("operator %s cannot be installed beside %s; choose one of them", c.Name, other)
		}
	}
	return nil
}

// neededBy says who asks for an operator that nobody chose.
func (t Table) neededBy(c Choice, chosen []Choice, singleNode bool) string {
	if !c.DependencyOnly {
		return ""
	}
	for _, other := range chosen {
		if slices.Contains(other.Dependencies(singleNode), c.Name) {
			return "; operator " + other.Name + " needs it"
		}
	}
	return ""
}

// Beside is the name of one of the others that the operator cannot be beside; empty for none.
func (o *Operator) Beside(chosen []Choice) string {
	for _, other := range chosen {
		if slices.Contains(o.Excludes, other.Name) || slices.Contains(other.Excludes, o.Name) {
			return other.Name
		}
	}
	return ""
}

// Choose returns what comes of that, with all that it needs, by name. Names that the table
// does not have (any more) are returned apart.
func (t Table) Choose(a Asked, singleNode bool) (chosen []Choice, unknown []string) {
	found := map[string]*Choice{}
	var add func(name, bundle string, dependency bool)
	add = func(name, bundle string, dependency bool) {
		o := t.Find(name)
		if o == nil {
			unknown = append(unknown, name)
			return
		}
		c, seen := found[name]
		if !seen {
			c = &Choice{Operator: o, DependencyOnly: dependency, SourceBundles: []string{}}
			found[name] = c
		}
		c.DependencyOnly = c.DependencyOnly && dependency
		if bundle != "" && !slices.Contains(c.SourceBundles, bundle) {
			c.SourceBundles = append(c.SourceBundles, bundle)
		}
		if seen {
			return
		}
		for _, needed := range o.Dependencies(singleNode) {
			add(needed, "", true)
		}
	}
	for _, p := range a.Operators {
		add(p.Name, "", false)
	}
	for _, p := range a.Bundles {
		b := t.FindBundle(p.ID)
		if b == nil {
			unknown = append(unknown, p.ID)
			continue
		}
		for _, name := range slices.Concat(b.Operators, p.OptionalOperators) {
			add(name, b.ID, false)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		chosen = append(chosen, *found[name])
	}
	slices.Sort(unknown)
	return chosen, slices.Compact(unknown)
}

// Monitored is how a cluster shows what it gets.
func (t Table) Monitored(clusterID string, chosen []Choice) []wire.MonitoredOperator {
	var out []wire.MonitoredOperator
	for _, c := range chosen {
		out = append(out, wire.MonitoredOperator{
			ClusterID: clusterID, Name: c.Name, OperatorType: wire.OperatorTypeOlm, Namespace: c.Namespace, SubscriptionName: c.SubscriptionName(),
			TimeoutSeconds: 60 * c.Minutes, DependencyOnly: c.DependencyOnly, Bundles: t.bundlesOf(c.Name), SourceBundles: c.SourceBundles,
		})
	}
	return out
}
