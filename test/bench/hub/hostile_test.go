//go:build e2e

package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// TestMain lets the test's program be the fleet, too, as the benchmark's program is.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args[1:], "-load") {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestAHostileHostBesideAThousand: a host with a token of its own, in the cluster of 500 others, sends all that it
// can think of, on as many connections as it likes. The others are answered as if it were not there.
func TestAHostileHostBesideAThousand(t *testing.T) {
	if os.Getenv("IRONFLOW_ALONE") == "" {
		t.Skip("answers are timed, so this runs alone: IRONFLOW_ALONE=1, as make test-e2e does at its end")
	}
	g := NewWithT(t)
	g.Expect(measureHostile(t.Context(), options{
		program: filepath.Join(os.Getenv("IRONFLOW_BIN"), "ironflow"), agents: 1000, clusters: 1, database: "sqlite",
		boot: 20 * time.Second, settle: 30 * time.Second, window: time.Minute,
	})).To(Succeed())
}
