package backoff_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/backoff"
)

func TestDelay(t *testing.T) {
	policy := backoff.Policy{First: time.Second, Factor: 2, Max: 10 * time.Second, Jitter: 0.5, Floor: 800 * time.Millisecond}
	for name, tc := range map[string]struct {
		policy   backoff.Policy
		failures int
		random   float64
		want     time.Duration
	}{
		"first":             {policy, 1, 0.5, time.Second},
		"grows":             {policy, 3, 0.5, 4 * time.Second},
		"capped":            {policy, 30, 0.5, 10 * time.Second},
		"huge count":        {policy, 1 << 30, 0.5, 10 * time.Second},
		"jitter up":         {policy, 2, 0.75, 2500 * time.Millisecond},
		"jitter down":       {policy, 2, 0, time.Second},
		"floor":             {policy, 1, 0, 800 * time.Millisecond},
		"zero is the first": {policy, 0, 0.5, time.Second},
		"constant":          {backoff.Policy{First: time.Minute}, 9, 0.1, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			NewWithT(t).Expect(tc.policy.Delay(tc.failures, tc.random)).To(Equal(tc.want))
		})
	}
}
