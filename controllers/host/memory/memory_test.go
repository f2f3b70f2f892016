package memory

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
)

func TestSilence(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	node := func(uuid string, last time.Time) *ironic.Row {
		return &ironic.Row{UUID: uuid, Agent: ironic.AgentInfo{LastHeartbeat: last}}
	}
	for name, c := range map[string]struct {
		s    Silence
		n    *ironic.Row
		want bool
	}{
		"no report":     {Silence{}, node("a", noon), false},
		"it lasts":      {Silence{"a", noon}, node("a", noon), true},
		"another node":  {Silence{"a", noon}, node("b", noon), false},
		"heard again":   {Silence{"a", noon}, node("a", noon.Add(time.Second)), false},
		"nobody looked": {Silence{"a", noon}, nil, false},
	} {
		t.Run(name, func(t *testing.T) { NewWithT(t).Expect(c.s.Of(c.n)).To(Equal(c.want)) })
	}
}
