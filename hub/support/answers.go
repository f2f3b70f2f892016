package support

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/releases/versions"
	"github.com/ironflow/ironflow/hub/wire"
)

// Query is what a client asks about.
type Query struct {
	// Version is a release, such as 4.20 or 4.20.1.
	Version string
	// Architecture as clusters name it; empty means x86_64.
	Architecture string
	// Platform limits the answer to one; empty for any.
	Platform wire.PlatformType
	// ExternalName is the name of the external platform.
	ExternalName string
}

var versionForm = regexp.MustCompile(`^[0-9]{1,3}\.[0-9]{1,3}(\.[0-9]{1,4})?(-[0-9A-Za-z.-]{1,64})?$`)

// Check refuses what is no release, architecture or platform.
func (q Query) Check() error {
	switch {
	case !versionForm.MatchString(q.Version):
		return fmt.Errorf("openshift_version %.40q: want a release such as 4.20 or 4.20.1", q.Version)
	case !slices.Contains([]string{x86, arm, power, z, multi}, q.cpu()):
		return fmt.Errorf("cpu_architecture %.40q: want x86_64, aarch64, arm64, ppc64le, s390x or multi", q.Architecture)
	case q.Platform != "" && !slices.Contains(allPlatforms, q.Platform):
		return fmt.Errorf("platform_type %.40q: want one of %v", q.Platform, allPlatforms)
	case q.ExternalName != "" && q.Platform != wire.PlatformTypeExternal:
		return fmt.Errorf("external_platform_name: platform_type external is needed with it")
	}
	return nil
}

// cpu is the architecture in one spelling.
func (q Query) cpu() string {
	if q.Architecture == wire.ClusterCPUArchitectureAarch64 {
		return arm
	}
	return cmp.Or(q.Architecture, x86)
}

func (q Query) oracle() bool {
	return q.Platform == wire.PlatformTypeExternal && q.ExternalName == "oci"
}

// older compares releases by their numbers.
func older(a, b string) bool { return versions.Older(a, b) }

// Features returns the level of each feature, with the operators of a table that is
// offered. A platform has none beside a given platform.
func Features(q Query, offered operators.Table) wire.SupportLevels {
	out := wire.SupportLevels{}
	for _, f := range Detailed(q, offered) {
		out[string(f.FeatureSupportLevelID)] = f.SupportLevel
	}
	for _, o := range Operators(q, offered) {
		out[string(o.FeatureSupportLevelID)] = o.SupportLevel
	}
	return out
}

// Detailed returns the features that are no operators, with what they cannot be
// combined with and why they are not to be had, by id.
func Detailed(q Query, offered operators.Table) []wire.Feature {
	out := []wire.Feature{}
	for _, r := range rules {
		if r.platform && q.Platform != "" || r.id == wire.FeatureSupportLevelIDPlatformManagedNetworking && q.Platform == "" {
			continue
		}
		f := wire.Feature{FeatureSupportLevelID: r.id, SupportLevel: cmp.Or(r.level, wire.SupportLevelSupported), Incompatibilities: excluded(r.id, offered)}
		allowed, reason := r.allows(q)
		switch {
		case !allowed:
			f.SupportLevel, f.Reason = wire.SupportLevelUnavailable, reason
		case r.first != "" && !older(r.since, minor(q.Version)):
			f.SupportLevel = r.first
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b wire.Feature) int { return cmp.Compare(a.FeatureSupportLevelID, b.FeatureSupportLevelID) })
	return out
}

// WhyNot is why a feature that is no operator is not to be had; empty where it is.
func WhyNot(id wire.FeatureSupportLevelID, q Query) wire.IncompatibilityReason {
	for _, r := range rules {
		if r.id == id {
			_, reason := r.allows(q)
			return reason
		}
	}
	return ""
}

var minorForm = regexp.MustCompile(`^[0-9]+\.[0-9]+`)

// minor is a release without its last number: 4.20 of 4.20.1.
func minor(version string) string { return minorForm.FindString(version) }

// Architectures returns the level of each architecture in a release.
func Architectures(version string) wire.SupportLevels {
	out := wire.SupportLevels{}
	for _, a := range []struct {
		id           wire.ArchitectureSupportLevelID
		since        string
		first, level wire.SupportLevel
	}{
		{wire.ArchitectureSupportLevelIDX8664Architecture, "4.0", "", wire.SupportLevelSupported},
		{wire.ArchitectureSupportLevelIDArm64Architecture, "4.10", "", wire.SupportLevelSupported},
		{wire.ArchitectureSupportLevelIDPpc64leArchitecture, "4.12", wire.SupportLevelTechPreview, wire.SupportLevelSupported},
		{wire.ArchitectureSupportLevelIDS390xArchitecture, "4.12", wire.SupportLevelTechPreview, wire.SupportLevelSupported},
		{wire.ArchitectureSupportLevelIDMultiarchReleaseImage, "4.11", "", wire.SupportLevelTechPreview},
	} {
		level := a.level
		switch {
		case older(version, a.since):
			level = wire.SupportLevelUnsupported
		case a.first != "" && !older(a.since, minor(version)):
			level = a.first
		}
		out[string(a.id)] = level
	}
	return out
}
