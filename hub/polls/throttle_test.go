package polls

import (
	"fmt"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// TestPullsOfALargeCluster are spread: who has begun goes on, the others are told when
// it is their turn, and other steps and clusters do not wait.
func TestPullsOfALargeCluster(t *testing.T) {
	g := gomega.NewWithT(t)
	d := &Answerer{units: &settle.Units{Rules: evaluate.Rules{Timers: evaluate.Timers{Images: 16 * time.Minute}}}}
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	told := func(cluster string, host int, at time.Time) bool {
		s := &snapshots.Host{ClusterID: cluster, Key: store.HostKey{InfraEnvID: "e", HostID: fmt.Sprint(host)}}
		steps := wire.Steps{Instructions: []wire.Step{{StepType: wire.StepTypeInstallationDiskSpeedCheck}, {StepType: wire.StepTypeContainerImageAvailability}}}
		out := d.spread(steps, s, at)
		g.Expect(out.Instructions[0].StepType).To(gomega.Equal(wire.StepTypeInstallationDiskSpeedCheck))
		g.Expect(steps.Instructions).To(gomega.HaveLen(2), "what others are told stays as it is")
		return len(out.Instructions) == 2
	}
	count := func(at time.Time) (n int) {
		for host := range 400 {
			if told("large", host, at) {
				n++
			}
		}
		return n
	}
	g.Expect(count(now)).To(gomega.Equal(150))
	g.Expect(count(now.Add(10*time.Second))).To(gomega.Equal(150), "the same hosts ask again")
	g.Expect(told("other", 1, now)).To(gomega.BeTrue())
	g.Expect(count(now.Add(61 * time.Second))).To(gomega.Equal(300))
	g.Expect(count(now.Add(3 * time.Minute))).To(gomega.Equal(400))
	g.Expect(told("large", 1, now.Add(time.Hour))).To(gomega.BeTrue(), "another installation")
	told("third", 1, now.Add(10*time.Hour))
	g.Expect(d.pulls.clusters).To(gomega.HaveLen(1), "what is over is forgotten")
}
