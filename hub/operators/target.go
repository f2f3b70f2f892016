package operators

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/releases/versions"
	"github.com/ironflow/ironflow/hub/wire"
)

// architectures are those that a table may name.
var architectures = []string{
	wire.ClusterCPUArchitectureX8664, wire.ClusterCPUArchitectureArm64, wire.ClusterCPUArchitecturePpc64le, wire.ClusterCPUArchitectureS390x,
}

// Target is what operators are to be installed into.
type Target struct {
	// Version is the release, such as 4.20 or 4.20.1.
	Version string
	// Architecture as clusters name it; empty for x86_64. A cluster of several has hosts
	// that every operator finds its place on.
	Architecture string
	// Platform is empty for any.
	Platform   wire.PlatformType
	SingleNode bool
}

func (t Target) cpu() string {
	switch t.Architecture {
	case "":
		return wire.ClusterCPUArchitectureX8664
	case wire.ClusterCPUArchitectureAarch64:
		return wire.ClusterCPUArchitectureArm64
	}
	return t.Architecture
}

// Unfit tells why the operator cannot be installed there: in a word of the protocol, empty
// where that has none, and in words for people. Both are empty when it can be.
func (o *Operator) Unfit(t Target) (reason wire.IncompatibilityReason, why string) {
	switch {
	case o.Since != "" && versions.Older(t.Version, o.Since):
		return wire.IncompatibilityReasonOpenshiftVersion, fmt.Sprintf("%s is there from OpenShift %s on, and the release is %s", o.Title, o.Since, t.Version)
	case o.Until != "" && !versions.Older(t.Version, o.Until):
		return wire.IncompatibilityReasonOpenshiftVersion, fmt.Sprintf("%s is there until OpenShift %s, and the release is %s", o.Title, o.Until, t.Version)
	case len(o.Architectures) > 0 && t.cpu() != wire.ClusterCPUArchitectureMulti && !slices.Contains(o.Architectures, t.cpu()):
		return wire.IncompatibilityReasonCpuArchitecture, fmt.Sprintf("%s runs on %s, and the architecture is %s", o.Title, strings.Join(o.Architectures, ", "), t.cpu())
	case t.Platform != "" && slices.Contains(o.NotOn, t.Platform):
		return wire.IncompatibilityReasonPlatform, fmt.Sprintf("%s does not run on platform %s", o.Title, t.Platform)
	case o.SeveralHosts && t.SingleNode:
		return "", o.Title + " needs several hosts, and the cluster is a single node"
	}
	return "", ""
}

// Level is its support level there.
func (o *Operator) Level(t Target) wire.SupportLevel {
	switch _, why := o.Unfit(t); {
	case why != "":
		return wire.SupportLevelUnavailable
	case slices.Contains(o.Preview, t.cpu()):
		return wire.SupportLevelDevPreview
	}
	return wire.SupportLevelSupported
}
