package support

import (
	"cmp"
	"slices"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/wire"
)

// Operators returns the features that are operators, by id: those that are offered with
// their level, and those that the protocol knows and that are not as unavailable. A site's
// own operators have no id, and so no level.
func Operators(q Query, offered operators.Table) []wire.Operator {
	out := []wire.Operator{}
	for _, known := range operators.Builtin().Operators {
		if !slices.ContainsFunc(offered.Operators, func(o operators.Operator) bool { return o.Feature == known.Feature }) {
			out = append(out, wire.Operator{
				FeatureSupportLevelID: known.Feature, Name: known.Name, SupportLevel: wire.SupportLevelUnavailable,
				Dependencies: []wire.FeatureSupportLevelID{}, Incompatibilities: []wire.FeatureSupportLevelID{},
			})
		}
	}
	for i := range offered.Operators {
		o := &offered.Operators[i]
		if o.Feature == "" {
			continue
		}
		target := q.target()
		reason, _ := o.Unfit(target)
		out = append(out, wire.Operator{
			FeatureSupportLevelID: o.Feature, Name: o.Name, SupportLevel: o.Level(target), Reason: reason,
			Dependencies: featuresOf(o.Needs, offered), Incompatibilities: without(o, offered),
		})
	}
	slices.SortFunc(out, func(a, b wire.Operator) int { return cmp.Compare(a.FeatureSupportLevelID, b.FeatureSupportLevelID) })
	return out
}

// Bundles returns the bundles that can be had there, with the operators in them that can.
// One without an operator of its own that cannot be had is none.
func Bundles(q Query, singleNode bool, offered operators.Table) []wire.Bundle {
	out := []wire.Bundle{}
	target := q.target()
	target.SingleNode = singleNode
	if q.Version == "" {
		target.Version = newest
	}
	there := func(names []string) []string {
		kept := []string{}
		for _, name := range names {
			if _, why := offered.Find(name).Unfit(target); why == "" {
				kept = append(kept, name)
			}
		}
		return kept
	}
	for _, b := range offered.Bundles {
		shown := wire.Bundle{ID: b.ID, Title: b.Title, Description: b.Description, Operators: there(b.Operators), OptionalOperators: there(b.Optional)}
		if len(shown.Operators) > 0 {
			out = append(out, shown)
		}
	}
	return out
}

// newest stands for any release, where a client names none.
const newest = "999.0"

func (q Query) target() operators.Target {
	return operators.Target{Version: q.Version, Architecture: q.cpu(), Platform: q.Platform}
}

// without is what the operator cannot be combined with, by either's word, in the order of ids.
func without(o *operators.Operator, offered operators.Table) []wire.FeatureSupportLevelID {
	out := featuresOf(o.Excludes, offered)
	for _, other := range offered.Operators {
		if slices.Contains(other.Excludes, o.Name) && other.Feature != "" {
			out = append(out, other.Feature)
		}
	}
	for platform, id := range map[wire.PlatformType]wire.FeatureSupportLevelID{
		wire.PlatformTypeVsphere: wire.FeatureSupportLevelIDVsphereIntegration, wire.PlatformTypeNutanix: wire.FeatureSupportLevelIDNutanixIntegration,
	} {
		if slices.Contains(o.NotOn, platform) {
			out = append(out, id)
		}
	}
	if o.SeveralHosts {
		out = append(out, wire.FeatureSupportLevelIDSno)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// featuresOf are the ids of operators.
func featuresOf(names []string, offered operators.Table) []wire.FeatureSupportLevelID {
	out := []wire.FeatureSupportLevelID{}
	for _, name := range names {
		if o := offered.Find(name); o != nil && o.Feature != "" {
			out = append(out, o.Feature)
		}
	}
	return out
}
