package preflight

import (
	"slices"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/quirks"
)

// Bounds says what of the wishes the BMC is known to take up to a size only: live
// images, firmware images. Of others nobody has to know the size. A report that is nil
// is not known.
func Bounds(w Wishes, report *v1alpha1.BMCReport) (live, firmware bool) {
	if report == nil {
		return false, false
	}
	return w.Address.Boot == VirtualMedia && quirks.Has(report.Quirks, quirks.ImageSize), report.MaxImageBytes > 0
}

// TooLarge reports a verdict that is, among others, about the size of an image. It
// may change without the wishes: behind an address there may be another image.
func TooLarge(misfits []v1alpha1.Misfit) bool {
	return slices.ContainsFunc(misfits, func(m v1alpha1.Misfit) bool {
		return m.Reason == ReasonImageSize || m.Reason == ReasonUpdateSize
	})
}
