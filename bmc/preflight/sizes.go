package preflight

import (
	"fmt"
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
func TooLarge(mismatches []v1alpha1.Mismatch) bool {
	return slices.ContainsFunc(mismatches, func(m v1alpha1.Mismatch) bool {
		return m.Reason == ReasonImageSize || m.Reason == ReasonUpdateSize
	})
}

// Refused are the addresses of the images that a verdict on these wishes found too large.
func Refused(w Wishes, mismatches []v1alpha1.Mismatch) []string {
	var all []string
	for _, m := range mismatches {
		switch {
		case m.Reason == ReasonImageSize && m.Field == fieldAddress:
			all = append(all, w.LiveImage.Address)
		case m.Reason == ReasonImageSize:
			all = append(all, w.LiveISO.Address)
		case m.Reason == ReasonUpdateSize:
			for i := range w.Updates {
				if m.Field == urlOf(i) {
					all = append(all, w.Updates[i].URL)
				}
			}
		}
	}
	return all
}

// urlOf is the field with the address of an update.
func urlOf(i int) string { return fmt.Sprintf("%s[%d].url", fieldUpdates, i) }
