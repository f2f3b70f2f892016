//go:build e2e

package demo_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/demo"
)

// TestEveryFaultIsShownAndRecoversByRetry breaks something in one of two hosts.
func TestEveryFaultIsShownAndRecoversByRetry(t *testing.T) {
	for _, fault := range demo.Faults() {
		t.Run(fault, func(t *testing.T) {
			g := NewWithT(t)
			summary, seen := run(t, demo.Options{Hosts: 2, Fault: fault})
			g.Expect(summary.Returned).To(Equal(2))
			g.Expect(seen).To(ContainSubstring("shows: "), "a person reads the reason on the host")
		})
	}
}

// TestKillingIronflowChangesNothingButTheTime kills it at random moments.
func TestKillingIronflowChangesNothingButTheTime(t *testing.T) {
	g := NewWithT(t)
	summary, _ := run(t, demo.Options{Hosts: 3, Kills: 6})
	g.Expect(summary).To(And(HaveField("Provisioned", 3), HaveField("Returned", 3)))
}
