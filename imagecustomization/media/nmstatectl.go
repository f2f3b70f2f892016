package media

import (
	"fmt"
	"strconv"
	"strings"
)

// Since when the live systems of CoreOS have nmstatectl. Fedora CoreOS got it during
// the life of release 38, so that all of 39 has it. The live systems of OpenShift have
// had it since 4.18, where others run it, too; their media are called by the release of
// OpenShift (418.94.…) up to that one, and by that of the distribution (9.6.…) from then
// on.
const (
	fedoraWithNmstatectl    = 39
	openShiftWithNmstatectl = 418
	// Numbers from the one up to the other are releases of the distribution.
	firstDistribution, firstOpenShift = 9, 40
)

// Nmstatectl tells whether the live system of the medium has nmstatectl. Why says how
// that is known: somebody said so in the list of base images, or it is known of the
// CoreOS that the label of the medium names. Of any other medium it is not known, and
// so not taken for granted.
func (m *Medium) Nmstatectl() (has bool, why string) {
	if m.nmstatectl != nil {
		return *m.nmstatectl, fmt.Sprintf("the list of base images says nmstatectl: %t of base image %s", *m.nmstatectl, m.Version)
	}
	label := m.Layout.VolumeID
	for prefix, since := range map[string]int{"fedora-coreos-": fedoraWithNmstatectl, "rhcos-": openShiftWithNmstatectl, "scos-": openShiftWithNmstatectl} {
		version, is := strings.CutPrefix(label, prefix)
		first, _, _ := strings.Cut(version, ".")
		number, err := strconv.Atoi(first)
		if !is || err != nil {
			continue
		}
		if number >= since || prefix != "fedora-coreos-" && number >= firstDistribution && number < firstOpenShift {
			return true, "base image " + label + " is of a release that has it"
		}
		return false, "base image " + label + " is older than the first release that has it"
	}
	if minor, is := strings.CutPrefix(m.OpenShiftVersion, "4."); is {
		first, _, _ := strings.Cut(minor, ".")
		if number, err := strconv.Atoi(first); err == nil {
			return number >= openShiftWithNmstatectl-400, "base image " + label + " belongs to OpenShift " + m.OpenShiftVersion + "; 4.18 and later have it"
		}
	}
	return false, fmt.Sprintf("it is not known whether base image %q has it: say so by nmstatectl in the list of base images, or by --live-nmstatectl=always", label)
}
