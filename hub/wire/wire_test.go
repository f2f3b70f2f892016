package wire_test

import (
	"encoding/json"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
)

func TestEmitRules(t *testing.T) {
	exit := wire.StepsPostStepActionExit
	for name, tc := range map[string]struct {
		value any
		want  string
	}{
		"a successful reply leaves the exit code out": {
			wire.StepReply{StepType: wire.StepTypeInventory, StepID: "inventory-1"},
			`{"step_id":"inventory-1","step_type":"inventory"}`,
		},
		"no instructions print null, zero seconds are left out": {
			wire.Steps{PostStepAction: &exit}, `{"instructions":null,"post_step_action":"exit"}`,
		},
		"unset times print the zero time": {
			wire.HostProgressInfo{}, `{"stage_started_at":"0001-01-01T00:00:00.000Z","stage_updated_at":"0001-01-01T00:00:00.000Z"}`,
		},
		"a registration carries the host's members beside the command": {
			struct {
				wire.HostRegistrationResponseNextStepRunnerCommand
			}{wire.HostRegistrationResponseNextStepRunnerCommand{Args: []string{"{}"}}}, `{"args":["{}"]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			raw, err := json.Marshal(tc.value)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(string(raw)).To(MatchJSON(tc.want))
		})
	}
}

func TestDateTimeReadsWhatHubsSend(t *testing.T) {
	want := time.Date(2026, 3, 1, 12, 0, 0, 5e6, time.UTC)
	for _, text := range []string{`"2026-03-01T12:00:00.005Z"`, `"2026-03-01T14:00:00.005+02:00"`, `"2026-03-01T12:00:00.005000Z"`} {
		t.Run(text, func(t *testing.T) {
			g := NewWithT(t)
			var d wire.DateTime
			g.Expect(json.Unmarshal([]byte(text), &d)).To(Succeed())
			g.Expect(d.Equal(want)).To(BeTrue(), d.String())
		})
	}
	g := NewWithT(t)
	var unset wire.DateTime
	g.Expect(json.Unmarshal([]byte(`null`), &unset)).To(Succeed())
	g.Expect(unset.IsZero()).To(BeTrue())
	g.Expect(json.Unmarshal([]byte(`"yesterday"`), &unset)).NotTo(Succeed())
}
