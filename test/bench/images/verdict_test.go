package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestVerdict(t *testing.T) {
	good := func() measured {
		return measured{compared: 9, report: map[string]any{
			"hosts": 1000, "r64k": 30000.0, "r64k_vs_nginx": 0.8, "r512k_vs_nginx": 0.9, "r2k_vs_nginx": 0.5, "stream_vs_nginx": 0.75, "newconn_vs_nginx": 0.6,
			"rss_mib": 40.0, "build_ms": 3.0,
		}}
	}
	for name, tc := range map[string]struct {
		change func(m *measured)
		want   string
	}{
		"all within":                     {func(*measured) {}, ""},
		"without nginx":                  {func(m *measured) { m.report = map[string]any{"r64k": 30000.0, "rss_mib": 30.0, "build_ms": 1.0} }, ""},
		"slower than nginx":              {func(m *measured) { m.report["r64k_vs_nginx"] = 0.799 }, "r64k_vs_nginx is 0.799, less than 0.8"},
		"slower with small ranges":       {func(m *measured) { m.report["r2k_vs_nginx"] = 0.4 }, "r2k_vs_nginx is 0.4, less than 0.5"},
		"slower with new connections":    {func(m *measured) { m.report["newconn_vs_nginx"] = 0.5 }, "newconn_vs_nginx"},
		"too much memory":                {func(m *measured) { m.report["rss_mib"] = 41.0 }, "rss_mib is 41, more than 40"},
		"a build that takes long":        {func(m *measured) { m.report["build_ms"] = 3.1 }, "build_ms"},
		"bytes that were wrong":          {func(m *measured) { m.wrong = 1 }, "bytes were wrong"},
		"requests that were dropped":     {func(m *measured) { m.dropped = 1 }, "dropped"},
		"rounds that compared no answer": {func(m *measured) { m.compared = 0 }, "nothing was compared"},
	} {
		t.Run(name, func(t *testing.T) {
			g, m := NewWithT(t), good()
			tc.change(&m)
			if tc.want == "" {
				g.Expect(verdict(m)).To(Succeed())
				return
			}
			g.Expect(verdict(m)).To(MatchError(ContainSubstring(tc.want)))
		})
	}
}

// Each figure with a limit is one that the bench gives: of a load, or of the server.
func TestLimitsAreOfFigures(t *testing.T) {
	figures := map[string]bool{"rss_mib": true, "build_ms": true}
	for _, b := range (options{seconds: 1}).benches() {
		figures[b.name+"_vs_nginx"] = true
	}
	for _, l := range limits {
		NewWithT(t).Expect(figures).To(HaveKey(l.figure))
	}
}
