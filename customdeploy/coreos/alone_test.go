package coreos

import (
	"context"
	"errors"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/customdeploy/step"
)

// TestTwoInstallersDoNotWriteOneDisk: with fast-track the ramdisk goes on from one
// deployment to the next, and so does the agent of a step that was killed.
func TestTwoInstallersDoNotWriteOneDisk(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, twoPaths, bareDisks)
	earlier := hostfile.StepState{BootID: "boot-1", Step: assisted.Name}
	g.Expect(m.host.Write(hostfile.StepFile, earlier)).To(Succeed())
	s.Alone = func(context.Context, assisted.Host) error { return errors.New("agent.service runs") }
	r := s.Run(t.Context(), order(m, step.Node{InstanceInfo: map[string]any{}}))
	g.Expect(r.Outcome).To(Equal(step.Failed))
	g.Expect(r.Reason).To(Equal("agent.service runs"))
	g.Expect(*written).To(BeEmpty())
	var left hostfile.StepState
	g.Expect(m.host.Read(hostfile.StepFile, &left)).To(Succeed())
	g.Expect(left).To(Equal(earlier), "the record of the step that began it stays")
}
