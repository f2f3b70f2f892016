package bmc

import (
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
)

// input is what decides whether a probe is due.
type input struct {
	// Address is that of the host, without credentials.
	Address string
	// Request is the value of the annotation ironflow.io/probe.
	Request string
	// Firmware is a digest of the versions that Ironic knows.
	Firmware string
	// State is the host's phase.
	State metal3.ProvisioningState
	// Rested is when the host came to rest with wishes that can be looked for; zero for
	// nothing to look for.
	Rested time.Time
}

// due says why the BMC is to be probed; empty for no reason.
func due(b *v1alpha1.BMC, in input) string {
	last := b.Status.Probed
	switch {
	case in.State == metal3.StatePreparing && last != nil && b.Status.Report != nil:
		return "" // BMCs answer nonsense while their firmware is changed
	case last == nil, b.Status.Report == nil:
		return "never probed"
	case last.Address != in.Address:
		return "another address"
	case in.Request != "" && last.Request != in.Request:
		return "asked for"
	case last.Firmware != in.Firmware && in.Firmware != "":
		return "other firmware"
	case last.Time.Time.Before(in.Rested):
		return "work was done on the host"
	}
	return ""
}

// again is when a probe that failed is tried next: after one minute, twice as long
// after each further one, at most 16 minutes.
func again(failures int) time.Duration {
	return time.Minute << min(max(failures-1, 0), 4)
}
