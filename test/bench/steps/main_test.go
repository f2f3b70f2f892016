package main

import (
	"errors"
	"maps"
	"testing"

	. "github.com/onsi/gomega"
)

func TestVerdict(t *testing.T) {
	good := map[string]any{"exit_to_result_p99_s": 0.1, "binary_mib": 8.0, "rss_mib": 12.0, "voluntary_switches_60s": 4.0}
	for name, tc := range map[string]struct {
		failed           int
		figures          map[string]any
		onSystemd, joint error
		want             string
	}{
		"all is well":              {},
		"a case failed":            {failed: 1, onSystemd: errors.New("exit status 1"), want: "1 of 70 cases failed"},
		"the measurements failed":  {onSystemd: errors.New("exit status 1"), want: "on systemd: exit status 1"},
		"with Ironic":              {joint: errors.New("exit status 1"), want: "with Ironic: exit status 1"},
		"too slow":                 {figures: map[string]any{"exit_to_result_p99_s": 0.3}, want: "exit_to_result_p99_s is 0.3, more than 0.2"},
		"a figure was not printed": {figures: map[string]any{"rss_mib": nil}, want: "rss_mib was not measured"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			b := bench{figures: maps.Clone(good), cases: 70, failed: tc.failed}
			maps.Copy(b.figures, tc.figures)
			err := b.verdict(tc.onSystemd, tc.joint)
			if tc.want == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			}
		})
	}
}
