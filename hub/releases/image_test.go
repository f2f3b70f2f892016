package releases_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestTheReleaseOfAnImage(t *testing.T) {
	catalog := releases.Catalog{Images: wire.ReleaseImages{{URL: "mirror.example/release@sha256:aa", Version: "4.19.3"}, {URL: "mirror.example/release:latest", Version: "4.20.2"}}}
	for image, want := range map[string]string{
		"mirror.example/release@sha256:aa":                 "4.19.3",
		"mirror.example/release:latest":                    "4.20.2",
		"quay.example/ocp-release:4.20.1-x86_64":           "4.20.1",
		"quay.example:5000/ocp-release:4.21.0-ec.3-multi":  "4.21.0-ec.3",
		"quay.example/ocp-release:4.20.1-x86_64@sha256:bb": "4.20.1",
		"quay.example:5000/ocp-release@sha256:bb":          "",
		"quay.example:5000/ocp-release":                    "",
		"quay.example/ocp-release:latest":                  "",
		"":                                                 "",
	} {
		t.Run(image, func(t *testing.T) {
			release, known := catalog.ByImage(image)
			NewWithT(t).Expect(release.Version).To(Equal(want))
			NewWithT(t).Expect(known).To(Equal(want != ""))
		})
	}
}
