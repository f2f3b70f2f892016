package preflight

import (
	"slices"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/bios"
)

// Rules is how many rules there are.
var Rules = len(policies)

// CheckWithout is Check without one of the rules.
func CheckWithout(rule int, w Wishes, report *v1alpha1.BMCReport, registry *bios.Registry, settings *bios.Settings) []v1alpha1.Mismatch {
	return check(slices.Delete(slices.Clone(policies), rule, rule+1), w, report, registry, settings)
}
