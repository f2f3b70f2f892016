package assisted

import (
	"errors"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

// TestAlone: another step of the same boot finds what an earlier one has left.
func TestAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		began  bool // by a step of this boot
		active string
		fails  error
		want   string
		did    []string
	}{
		"a host of which nobody wants anything":      {active: "inactive"},
		"an agent that nobody has started by a step": {active: "active", want: "agent.service runs (active/x) and may be installing this host"},
		"an agent whose step was killed":             {began: true, active: "activating", want: "agent.service runs (activating/x)"},
		"an agent that has ended":                    {began: true, active: "failed", did: []string{"removed while the unit is failed"}},
		"a container that stays": {
			began: true, active: "failed", fails: errors.New("podman hangs"), want: "was not removed: podman hangs", did: []string{"removed while the unit is failed"},
		},
		"a container that is no business of this host": {active: "inactive", fails: errors.New("podman hangs")},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			s := newScene(t)
			s.container.fails = tc.fails
			s.units.state(tc.active, "x")
			if tc.began {
				g.Expect(s.host.Write(hostfile.StepFile, hostfile.StepState{BootID: fakeBoot, Step: Name, StartedAt: time.Now()})).To(Succeed())
			}
			err := s.step.Alone(t.Context(), s.host)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			}
			g.Expect(s.container.did).To(Equal(tc.did))
		})
	}
}
