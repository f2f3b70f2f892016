package admission

import "regexp"

// The patterns, as CEL compiles them.
var (
	AddressPattern = regexp.MustCompile(addressPattern())
	RedfishPattern = regexp.MustCompile(redfishPattern())
	MACPattern     = regexp.MustCompile(macPattern())
)

// Members of an AgentClusterInstall's spec that the rules are about: those that may change at any time, and the others.
var (
	InstallAlways = changeAlways
	InstallLater  = paths(changeLater)
	InstallBefore = paths(changeBefore)
)

func paths(members []leaf) (all []string) {
	for _, m := range members {
		all = append(all, m.path)
	}
	return all
}
