package nodespec

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestReadImage(t *testing.T) {
	want := metal3.PreprovisioningImageSpec{Architecture: "x86_64", AcceptFormats: []metal3.ImageFormat{metal3.ImageFormatISO}}
	ready := func() *metal3.PreprovisioningImage {
		return &metal3.PreprovisioningImage{ObjectMeta: metav1.ObjectMeta{Generation: 2}, Spec: want, Status: metal3.PreprovisioningImageStatus{
			ImageUrl: "http://image.iso", Format: metal3.ImageFormatISO, Architecture: "x86_64",
			Conditions: []metav1.Condition{{Type: "Ready", Status: "True", ObservedGeneration: 2}},
		}}
	}
	for name, c := range map[string]struct {
		change func(*metal3.PreprovisioningImage)
		want   LiveImage
	}{
		"ready":              {func(*metal3.PreprovisioningImage) {}, LiveImage{Asked: true, Ready: true}},
		"other wish":         {func(i *metal3.PreprovisioningImage) { i.Spec.Architecture = "aarch64" }, LiveImage{}},
		"older generation":   {func(i *metal3.PreprovisioningImage) { i.Generation = 3 }, LiveImage{Asked: true}},
		"other architecture": {func(i *metal3.PreprovisioningImage) { i.Status.Architecture = "aarch64" }, LiveImage{Asked: true, Note: "the image is for aarch64"}},
		"old network data": {
			func(i *metal3.PreprovisioningImage) { i.Status.NetworkData.Name = "net" },
			LiveImage{Asked: true, Note: "the image has older network data"},
		},
		"error": {func(i *metal3.PreprovisioningImage) {
			i.Status.Conditions = append(i.Status.Conditions, metav1.Condition{Type: "Error", Status: "True", Message: "no base", ObservedGeneration: 2})
		}, LiveImage{Asked: true, Error: "the live image cannot be built: no base"}},
		"unfit format": {
			func(i *metal3.PreprovisioningImage) { i.Status.Format = metal3.ImageFormatInitRD },
			LiveImage{Asked: true, Error: `the live image has format "initrd", which this host's driver cannot boot`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			image := ready()
			c.change(image)
			got := ReadImage(&metal3.BareMetalHost{}, image, want, "", "")
			got.URL, got.Format = "", ""
			NewWithT(t).Expect(got).To(Equal(c.want))
		})
	}
}
