package media

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/iso"
)

func TestWhetherAMediumHasNmstatectl(t *testing.T) {
	for label, tc := range map[string]struct {
		said string
		want bool
		why  string
	}{
		"fedora-coreos-38.20230718.3.0":  {"", false, "older than the first release"},
		"fedora-coreos-39.20231101.3.0":  {"", true, "of a release that has it"},
		"fedora-coreos-42.20250410.3.1":  {"", true, "of a release that has it"},
		"rhcos-414.92.202310170514-0":    {"", false, "older than the first release"},
		"rhcos-47.83.202103251640-0":     {"", false, "older than the first release"},
		"rhcos-418.94.202501221327-0":    {"", true, "of a release that has it"},
		"rhcos-9.6.20250523-0":           {"", true, "of a release that has it"},
		"scos-418.9.202410160919-0":      {"", true, "of a release that has it"},
		"scos-10.0.20250628-0":           {"", true, "of a release that has it"},
		"rhcos-":                         {"", false, "not known whether base image"},
		"my-live":                        {"", false, "not known whether base image"},
		"my-other-live":                  {"true", true, "the list of base images says nmstatectl: true"},
		"fedora-coreos-43.20260101.3.0":  {"false", false, "the list of base images says nmstatectl: false"},
		"":                               {"", false, "not known whether base image"},
		"fedora-coreos-42.20250410.3.1b": {"nonsense", true, "of a release that has it"},
	} {
		t.Run(label, func(t *testing.T) {
			g := NewWithT(t)
			m := &Medium{Layout: &iso.Layout{VolumeID: label}}
			m.describe(Description{Nmstatectl: tc.said})
			has, why := m.Nmstatectl()
			g.Expect(has).To(Equal(tc.want))
			g.Expect(why).To(ContainSubstring(tc.why))
		})
	}
}

func TestTheReleaseOfAMediumTellsOfNmstatectl(t *testing.T) {
	g := NewWithT(t)
	for release, want := range map[string]bool{"4.17": false, "4.18": true, "4.20.3": true, "": false, "5": false} {
		m := &Medium{Layout: &iso.Layout{VolumeID: "my-live"}}
		m.describe(Description{OpenShiftVersion: release})
		has, _ := m.Nmstatectl()
		g.Expect(has).To(Equal(want), release)
	}
}
