package main

import (
	"strings"
	"testing"

	"github.com/ironflow/ironflow/test/upgrade/promise"
)

// TestCommandsAndFlagsStay: scripts and manifests of before call them.
func TestCommandsAndFlagsStay(t *testing.T) {
	promise.Kept(t, "../..", promise.Flags("ironflow"), promise.OfCommand(newCommand()), *update)
}

// TestMetricsStay with their types and labels: dashboards and alerts of before ask for them.
func TestMetricsStay(t *testing.T) {
	var names []string
	for name, m := range registered(t) {
		names = append(names, name+" "+m.kind)
		for _, label := range m.labels {
			names = append(names, strings.Join([]string{name, "by", label}, " "))
		}
	}
	promise.Kept(t, "../..", promise.Metrics, names, *update)
}
