package host

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// TestBackInDiscovery: the hub sees the machine again in the middle of its
// installation. Ironic reboots it once, whatever the hub thinks of the
// installation, so that confirm_install gives the reason.
func TestBackInDiscovery(t *testing.T) {
	for name, c := range map[string]struct {
		// cutOff is when the installation had begun, counted from the report.
		cutOff  time.Duration
		reboots int
		says    string
	}{
		"this deployment's installation": {-30 * time.Second, 1, "the fresh live image to say why the installation was cut off"},
		"an earlier deployment's":        {-time.Hour, 0, "the deploy step to report the failure itself"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				o := assisted(nil)
				o.Delays = delays
				o.Delays.Deploy = time.Hour
				w := newWorld(t, o, Settings{}, wantInstall)
				defer w.stop()
				w.until("installing", time.Minute, func(h *metal3.BareMetalHost) bool {
					return strings.Contains(condition(h, metal3.ProgressingCondition).Message, names.StartAssistedInstall)
				})
				let(time.Minute)
				w.sim.ResetCounts()
				w.report(Progress{
					Stage: "error", CutOff: time.Now().Add(c.cutOff), Failure: "The host restarted unexpectedly", FailedAt: time.Now(),
				})
				let(5 * time.Second)
				counts := w.sim.Counts()
				g.Expect(counts["PUT /v1/nodes/{node}/states/power"]).To(Equal(c.reboots))
				g.Expect(counts["PUT /v1/nodes/{node}/states/provision"]).To(BeZero(), "the step or the next one gives the reason")
				if c.reboots > 0 {
					g.Expect(w.events.list()).To(ContainElement("AgentLost"))
					return
				}
				g.Expect(condition(w.host(), metal3.ProgressingCondition).Message).To(ContainSubstring(c.says))
			})
		})
	}
}

// TestWhoseReason: when the hub has given the installation up and the step had its
// time, the host shows the step's reason if Ironic has one by then.
func TestWhoseReason(t *testing.T) {
	for name, c := range map[string]struct{ history, want string }{
		"the hub's": {"", "start_assisted_install failed: cancelled by the user"},
		"the step's": {
			"Deploy step deploy.start_assisted_install failed on node node-a. installation cancelled: the hub ended the installation",
			"start_assisted_install failed: installation cancelled: the hub ended the installation",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := observed(metal3.StateProvisioning, ironic.StateDeployWait)
			wantInstall(o.Host)
			o.Host.Status.OperationHistory.Provision.Start = metav1.NewTime(noon.Add(-time.Hour))
			o.Node.DeployStep = ironic.Step{Interface: "deploy", Name: names.StartAssistedInstall}
			o.Progress = Progress{Stage: "error", Failure: "cancelled by the user", FailedAt: noon.Add(-waitVerdict)}
			applied := desired(o)
			o.Applied = &applied
			g.Expect(decide(o).Do).To(BeAssignableToTypeOf(ReadFailure{}))
			o.Failure = &c.history
			d := decide(o)
			g.Expect(d.Status.ErrorMessage).To(Equal(c.want))
			g.Expect(d.Do).To(Equal(Transition{ironic.Transition{Target: ironic.TargetDeleted}}))
		})
	}
}
