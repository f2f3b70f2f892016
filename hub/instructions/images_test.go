package instructions_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/instructions"
)

func TestImagesAreNamedWithTheirRegistry(t *testing.T) {
	for name, tc := range map[string]struct {
		images instructions.Images
		want   []string
	}{
		"none": {instructions.Images{}, nil},
		"all": {instructions.Images{
			Installer: "quay.example/i:1", Controller: "quay.example/c:1", MachineConfig: "registry:5000/m", MustGather: "quay.example/g", CoreOS: "localhost/o",
		}, nil},
		"several that gather": {instructions.Images{MustGather: `{"ocp":"quay.example/g:1","cnv":"quay.example/v:1"}`}, nil},
		"short ones":          {instructions.Images{Installer: "installer:1", Controller: "ironflow/ironflow-agent:latest"}, []string{`installer image: "installer:1"`, "controller image: "}},
		"a short one of some": {instructions.Images{MustGather: `{"ocp":"gather"}`}, []string{`must-gather ocp image: "gather"`}},
		"no JSON":             {instructions.Images{MustGather: `{`}, []string{"must-gather images: "}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			err := tc.images.Check()
			if tc.want == nil {
				g.Expect(err).NotTo(HaveOccurred())
			}
			for _, want := range tc.want {
				g.Expect(err).To(MatchError(ContainSubstring(want)))
			}
		})
	}
}

// TestImagesThatHostsPullBeforehand: what has a list of several is no image, and operators' own are pulled when they failed.
func TestImagesThatHostsPullBeforehand(t *testing.T) {
	g := NewWithT(t)
	images := instructions.Images{Release: "quay.example/r:1", MachineConfig: "quay.example/m:1", MustGather: `{"ocp":"quay.example/g:1","cnv":"quay.example/v:1"}`}
	g.Expect(images.ToCheck()).To(Equal([]string{"quay.example/r:1", "quay.example/m:1", "quay.example/g:1"}))
	images.MustGather = `{"cnv":"quay.example/v:1"}`
	g.Expect(images.ToCheck()).To(Equal([]string{"quay.example/r:1", "quay.example/m:1"}))
	images.MustGather = "quay.example/g:2"
	g.Expect(images.ToCheck()).To(ContainElement("quay.example/g:2"))
}
