package settle

import (
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/sources"
)

// Offered are the operators that clusters of this hub can get: none where no source
// brings manifests into an installation of OpenShift.
func (u *Units) Offered() operators.Table {
	if _, ok := u.Sources.All[sources.OpenShiftInstall]; !ok {
		return operators.Table{}
	}
	return u.Rules.Operators
}
