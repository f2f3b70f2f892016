package evaluate_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestHostsAreToldTheImagesOfTheirRelease, unless somebody has named others.
func TestHostsAreToldTheImagesOfTheirRelease(t *testing.T) {
	g := NewWithT(t)
	c := &store.Cluster{
		API:     wire.Cluster{OcpReleaseImage: "quay.example/release:1"},
		Release: &store.Release{MachineConfig: "quay.example/mco:1", MustGather: "quay.example/gather:1"},
	}
	of := func(images instructions.Images, c *store.Cluster) instructions.Images {
		return evaluate.Evaluator{Rules: &evaluate.Rules{Images: images}}.ImagesOf(c)
	}
	g.Expect(of(instructions.Images{}, c)).To(Equal(instructions.Images{Release: "quay.example/release:1", MachineConfig: "quay.example/mco:1", MustGather: "quay.example/gather:1"}))
	g.Expect(of(instructions.Images{MachineConfig: "site.example/mco:2"}, c).MachineConfig).To(Equal("site.example/mco:2"))
	g.Expect(of(instructions.Images{}, &store.Cluster{})).To(Equal(instructions.Images{}))
}
